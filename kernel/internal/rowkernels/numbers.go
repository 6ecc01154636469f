package rowkernels

import "math"

// Null reports whether the row is null: by the table's invariant its first value decides.
func Null(row []float64) bool { return row[0] != row[0] }

// Finite reports whether v is neither NaN nor infinite.
func Finite(v float64) bool { return v-v == 0 }

// Nearest rounds to an integer, ties to even. Beyond 2^51 the result need not be an integer, nor
// finite, but it is as large, and every check compares with something far smaller.
func Nearest(v float64) float64 {
	const magic = 3 << 51
	return (v + magic) - magic
}

// LeastExponent: exp(LeastExponent) and anything smaller counts as zero in a sum of posterior
// weights whose largest is 1.
const LeastExponent = -25

// ExpNegative returns e^x for LeastExponent <= x <= 0, to 1e-12, by the same operations on every
// machine (math.Exp is assembly on some): 2^k times the Taylor series of the rest, |rest| <= ln2/2.
func ExpNegative(x float64) float64 {
	k := Nearest(float64(x * (1 / math.Ln2)))
	y := x - float64(k*math.Ln2)
	s := 1.0
	for _, c := range [...]float64{1. / 11, 1. / 10, 1. / 9, 1. / 8, 1. / 7, 1. / 6, 1. / 5, 1. / 4, 1. / 3, 1. / 2, 1} {
		s = 1 + float64(float64(y*c)*s)
	}
	return s * math.Float64frombits(uint64(1023+int64(k))<<52)
}

// Headroom returns q, the largest norm before rounding such that m rounded entries have norm at
// most 2^bits: by the triangle inequality rounding adds at most sqrt(m)/2 (to nearest) or sqrt(m)
// (directed); four more units cover floating point and the guard of directed rounding.
func Headroom(bits, m int, directed bool) float64 {
	slack := math.Sqrt(float64(m))
	if !directed {
		slack /= 2
	}
	return math.Ldexp(1, bits) - math.Ceil(slack) - 4
}
