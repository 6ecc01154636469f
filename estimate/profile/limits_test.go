package profile

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// TestWithinLimits: with too few rows for histograms, means and standard deviations of columns with
// declared limits are within twice their noise of the table's own in 95 of 100 cases, whatever the
// values are: 600 figures, of which more than 48 would be outside in one of 1,000 runs. A column
// without limits is held out.
func TestWithinLimits(t *testing.T) {
	rng := newRand(t)
	limits := [][2]float64{{0, 120}, {10, 70}, {-1, 1}, {math.Inf(-1), math.Inf(1)}}
	outside, all := 0, 0
	for i := range 100 {
		rel, rows := relations[i%2], [][]float64(nil)
		for range 400 + rng.IntN(200) {
			row := []float64{120 * rng.Float64(), math.Min(70, 10+20*rng.ExpFloat64()), float64(1 - 2*rng.IntN(2)), rng.NormFloat64()}
			switch u := rng.Float64(); {
			case u < .1:
				row[rng.IntN(3)] = math.NaN()
			case u < .25: // no cell at all
				row = slices.Repeat([]float64{math.NaN()}, 4)
			}
			rows = append(rows, row)
		}
		f := estimatetest.Run(t, New(), estimatetest.Case{Rows: rows, Columns: 4, Relation: rel, Mu: .24, Noise: kerneltest.Options{Fresh: true}, Limits: limits})
		for j, c := range f.Profile.Columns[:3] {
			mean, sd := truth(cells(rows, j), limits[j][0], limits[j][1])
			if c.NoMean || c.Quantiles != nil || c.HeldOut != "" || c.Low != limits[j][0] || c.High != limits[j][1] {
				t.Fatalf("column %d: want a mean within %v and no quantiles, got %+v", j, limits[j], c)
			}
			all += 2
			if math.Abs(c.Mean-mean) > 2*c.MeanNoise {
				outside++
			}
			if !c.NoSD && math.Abs(c.SD-sd) > 2*c.SDNoise {
				outside++
			}
			if half := limits[j][1]/2 - limits[j][0]/2; c.MeanNoise > mostLimitNoise*half*1.2 || c.SD > half {
				t.Errorf("column %d: noise %v and sd %v, half its width is %v", j, c.MeanNoise, c.SD, half)
			}
		}
		if f.Profile.Columns[3].HeldOut == "" {
			t.Error("a column without limits is not held out")
		}
	}
	t.Logf("outside of twice the noise: %d of %d", outside, all)
	if outside > 48 {
		t.Errorf("%d of %d figures are outside of twice their noise", outside, all)
	}
}

// TestLimitsExtreme: rows at and beyond the limits, infinite ones and limits that are as wide as
// float64 end in finite figures or are held out.
func TestLimitsExtreme(t *testing.T) {
	for _, limits := range [][2]float64{{0, 0}, {0, 5e-324}, {0, 1e-320}, {-math.MaxFloat64, math.MaxFloat64}, {1e300, 1e300 * (1 + 1e-15)}, {0, 1e-300}, {-1e307, 1e307}} {
		rows := slices.Repeat([][]float64{{limits[0]}, {limits[1]}, {math.MaxFloat64}, {-math.MaxFloat64}, {math.NaN()}}, 80)
		f := estimatetest.Run(t, New(), estimatetest.Case{Rows: rows, Columns: 1, Relation: privacy.ReplaceOne, Mu: .24, Noise: kerneltest.Options{Fresh: true}, Limits: [][2]float64{limits}})
		c := f.Profile.Columns[0]
		for _, x := range []float64{c.Mean, c.MeanNoise, c.SD, c.SDNoise} {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				t.Errorf("limits %v: %+v", limits, c)
			}
		}
	}
}

// TestRefusedWithLimits: declared limits lower the number of rows from which on a profile is
// measured, and the refusal says that they would.
func TestRefusedWithLimits(t *testing.T) {
	p := estimate.Problem{Columns: 2, Rows: 500, Relation: privacy.ReplaceOne, Mu: .237}
	var refusal *estimate.Refusal
	if err := Refused(p); !errors.As(err, &refusal) || !strings.Contains(refusal.Advice, "at_least and at_most") {
		t.Errorf("want a refusal that names limits, got %v", err)
	}
	p.Limits = [][2]float64{{0, 1}, {0, 1}}
	if err := Refused(p); err != nil {
		t.Errorf("with limits: %v", err)
	}
	if need := New().Expect(p).RowsNeeded; need < 100 || need > 300 {
		t.Errorf("with limits %v rows are needed", need)
	}
	p.Rows = 50
	if err := Refused(p); !errors.As(err, &refusal) || strings.Contains(refusal.Advice, "at_least") {
		t.Errorf("with 50 rows: %v", err)
	}
}
