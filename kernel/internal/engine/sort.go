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

// SortFloats sorts values, none of them NaN. Many values are sorted by digits of 11 bits, the last
// digit first.
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

// digit returns digit d of v's bits, in the numbers' order: the bits of negative numbers are
// inverted.
func digit(v float64, d int) uint64 {
	key := math.Float64bits(v)
	key ^= uint64(int64(key)>>63) | 1<<63
	return key >> (digitBits * d) & (1<<digitBits - 1)
}
