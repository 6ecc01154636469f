package stagezero

import "math"

// bisection searches one integer per column at once: the smallest v at which the signed count #{<=
// v} - #{> v} is not negative.
//
// Invariant: lo <= hi; the answer, as far as the noisy comparisons were right, is in [lo, hi].
type bisection struct{ lo, hi []int64 }

func newBisection(d int, lo, hi int64) *bisection {
	b := &bisection{lo: make([]int64, d), hi: make([]int64, d)}
	for j := range d {
		b.lo[j], b.hi[j] = lo, hi
	}
	return b
}

// middle is floor((lo+hi)/2) without overflow.
func (b *bisection) middle(j int) int64 {
	lo, hi := b.lo[j], b.hi[j]
	return lo&hi + (lo^hi)>>1
}

func (b *bisection) done() bool {
	for j := range b.lo {
		if b.lo[j] < b.hi[j] {
			return false
		}
	}
	return true
}

// thresholds are the numbers to compare with next, NaN for a column that is finished.
func (b *bisection) thresholds(number func(int64) float64) []float64 {
	t := make([]float64, len(b.lo))
	for j := range t {
		t[j] = math.NaN()
		if b.lo[j] < b.hi[j] {
			t[j] = number(b.middle(j))
		}
	}
	return t
}

// narrow halves the intervals by the signed counts at thresholds.
func (b *bisection) narrow(signed []float64) {
	for j, count := range signed {
		switch {
		case b.lo[j] == b.hi[j]:
		case count >= 0:
			b.hi[j] = b.middle(j)
		default:
			b.lo[j] = b.middle(j) + 1
		}
	}
}

// ordinal is the place of a finite number in the order of all float64 numbers, 0 for 0.
func ordinal(x float64) int64 {
	if x < 0 {
		return -int64(math.Float64bits(-x))
	}
	return int64(math.Float64bits(x) &^ (1 << 63))
}

// fromOrdinal is the inverse of ordinal.
func fromOrdinal(o int64) float64 {
	if o < 0 {
		return -math.Float64frombits(uint64(-o))
	}
	return math.Float64frombits(uint64(o))
}
