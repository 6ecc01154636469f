package gaussian

import (
	"math"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model/flags"
)

// TestFewFarRows: 200 of 20,000 rows with a code far off, fewer than the columns' histograms show,
// are in the moments or told of; and of a Gaussian's rows it is said how many could be unseen. The
// count's noise is 19 rows: a false alarm is 7 sds of it.
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
				case coded > 0 && len(f.Diagnostics.Flags) == 0:
					t.Errorf("%s, d = %d: %d rows at 9999, and no flag", e.Name(), d, coded)
				}
			}
			for i := range rows {
				rows[i][0] = rng.NormFloat64()
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
