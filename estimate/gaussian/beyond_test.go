package gaussian

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/dense"
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

// TestFarAwayIsMeasured: one row in 16 in another unit, 5,000 sds away: where a flag says that mean
// and sd are of all rows the sd is within a factor of two. It was up to 116 times too large: noise
// of bins beyond these rows counted, at 64 times the distance squared of the bin before.
func TestFarAwayIsMeasured(t *testing.T) {
	rng := newRand(t)
	const n = 3000
	said := 0
	for range 12 {
		rows, m, v := make([][]float64, n), 0.0, 0.0
		at := 4000 + 4000*rng.Float64()
		for i := range rows {
			x := rng.NormFloat64()
			if i%16 == 0 {
				x = at * (1 + x/6)
			}
			rows[i] = []float64{x}
			m, v = m+x/n, v+x*x/n
		}
		out := estimatetest.RunChecked(t, New(), estimatetest.Case{Rows: rows, Columns: 1, Mu: privacy.MuOf(3, 1e-6), Components: 1,
			Relation: privacy.ReplaceOne, Noise: kerneltest.Options{Seed: rng.Uint64()}})
		if out.Model == nil {
			t.Fatalf("%+v", out.Outcome)
		}
		ratio := math.Sqrt(out.Model.Components[0].Cov.At(0, 0) / (v - m*m))
		for _, f := range out.Diagnostics.Flags {
			if f.Code == flags.OutlierGroup && strings.Contains(f.String(), "of all rows") {
				if said++; ratio > 2 || ratio < .5 {
					t.Errorf("rows around %.0f: sd x%.2f; %v", at, ratio, f)
				}
			}
		}
	}
	t.Logf("%d of 12 fits have the flag", said)
}

// TestFarTextsSayWhatMomentsAre: a flag of far rows says that mean and sd are of all rows only
// where these have been measured: not of rows so far out that the noise hides how far, nor where
// rows with a code in one column are ten times as far as those with one in another.
func TestFarTextsSayWhatMomentsAre(t *testing.T) {
	rng := newRand(t)
	for _, c := range []struct {
		codes [2]float64
		d     int
		wrong string
	}{{[2]float64{60, 60}, 1, "several times too large"}, {[2]float64{80, 8}, 2, "are of all rows"}} {
		said := 0
		for range 4 {
			rows := make([][]float64, 4000)
			for i := range rows {
				for range c.d {
					rows[i] = append(rows[i], rng.NormFloat64())
				}
				if i%20 < 2 { // a tenth of the rows
					rows[i][i%20%c.d] = c.codes[i%20]
				}
			}
			for _, f := range (setting{d: c.d, n: len(rows), rel: privacy.ReplaceOne}).fit(t, rows).Diagnostics.Flags {
				if f.Code == flags.OutlierGroup {
					if said++; strings.Contains(f.String(), c.wrong) {
						t.Errorf("codes %v: %v", c.codes, f)
					}
				}
			}
		}
		t.Logf("codes %v: %d flags", c.codes, said)
	}
	for _, c := range []struct {
		how  farAway
		ways int
		want string
	}{{farAway{seen: true}, 1, "are of all rows"}, {farAway{seen: true}, 2, "several times too large"}, {farAway{}, 1, "as near as possible"}} {
		if got := c.how.said(c.ways); !strings.Contains(got, c.want) {
			t.Errorf("%+v: %q, want %q", c.how, got, c.want)
		}
	}
}

// TestFarthestRowsHaveNoise: rows whose squares add up to more than float64 holds, while their mean
// does not, end in a release whose noise is a number.
func TestFarthestRowsHaveNoise(t *testing.T) {
	rng := newRand(t)
	rows := make([][]float64, 4000)
	for i := range rows {
		if rows[i] = []float64{rng.NormFloat64()}; i%20 == 0 {
			rows[i][0] = 2e153 * (1 + .1*rng.NormFloat64())
		}
	}
	for range 4 {
		out := estimatetest.RunChecked(t, New(), estimatetest.Case{Rows: rows, Columns: 1, Mu: privacy.MuOf(3, 1e-6), Components: 1,
			Relation: privacy.ReplaceOne, Noise: kerneltest.Options{Seed: rng.Uint64()}})
		if out.Model != nil && !dense.Finite(out.Diagnostics.Components[0].EffectiveNoise) {
			t.Errorf("%+v", out.Diagnostics.Components[0])
		}
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
