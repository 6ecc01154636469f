package kv18

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// bounds are a mean within r, and a variance within low and high.
func bounds(r, low, high float64) estimate.Facts {
	return estimate.Facts{KnowsMean: true, MeanWithin: r, Eigenvalues: [2]float64{low, high}}
}

// Known bounds: no threshold, so that a zCDP budget is enough; fewer rows are needed to see the
// bins; and the estimate is as good wherever in the bounds mean and variance lie. The root mean
// square of ten relative errors is below 2 times the expected one with probability 1-1e-4 (rows and
// noise have seeds).
//
// Shows: [KV18] Section 2.
func TestKnownBounds(t *testing.T) {
	for _, rel := range relations {
		for _, c := range []struct{ mean, sd float64 }{{0, 1}, {99, 1}, {-99, 10}, {50, 3.3}, {.4, 1.9}} {
			const n = 1500
			sum := 0.0
			for i := range uint64(10) {
				f := estimatetest.RunChecked(t, New(Practical()), estimatetest.Case{Rows: column(i, n, c.mean, c.sd), Columns: 1, Relation: rel,
					Mu: .25, Components: 1, Facts: bounds(100, 1, 100), Noise: kerneltest.Options{Seed: i}})
				if f.Model == nil {
					t.Fatalf("%v %+v: %+v %+v", rel, c, f.Refused, f.NoRelease)
				}
				sum += math.Pow(f.Model.Components[0].Cov.At(0, 0)/c.sd/c.sd-1, 2) / 10
			}
			p := estimate.Problem{Columns: 1, Relation: rel, Mu: .25, Facts: bounds(100, 1, 100)}
			want := Practical().relativeError(p, n) * math.Sqrt(2./n)
			if got := math.Sqrt(sum); got > 2*want {
				t.Errorf("%v %+v: error %.3f, expected %.3f", rel, c, got, want)
			}
			if few, many := Practical().rowsSeen(p), Practical().rowsSeen(estimate.Problem{Columns: 1, Relation: rel, Mu: .25}); few > .85*many {
				t.Errorf("%v: %v rows within bounds, %v without", rel, few, many)
			}
		}
	}
}

// Without bounds a zCDP budget is refused, with advice; with a bound on the mean that leaves too
// many places too. Bounds that the rows contradict end in a reason or in an estimate, within the
// budget, and the plan is followed on a neighbour.
func TestBoundsDoNotHold(t *testing.T) {
	e := New(Practical())
	for _, facts := range []estimate.Facts{{}, bounds(1e9, 1, 2)} {
		f := estimatetest.Run(t, e, estimatetest.Case{Rows: column(1, 5000, 0, 1), Columns: 1, Mu: 1, Facts: facts})
		if f.Refused == nil || !strings.Contains(f.Refused.Advice, "--mean-within") {
			t.Errorf("%v: %+v", facts, f)
		}
	}
	rng := rand.New(rand.NewPCG(3, 3))
	for _, rel := range relations {
		for _, facts := range []estimate.Facts{bounds(1, 1, 2), bounds(5, 1e-6, 1e-4), bounds(1e-3, 1e6, 1e9), bounds(0, 1e300, 1e301), bounds(0, 1e-308, 1e308)} {
			f := estimatetest.RunChecked(t, e, estimatetest.Case{Rows: column(1, 5000, 300, 3), Columns: 1, Relation: rel, Mu: 1, Components: 1, Facts: facts})
			if f.Session == nil {
				t.Errorf("%v: refused: %v", facts, f.Refused)
			}
		}
		for _, table := range estimatetest.Hard() {
			estimatetest.RunChecked(t, e, estimatetest.Case{Rows: table.Rows(rng, 2000, 1), Columns: 1, Relation: rel, Mu: 2, Components: 1, Facts: bounds(10, .01, 100),
				Noise: kerneltest.Options{Seed: rng.Uint64()}})
		}
		var own, again kerneltest.Transcript
		c := estimatetest.Case{Rows: column(1, 3000, 5, 1), Columns: 1, Relation: rel, Mu: 1, Components: 1, Facts: bounds(10, .1, 10), Noise: kerneltest.Options{Record: &own}}
		f := estimatetest.RunChecked(t, e, c)
		other := append([][]float64{{1e308}}, c.Rows[1:]...)
		if rel == privacy.AddRemoveOne {
			other = c.Rows[1:]
		}
		c.Rows, c.Noise = other, kerneltest.Options{Replay: &own, Record: &again}
		if f2 := estimatetest.RunChecked(t, e, c); f.Model == nil || f2.Model == nil || !estimatetest.SameQuestions(own, again) {
			t.Errorf("%v: the same answers led elsewhere: %+v %+v", rel, f.Outcome, f2.Outcome)
		}
		for _, m := range f.Session.Measurements() {
			if m.Delta != 0 {
				t.Errorf("%s spends delta", m.Step)
			}
		}
	}
}
