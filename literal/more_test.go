package literal

import (
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// A lower bound never rises with budget or rows, and comes down to the one without privacy.
func TestMoreBudget(t *testing.T) {
	for _, d := range []int{1, 2, 10, 50} {
		for _, rel := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
			var last LowerBound
			for i, eps := range []float64{.1, 1, 10, 1e3, 1e6} {
				p := estimate.Problem{Columns: d, Relation: rel, Rows: 100000, Mu: privacy.MuOf(eps, 1e-6)}
				b := LowerBoundOf(p, 100000)
				if i > 0 && (b.Covariance > last.Covariance*(1+1e-9) || b.Mean > last.Mean*(1+1e-9)) {
					t.Errorf("d=%d %v: %+v at epsilon %v, %+v at less", d, rel, b, eps, last)
				}
				more := LowerBoundOf(p, 1e6)
				if more.Covariance > b.Covariance*(1+1e-9) || more.Mean > b.Mean*(1+1e-9) {
					t.Errorf("d=%d %v: %+v with ten times the rows, %+v", d, rel, more, b)
				}
				last = b
			}
			if last.Covariance > 1.01*last.PlainCovariance || last.Mean > 1.01*last.PlainMean {
				t.Errorf("d=%d %v: %+v at epsilon 1e6", d, rel, last)
			}
		}
	}
	for _, k := range []int{1, 3} {
		last := 1.0
		for _, eps := range []float64{.1, 1, 10, 1e3, 1e6} {
			p := estimate.Problem{Columns: 3, Relation: privacy.ReplaceOne, Rows: 10000}
			m := MixtureBoundOf(p, privacy.Budget{Epsilon: eps, Delta: 1e-6}, k, 10000)
			if m.TotalVariation > last*(1+1e-9) {
				t.Errorf("k=%d: %+v at epsilon %v, %v at less", k, m, eps, last)
			}
			last = m.TotalVariation
		}
	}
}
