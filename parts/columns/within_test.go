package columns

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// TestFindCenters: medians near and far, of both signs, are found to within a scale or so, at no
// more than what Run asks. Near ones take a handful of questions. A comparison errs far from the
// median with probability Q(9): the price of a column is that of the early ones.
func TestFindCenters(t *testing.T) {
	for _, offset := range []float64{0, .3, 10, 1e3, 1e6, 1e12} {
		for _, rel := range relations {
			sd := []float64{1, 1e-40, 1e60}
			mean := []float64{offset, -offset * sd[1], offset * sd[2]}
			n, good, runs, most := 4000, 0, 10, 0
			if rel == privacy.AddRemoveOne {
				n = 8000
			}
			for range runs {
				u, asked := spread(t, gaussianRows(n, mean, sd), rel, 1, true)
				most = max(most, asked)
				off := 0.0
				for j := range sd {
					off = math.Max(off, math.Abs(u.Center[j]-mean[j])/sd[j])
				}
				// Beside the scale: float64 holds an offset of 1e12 to 1e-4, and the rank noise of
				// a ninth of the rows is .3 sds.
				if off <= 2.5 {
					good++
				} else {
					t.Logf("offset %v, %v: %v sds off", offset, rel, off)
				}
			}
			t.Logf("offset %v, %v: %d of %d, at most %d questions", offset, rel, good, runs, most)
			stattest.GoodAtLeast(t, good, runs, .9, 1e-8)
			if offset <= 10 && most > 24 {
				t.Errorf("offset %v, %v: %d questions", offset, rel, most)
			}
		}
	}
}

// TestFindCentersOnePart: with too little to spend for all questions the centre stays where it is
// known to be, and nothing is overspent (spread checks that).
func TestFindCentersOnePart(t *testing.T) {
	u, asked := spread(t, gaussianRows(60, []float64{1e9, -5}, []float64{1, 1}), privacy.ReplaceOne, .1, true)
	for j, c := range u.Center {
		if math.IsNaN(c) || math.IsInf(c, 0) {
			t.Errorf("column %d: centre %v after %d questions", j, c, asked)
		}
	}
}

// search runs an interval for a median with comparisons that are always right, or by coin where
// coin is set.
func search(t *testing.T, unit, median float64, coin *rand.Rand) (center float64, asked int) {
	t.Helper()
	i := interval{low: -math.MaxFloat64, high: math.MaxFloat64, unit: unit}
	for ; ; asked++ {
		at := i.next()
		if math.IsNaN(at) {
			if !i.done {
				t.Fatalf("unit %v, median %v: no place to compare with, and not done: %+v", unit, median, i)
			}
			break
		}
		if math.IsInf(at, 0) || at < i.low || at >= i.high && i.high != math.MaxFloat64 {
			t.Fatalf("unit %v, median %v: compares with %v in (%v, %v]", unit, median, at, i.low, i.high)
		}
		if asked > 3000 {
			t.Fatalf("unit %v, median %v: no end: %+v", unit, median, i)
		}
		signed := -1.0
		if median <= at {
			signed = 1
		}
		if coin != nil && coin.IntN(2) == 0 {
			signed = -signed
		}
		i.narrow(at, signed)
		if !(i.low <= i.high) {
			t.Fatalf("unit %v, median %v: empty: %+v", unit, median, i)
		}
	}
	return i.middle(), asked
}

// TestInterval: with right answers, the median is found to within the unit (or float64's precision)
// in at most 64 questions, wherever it is; with answers by coin the search ends all the same.
func TestInterval(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	units := []float64{5e-324, 1e-300, 1e-20, 1, 3, 1e20, 1e300, 0x1p1023}
	medians := []float64{0, 5e-324, 1e-100, .1, 1, 7, 100, 1e6, 1e12, 1e100, 1e308, math.MaxFloat64}
	for _, unit := range units {
		for _, size := range medians {
			for _, median := range []float64{size, -size} {
				got, asked := search(t, unit, median, nil)
				if off := math.Abs(got/2 - median/2); !(off <= math.Max(unit, math.Abs(median)*1e-15)/2) {
					t.Errorf("unit %v, median %v: found %v", unit, median, got)
				}
				if asked > centerQueries && math.Abs(median) < 1e12*unit {
					t.Errorf("unit %v, median %v: %d questions", unit, median, asked)
				}
				if got, _ := search(t, unit, median, rng); math.IsNaN(got) || math.IsInf(got, 0) {
					t.Errorf("unit %v, median %v, by coin: %v", unit, median, got)
				}
			}
		}
	}
	if got, asked := search(t, 1, .3, nil); asked > 6 {
		t.Errorf("a median of .3 units took %d questions to %v", asked, got)
	}
}
