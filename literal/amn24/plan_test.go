package amn24

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// TestPlans compares plans, refusals and expectations with testdata/plans.txt.
func TestPlans(t *testing.T) {
	var b strings.Builder
	lattice, cells := knowing(4, .7, 1.5), knowing(6, .5, 2)
	for _, rel := range relations {
		for _, c := range []struct {
			name    string
			e       estimate.Estimator
			d, n, k int
			eps     float64
			facts   estimate.Facts
		}{
			{"gaps", NewUnivariate(Practical()), 1, 3000, 2, 20, estimate.Facts{}},
			{"gaps, printed constants", NewUnivariate(Printed()), 1, 3000, 1, 20, estimate.Facts{}},
			{"gaps, few rows", NewUnivariate(Practical()), 1, 100, 1, 20, estimate.Facts{}},
			{"gaps, little budget", NewUnivariate(Practical()), 1, 3000, 1, .01, estimate.Facts{}},
			{"gaps, two columns", NewUnivariate(Practical()), 2, 3000, 1, 20, estimate.Facts{}},
			{"gaps, many components", NewUnivariate(Practical()), 1, 3000, 30, 20, estimate.Facts{}},
			{"gaps, unknown number", NewUnivariate(Practical()), 1, 3000, 0, 20, estimate.Facts{}},
			{"lattice", NewGeneral(Practical()), 1, 3000, 2, 20, lattice},
			{"cells on the line", NewGeneral(Practical()), 1, 3000, 2, 20, knowing(100, .1, 10)},
			{"cells in the plane", NewGeneral(Practical()), 2, 3000, 2, 20, cells},
			{"printed constants", NewGeneral(Printed()), 1, 3000, 1, 20, lattice},
			{"few rows", NewGeneral(Practical()), 2, 20, 2, 20, cells},
			{"epsilon 1", NewGeneral(Practical()), 1, 3000, 2, 1, lattice},
			{"little budget", NewGeneral(Practical()), 1, 3000, 2, .01, lattice},
			{"no facts", NewGeneral(Practical()), 1, 3000, 2, 20, estimate.Facts{}},
			{"impossible facts", NewGeneral(Practical()), 1, 3000, 2, 20, estimate.Facts{KnowsMean: true, Eigenvalues: [2]float64{2, 1}}},
			{"wide facts", NewGeneral(Practical()), 2, 3000, 2, 20, knowing(1e6, 1, 1)},
			{"huge facts", NewGeneral(Practical()), 1, 3000, 2, 20, knowing(1e200, 1, 1)},
			{"three columns", NewGeneral(Practical()), 3, 3000, 2, 20, cells},
		} {
			p := estimate.Problem{Columns: c.d, Rows: c.n, Relation: rel, Mu: privacy.MuOf(c.eps, delta), Components: c.k,
				MaxComponents: 10, Facts: c.facts}
			plan, ok := estimatetest.WritePlan(t, &b, fmt.Sprintf("%s, %v, %s", c.e.Name(), rel, c.name), c.e, p)
			if !ok {
				continue
			}
			x := c.e.Expect(p)
			fmt.Fprintf(&b, "%vneeds %.2g rows; %s\n\n", estimatetest.Plan(plan), x.RowsNeeded, strings.Join(x.Notes, ";\n  "))
		}
	}
	estimatetest.Golden(t, "testdata/plans.txt", b.String(), *update)
}
