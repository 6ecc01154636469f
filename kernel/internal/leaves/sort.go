package leaves

import (
	"math"
	"slices"
)

const (
	digitBits = 11
	digits    = 6 // 66 bits
	fewValues = 1 << 12
)

// Sort sorts values, none of them NaN: by digits of 11 bits, the last first, if they are many.
func Sort(values []float64) {
	if len(values) < fewValues {
		slices.Sort(values)
		return
	}
	keys, other := make([]uint64, len(values)), make([]uint64, len(values))
	var counts [digits][1 << digitBits]int
	for i, v := range values {
		// in the order of the numbers once those of negative ones are turned round
		key := math.Float64bits(v)
		key ^= uint64(int64(key)>>63) | 1<<63
		keys[i] = key
		for d := range counts {
			counts[d][key>>(digitBits*d)&(1<<digitBits-1)]++
		}
	}
	for d := range counts {
		from := &counts[d]
		if from[keys[0]>>(digitBits*d)&(1<<digitBits-1)] == len(keys) { // all have the same digit
			continue
		}
		at := 0
		for i, n := range from {
			from[i], at = at, at+n
		}
		for _, key := range keys {
			slot := &from[key>>(digitBits*d)&(1<<digitBits-1)]
			other[*slot] = key
			*slot++
		}
		keys, other = other, keys
	}
	for i, key := range keys {
		values[i] = math.Float64frombits(key ^ (uint64(int64(^key)>>63) | 1<<63))
	}
}
