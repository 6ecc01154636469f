package kssu19

import (
	"math"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// More budget never hurts: of the same rows, the errors at epsilon 10^3 and 10^6 are at most those
// at 10 and what sampling leaves. (At large budgets the slack of GoodRadius once rounded to
// nothing, and all radii tied.) The seeds are fixed: nothing fails by chance.
func TestMoreBudgetNeverHurts(t *testing.T) {
	for _, c := range []config{
		{NewPaper(Practical()), 4000, 3, 2, 0, 60, privacy.ReplaceOne, .1, .3},
		{NewPaper(Practical()), 12000, 3, 3, 0, 200, privacy.ReplaceOne, .15, .35},
		{NewWarmUp(Practical()), 3000, 6, 2, 0, 60, privacy.ReplaceOne, .15, .3},
		{NewWarmUp(Practical()), 6000, 6, 3, 0, 60, privacy.AddRemoveOne, .15, .3},
	} {
		last := math.Inf(1)
		for _, eps := range []float64{10, 1e3, 1e6} {
			c.eps = eps
			mean, cov, f := c.run(t, 7, kerneltest.Options{Seed: 7})
			t.Logf("%s k=%d, epsilon %v: %.3f off in mean, %.3f in covariance", c.method.Name(), c.k, eps, mean, cov)
			if eps > 10 && !(mean < c.mean && cov < c.cov) || !(mean < last+.02) {
				t.Errorf("%s k=%d, epsilon %v: %v off in mean, %v in covariance, before %v; %+v %+v", c.method.Name(), c.k, eps, mean, cov, last, f.NoRelease, f.Refused)
			}
			last = mean
		}
	}
}

// More rows are never refused, and no longer table is asked for by what Expect says: what is enough
// for some n is enough for every larger one, up to 10^10.
func TestMoreRowsAreNeverRefused(t *testing.T) {
	for _, e := range append(methods(), NewPaper(Printed()), NewWarmUp(Printed())) {
		for _, relation := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
			for _, eps := range []float64{1, 10, 1e6} {
				for _, k := range []int{2, 3, 4} {
					for _, d := range []int{3, 50}[:1+k%2] {
						p := estimate.Problem{Columns: d, Relation: relation, Mu: privacy.MuOf(eps, .95*delta), Components: k}
						enough := false
						for n := 100.0; n <= 1e10; n *= 2.5 {
							p.Rows = int(n)
							now := enoughFor(e, p, math.Floor(n))
							if enough && !now {
								t.Fatalf("%s d=%d k=%d epsilon %v: %v rows are too few, and fewer were not", e.Name(), d, k, eps, n)
							}
							enough = now
						}
						if !enough && eps >= 1 && e.(interface{ constants() Constants }).constants().SizeFactor == 0 {
							t.Errorf("%s d=%d k=%d epsilon %v: 10^10 rows are too few", e.Name(), d, k, eps)
						}
					}
				}
			}
		}
	}
}

func (e Paper) constants() Constants  { return e.c }
func (e WarmUp) constants() Constants { return e.c }

func enoughFor(e estimate.Estimator, p estimate.Problem, n float64) bool {
	if paper, ok := e.(Paper); ok {
		return paper.enough(p, n)
	}
	return e.(WarmUp).on(p).enough(p, n)
}
