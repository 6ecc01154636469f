package gaussian

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model/flags"
)

// TestFewFarRows: 200 of 20,000 rows with a code far off, fewer than the columns' histograms show,
// are told of by a flag that names the column, unless its variance has them; and of a Gaussian's
// rows it is said how many could be unseen. The count's noise is 19 rows, that of a column 27: a
// false alarm is 7 sds of it.
func TestFewFarRows(t *testing.T) {
	rng := newRand(t)
	for _, d := range []int{1, 4} {
		rows := make([][]float64, 20000)
		for i := range rows {
			for range d {
				rows[i] = append(rows[i], rng.NormFloat64())
			}
		}
		for _, e := range []estimate.Estimator{New(), NewHeavyTailed()} {
			for _, coded := range []int{0, 200} {
				for i := range coded {
					rows[i][0] = 9999
				}
				f := estimatetest.RunChecked(t, e, estimatetest.Case{Rows: rows, Columns: d, Mu: privacy.MuOf(1, 1e-6), Components: 1,
					Relation: privacy.AddRemoveOne, Noise: kerneltest.Options{Seed: rng.Uint64()}})
				switch {
				case f.Model == nil || f.Diagnostics.Undescribed == nil:
					t.Errorf("%s, d = %d, %d coded: %+v", e.Name(), d, coded, f.Outcome)
				case coded == 0 && len(f.Diagnostics.Flags) == 0 && !strings.Contains(f.Diagnostics.Undescribed.Where, "unseen"):
					t.Errorf("%s, d = %d: %+v", e.Name(), d, f.Diagnostics.Undescribed)
				case coded > 0 && f.Model.Components[0].Cov.At(0, 0) > .5*.0099*9999*9999: // seen after all, in one of 20 fits
				case coded > 0 && !slices.ContainsFunc(f.Diagnostics.Flags, func(f flags.Flag[int]) bool { return slices.Contains(f.Columns, 0) }):
					t.Errorf("%s, d = %d: %d rows at 9999, and no flag names the column: %v", e.Name(), d, coded, f.Diagnostics.Flags)
				}
			}
			for i := range rows {
				rows[i][0] = rng.NormFloat64()
			}
		}
	}
}

// TestSeenRowsAreInSD: rows at 19 sds, .7 % of all, that the column's histogram shows are in its
// mean and sd, which they make 1.8 times as large; they were clipped unsaid where the others are
// round.
func TestSeenRowsAreInSD(t *testing.T) {
	rng := newRand(t)
	const n = 20000
	rows, m, v := make([][]float64, n), 0.0, 0.0
	for i := range rows {
		x := rng.NormFloat64()
		if i%140 == 0 {
			x = -19
		}
		rows[i] = []float64{x}
		m += x / n
		v += x * x / n
	}
	for _, e := range []estimate.Estimator{New(), NewHeavyTailed()} {
		for range 4 {
			f := estimatetest.RunChecked(t, e, estimatetest.Case{Rows: rows, Columns: 1, Mu: privacy.MuOf(10, 1e-6), Components: 1,
				Relation: privacy.ReplaceOne, Noise: kerneltest.Options{Seed: rng.Uint64()}})
			if f.Model == nil {
				t.Fatalf("%s: %+v", e.Name(), f.Outcome)
			}
			g := f.Model.Components[0]
			if off, ratio := g.Mean[0]-m, math.Sqrt(g.Cov.At(0, 0)/(v-m*m)); math.Abs(off) > .2 || math.Abs(ratio-1) > .2 {
				t.Errorf("%s: mean off by %g, sd x%g; %v", e.Name(), off, ratio, f.Diagnostics.Flags)
			}
		}
	}
}

// TestFarShareHasNoise: the share of the rows that a flag names as far comes with its noise, and is
// within it of the truth. A false alarm is five sds.
func TestFarShareHasNoise(t *testing.T) {
	rng, found := newRand(t), 0
	for range 5 {
		rows := make([][]float64, 20000)
		for i := range rows {
			rows[i] = []float64{rng.NormFloat64(), rng.NormFloat64()}
			if i%20 == 0 {
				rows[i][1] += 15
			}
		}
		out := setting{d: 2, n: len(rows), rel: privacy.ReplaceOne}.fit(t, rows)
		for _, f := range out.Diagnostics.Flags {
			if f.Code == flags.OutlierGroup {
				if found++; !(f.Noise > 0) || math.Abs(f.Share-.05) > 5*f.Noise {
					t.Errorf("a share of %g, noise %g", f.Share, f.Noise)
				}
			}
		}
	}
	if found < 4 {
		t.Errorf("%d of 5 fits have the flag", found)
	}
}

// TestOwnStrayRows: where there is no noise, no more than one fit in 500 of a Gaussian's rows has
// more of them beyond its reach than are taken to be its own.
func TestOwnStrayRows(t *testing.T) {
	most, more, p := strayRows+straySDs*math.Sqrt(strayRows), 1.0, math.Exp(-strayRows)
	for k := 0.0; k <= most; k++ {
		more -= p
		p *= strayRows / (k + 1)
	}
	if more > .002 {
		t.Errorf("%v of the fits have more than %v", more, most)
	}
}
