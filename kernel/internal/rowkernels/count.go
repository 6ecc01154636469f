package rowkernels

import (
	"math"
	"math/bits"
)

// Place returns the rank of x among all numbers, zeros alike, so that values up to a power of two,
// and distances below one, end a bin: medians and scales are compared with these.
func Place(x float64, distance bool) uint64 {
	b := int64(math.Float64bits(x))
	sign := b >> 63
	if b = (b&math.MaxInt64 ^ sign) - sign; !distance {
		b--
	}
	return uint64(b) ^ 1<<63
}

// Tally counts every row whose x is a number at its place.
func Tally(counts []int64, at *[Rows]int, x *Column) {
	for r, v := range x {
		if v == v {
			counts[at[r]]++
		}
	}
}

// binsGo: at_r = the number of edges, which increase, that x_r is not below; 0 for NaN. No branch
// depends on x.
func binsGo(at *[Rows]int, edges []float64, x *Column) {
	*at = [Rows]int{}
	for n := len(edges); n > 0; n /= 2 {
		half := (n + 1) / 2
		for r, v := range x {
			low := at[r]
			next := low + half
			if !(v >= edges[next-1]) {
				next = low
			}
			at[r] = next
		}
	}
}

// placesGo: at_r is 0 for zero, 1 before the bin of 2^shift places with number from, 2 in that bin,
// and so on for the given number of bins and for what comes after them. The sign of distances does
// not count. No branch depends on x.
func placesGo(at *[Rows]int, x *Column, from uint64, shift, bins int, distance bool) {
	for r, v := range x {
		if distance {
			v = math.Abs(v)
		}
		bin, before := bits.Sub64(Place(v, distance)>>shift, from, 0)
		if at[r] = int((min(bin, uint64(bins))+1)*(1-before)) + 1; v == 0 {
			at[r] = 0
		}
	}
}
