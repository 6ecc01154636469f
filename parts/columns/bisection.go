package columns

import (
	"math"
	"slices"
)

// bisection searches one integer per column at once: the smallest v at which the signed count #{<=
// v} - #{> v} is not negative.
//
// Invariant: lo <= hi; the answer, as far as the noisy comparisons were right, is in [lo, hi].
type bisection struct{ lo, hi []int64 }

// atZero is the place of -2^-511 in the order of all float64 numbers: beyond it, up to 0, is 0.
const atZero = -1 << 61

// newBisection searches between lo and hi for the columns of which search holds; the others have
// found known.
func newBisection(search []bool, lo, hi, known int64) *bisection {
	b := &bisection{slices.Repeat([]int64{lo}, len(search)), slices.Repeat([]int64{hi}, len(search))}
	for j, s := range search {
		if !s {
			b.lo[j], b.hi[j] = known, known
		}
	}
	return b
}

// run halves the intervals, a bounded number of times, until all are found; ask returns the signed
// counts at the edges, which are the numbers of the middles, the i-th time.
func (b *bisection) run(most int, number func(int64) float64, ask func(i int, edges []float64) ([]float64, error)) error {
	for i := 0; i < most && !slices.Equal(b.lo, b.hi); i++ {
		signed, err := ask(i, b.thresholds(number))
		if err != nil {
			return err
		}
		b.narrow(signed)
	}
	return nil
}

// middle returns floor((lo+hi)/2) without overflow. Of the numbers up to 0 it is first what tells
// those at 0: an error between the row values -1 and 0, say, would end where no row is, as near 0
// as can be.
func (b *bisection) middle(j int) int64 {
	lo, hi := b.lo[j], b.hi[j]
	if lo == -math.MaxInt64 && (hi == 0 || hi == atZero) {
		return min(2*hi, atZero)
	}
	return lo&hi + (lo^hi)>>1
}

// thresholds returns the numbers to compare with next, NaN for a column that is finished.
func (b *bisection) thresholds(number func(int64) float64) []float64 {
	t := slices.Repeat([]float64{math.NaN()}, len(b.lo))
	for j := range t {
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

// fromOrdinal returns the finite number at a place in the order of all float64 numbers, 0 at 0;
// before the first and beyond the last these.
func fromOrdinal(o int64) float64 {
	size := min(max(o, -o), int64(math.Float64bits(math.MaxFloat64)))
	return math.Copysign(math.Float64frombits(uint64(size)), float64(o))
}
