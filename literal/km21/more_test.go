package km21

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// More budget never hurts, with practical and printed constants, the mean known or not.
//
// Shows: [KM21] Algorithm 3.
func TestMoreBudget(t *testing.T) {
	for i, rel := range relations {
		for j, e := range []estimate.Estimator{New(Practical()), New(Practical()).Printed()} {
			for _, within := range []float64{0, 10} {
				if (i == 0) != (j == 0 && within == 0) && !estimatetest.Long() {
					continue // they take turns
				}
				if within > 0 && e != estimate.Estimator(New(Practical())) {
					continue
				}
				p := estimate.Problem{Columns: 2, Relation: rel, Mu: privacy.MuOf(10, 1e-6), Facts: knowing(100, 1, within)}
				n := int(1.2 * New(Practical()).needed(p))
				estimatetest.MoreBudget(t, e, 3, 1.25, func(table uint64) (estimatetest.Case, func(estimatetest.Fit) float64) {
					rng := rand.New(rand.NewPCG(table, 21))
					truth := truthOf(t, rng, 2, 100, 1, within)
					return estimatetest.Case{Rows: rowsOf(rng, truth, n, gaussian), Columns: 2, Relation: rel, Components: 1, Facts: knowing(100, 1, within)},
						func(f estimatetest.Fit) float64 { _, cov := errorsOf(truth, f); return cov }
				})
			}
		}
	}
}

// More rows are never refused: the radius grows with them, and the error falls all the same.
func TestMoreRows(t *testing.T) {
	for _, eps := range []float64{.3, 10, 1e6} {
		for _, within := range []float64{0, 100} {
			for _, c := range []Constants{Practical(), Printed()} {
				p := estimate.Problem{Columns: 3, Relation: privacy.ReplaceOne, Mu: privacy.MuOf(eps, 1e-6), Components: 1, Facts: knowing(100, 1, within)}
				p.Rows = int(New(c).needed(p)) + 1
				estimatetest.MoreRows(t, New(c), p)
				last := math.Inf(1)
				for ; p.Rows < 1e12; p.Rows *= 4 {
					f, ok := New(c).forecast(p, float64(p.Rows))
					if !ok || f.alpha > last*(1+1e-9) {
						t.Errorf("epsilon %v, n = %d: alpha %v, %v at fewer rows", eps, p.Rows, f.alpha, last)
					}
					last = f.alpha
				}
			}
		}
	}
}
