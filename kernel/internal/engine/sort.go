package engine

import (
	"math"
	"slices"
)

const (
	digitBits = 11
	digits    = 6 // 66 bits
	fewValues = 1 << 12
)

// SortFloats sorts values, none of them NaN: by digits of 11 bits, the last first, if they are
// many.
func SortFloats(values []float64) {
	if len(values) < fewValues {
		slices.Sort(values)
		return
	}
	from, to := values, make([]float64, len(values))
	var counts [digits][1 << digitBits]int
	for _, v := range values {
		for d := range counts {
			counts[d][digit(v, d)]++
		}
	}
	for d := range counts {
		slots := &counts[d]
		if slots[digit(from[0], d)] == len(from) { // all have the same digit
			continue
		}
		at := 0
		for i, n := range slots {
			slots[i], at = at, at+n
		}
		for _, v := range from {
			slot := &slots[digit(v, d)]
			to[*slot] = v
			*slot++
		}
		from, to = to, from
	}
	copy(values, from)
}

// digit is one of those of v's bits, in the order of the numbers once those of negative ones are
// turned round.
func digit(v float64, d int) uint64 {
	key := math.Float64bits(v)
	key ^= uint64(int64(key)>>63) | 1<<63
	return key >> (digitBits * d) & (1<<digitBits - 1)
}
