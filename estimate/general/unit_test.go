package general

import (
	"testing"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// TestExpectNeverFails: what a planner is told is finite for any problem.
func TestExpectNeverFails(t *testing.T) {
	for _, c := range combinations() {
		for _, n := range []int{0, 1, 100, 1 << 40} {
			for _, d := range []int{1, 3, 60} {
				for _, mu := range []float64{1e-6, muOne, 1e4} {
					p := c.Problem()
					p.Columns, p.Mu = d, mu
					if p.Relation == privacy.ReplaceOne {
						p.Rows = n
					}
					if e := tested.Expect(p); !dense.Finite(e.RowsNeeded) || !dense.Finite(e.RelativeError) || e.RowsNeeded < 0 {
						t.Errorf("%+v: %+v", p, e)
					}
				}
			}
		}
	}
}
