package bdku20

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// More budget never hurts, whatever is unknown; in the end the errors are those of the rows: with
// practical constants the root mean square of four tables is below 2 times the non-private one. The
// printed ones clip at a radius beyond which a tenth of the rows lies, which shows where n is
// large.
func TestMoreBudget(t *testing.T) {
	for _, rel := range relations {
		for _, c := range []struct {
			d          int
			kappa, far float64
			facts      estimate.Facts
		}{
			{1, 1, 7, bounds(10, .1, 10)}, {5, 100, 40, bounds(50, .01, 4)}, {10, 1, 0, bounds(0, .1, 4)}, {20, 1, 300, bounds(1e4, 1, 1)},
		} {
			for _, e := range []estimate.Estimator{New(Practical()), New(Practical()).Printed()} {
				const n = 8000
				last := estimatetest.MoreBudget(t, e, 4, 1.2, func(table uint64) (estimatetest.Case, func(estimatetest.Fit) float64) {
					rng := rand.New(rand.NewPCG(table, 20))
					w := newTruth(rng, c.d, c.kappa, c.far)
					return estimatetest.Case{Rows: w.rows(rng, n), Columns: c.d, Relation: rel, Components: 1, Facts: c.facts},
						func(f estimatetest.Fit) float64 {
							cov, mean := w.ratios(f, n)
							return math.Hypot(cov, mean)
						}
				})
				if e == estimate.Estimator(New(Practical())) && !(last < 3) {
					t.Errorf("%v %+v: x%.2f of the non-private errors at epsilon 1e6", rel, c, last)
				}
			}
		}
	}
}

// More rows are never refused.
func TestMoreRows(t *testing.T) {
	for _, eps := range []float64{.1, 1, 1e3, 1e6} {
		for _, facts := range []estimate.Facts{bounds(10, .1, 10), bounds(1e6, 1e-9, 1e6), bounds(0, .1, 4), bounds(9, 1, 1)} {
			for _, c := range []Constants{Practical(), Printed(3)} {
				p := estimate.Problem{Columns: 4, Rows: 2, Relation: privacy.ReplaceOne, Mu: privacy.MuOf(eps, 1e-6), Facts: facts}
				for refused := true; refused; p.Rows *= 2 {
					_, err := New(c).Plan(p)
					refused = err != nil
				}
				estimatetest.MoreRows(t, New(c), p)
			}
		}
	}
}

// TestPrinted: three and two steps, as in the source's experiments, at exact answers: what is
// released is the clipped second moment in the last scale, within a tenth of the truth, because a
// tenth of the rows are beyond the radius at most.
//
// Shows: [BDKU20] Section 2.2.
func TestPrinted(t *testing.T) {
	e := New(Practical()).Printed()
	for _, rel := range relations {
		for _, facts := range []estimate.Facts{bounds(0, .1, 4), bounds(9, .1, 4)} {
			const d, n = 3, 50000
			rng := rand.New(rand.NewPCG(2, 20))
			w := newTruth(rng, d, 4, math.Min(5, facts.MeanWithin))
			f := estimatetest.RunChecked(t, e, estimatetest.Case{Rows: w.rows(rng, n), Columns: d, Relation: rel, Mu: 3, Facts: facts})
			if f.Model == nil {
				t.Fatalf("%v: %+v %+v", rel, f.Refused, f.NoRelease)
			}
			steps := map[string]int{}
			for _, m := range f.Session.Measurements() {
				steps[m.Step] += m.Count
			}
			if steps[stepCovariance] != 3 || steps[stepMean] != 2*b2i(facts.MeanWithin > 0) {
				t.Errorf("%v: %v", rel, steps)
			}
			cov, mean := w.ratios(f, n)
			t.Logf("%v: x%.2f and x%.2f", rel, cov, mean)
			if cov *= math.Sqrt(d * (d + 1) / float64(n)); cov > .2 || mean > 4 {
				t.Errorf("%v: covariance error %.3f, mean x%.2f", rel, cov, mean)
			}
		}
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
