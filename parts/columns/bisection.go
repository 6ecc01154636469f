package columns

import (
	"math"
	"slices"
)

// bisection searches one integer per column at once: the smallest v at which the signed count #{<=
// v} - #{> v} is not negative.
//
// Invariant: lo <= hi; the answer, as far as the noisy comparisons were right, is in [lo, hi].
type bisection struct {
	lo, hi []int64
	// By column: the bounds before the last comparison that moved them; how many of the last
	// comparisons moved the upper bound, or, negative, the lower one; and what it is compared with
	// next in place of the middle.
	oldLo, oldHi []int64
	alike        []int
	edge         map[int]int64
}

// atZero is the place of -2^-511 in the order of all float64 numbers: beyond it, up to 0, is 0.
const atZero = -1 << 61

// newBisection searches between lo and hi for the columns of which search holds; the others have
// found known.
func newBisection(search []bool, lo, hi, known int64) *bisection {
	d := len(search)
	b := &bisection{lo: slices.Repeat([]int64{lo}, d), hi: slices.Repeat([]int64{hi}, d), alike: make([]int, d), edge: map[int]int64{}}
	b.oldLo, b.oldHi = slices.Clone(b.lo), slices.Clone(b.hi)
	for j, s := range search {
		if !s {
			b.lo[j], b.hi[j] = known, known
		}
	}
	return b
}

// run halves the intervals, a bounded number of times, until all are found; ask returns the signed
// counts at the edges, which are the numbers of the middles, the i-th time. It returns how often it
// has asked.
func (b *bisection) run(most int, number func(int64) float64, ask func(i int, edges []float64) ([]float64, error)) (asked int, err error) {
	for ; asked < most && !slices.Equal(b.lo, b.hi); asked++ {
		signed, err := ask(asked, b.thresholds(number))
		if err != nil {
			return asked, err
		}
		b.narrow(signed)
	}
	return asked, nil
}

// runAgain does what run does, and then makes comparisons that are in doubt again, with as many
// more at most as again says when that is done.
func (b *bisection) runAgain(most int, again func() int, doubtful int, number func(int64) float64, ask func(i int, edges []float64) ([]float64, error)) error {
	_, err := b.run(most, number, ask)
	for left := again(); err == nil && left > 0 && b.doubt(doubtful); {
		asked := 0
		asked, err = b.run(left, number, ask)
		left -= asked
	}
	return err
}

// doubt reports whether there are columns whose last comparisons, as many as run or more, all led
// back to the edge of one before them, and opens their search again with that comparison: if it was
// wrong, all after it pointed to its edge.
func (b *bisection) doubt(run int) bool {
	for j, found := range b.lo {
		switch {
		case b.alike[j] <= -run && b.oldHi[j] > found:
			b.hi[j], b.edge[j] = b.oldHi[j], found
		case b.alike[j] >= run && b.oldLo[j] < found:
			b.lo[j], b.edge[j] = b.oldLo[j], found-1
		default:
			continue
		}
		b.alike[j] = 0
	}
	return len(b.edge) > 0
}

// middle returns floor((lo+hi)/2) without overflow. Of the numbers up to 0 it is first what tells
// those at 0: an error between the row values -1 and 0, say, would end where no row is, as near 0
// as can be.
func (b *bisection) middle(j int) int64 {
	lo, hi := b.lo[j], b.hi[j]
	if edge, ok := b.edge[j]; ok {
		return edge
	}
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
			b.oldHi[j], b.hi[j], b.alike[j] = b.hi[j], b.middle(j), max(b.alike[j], 0)+1
		default:
			b.oldLo[j], b.lo[j], b.alike[j] = b.lo[j], b.middle(j)+1, min(b.alike[j], 0)-1
		}
	}
	clear(b.edge)
}

// fromOrdinal returns the finite number at a place in the order of all float64 numbers, 0 at 0;
// before the first and beyond the last these.
func fromOrdinal(o int64) float64 {
	size := min(max(o, -o), int64(math.Float64bits(math.MaxFloat64)))
	return math.Copysign(math.Float64frombits(uint64(size)), float64(o))
}
