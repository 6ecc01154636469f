package km21

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

var update = flag.Bool("update", false, "rewrite the plans in testdata")

// TestPlanGolden: the plans of typical problems, as text, and what is expected of them; review a
// change as a diff.
func TestPlanGolden(t *testing.T) {
	var b strings.Builder
	for _, rel := range relations {
		for _, c := range []struct {
			name  string
			d, n  int
			eps   float64
			facts estimate.Facts
			k     int
		}{
			{"the mean is the origin", 2, 400000, 1, knowing(100, 1, 0), 1},
			{"mean within 10", 2, 2000000, 1, knowing(100, 1, 10), 0},
			{"no gap to close", 5, 50000, 1, knowing(4, 1, 0), 1},
			{"order 8", 5, 400000, 1, estimate.Facts{KnowsMean: true, Eigenvalues: [2]float64{1, 100}, Moments: 8}, 1},
			{"too few rows for a step", 2, 20000, 1, knowing(100, 1, 0), 1},
			{"too few rows for the last release", 2, 2000, 1, knowing(1, 1, 0), 1},
			{"mean within 1e9", 2, 2000000, 1, knowing(100, 1, 1e9), 1},
			{"endless bounds", 2, 2000000, 1, knowing(1e300, 1, 0), 1},
			{"nothing is known", 2, 400000, 1, estimate.Facts{}, 1},
			{"no bound on the mean", 2, 400000, 1, estimate.Facts{Eigenvalues: [2]float64{1, 2}}, 1},
			{"order 3", 2, 400000, 1, estimate.Facts{KnowsMean: true, Eigenvalues: [2]float64{1, 2}, Moments: 3}, 1},
			{"order 102", 2, 400000, 1, estimate.Facts{KnowsMean: true, Eigenvalues: [2]float64{1, 2}, Moments: 102}, 1},
			{"two components", 2, 400000, 1, knowing(100, 1, 0), 2},
		} {
			p := estimate.Problem{Columns: c.d, Rows: c.n, Relation: rel, Mu: privacy.MuOf(c.eps, 1e-6), Components: c.k, MaxComponents: 10, Facts: c.facts}
			plan, ok := estimatetest.WritePlan(t, &b, fmt.Sprintf("%v, %s", rel, c.name), New(Practical()), p)
			if !ok {
				continue
			}
			x := New(Practical()).Expect(p)
			fmt.Fprintf(&b, "%vneeds %.2g rows, error x%.2f; %s\n\n", estimatetest.Plan(plan), x.RowsNeeded, x.RelativeError, strings.Join(x.Notes, "; "))
		}
	}
	estimatetest.Golden(t, "testdata/plans.txt", b.String(), *update)
}

// With the rows that the advice names, the plan is not refused; and a tenth of them is refused, or
// ends without a release.
func TestAdvice(t *testing.T) {
	for _, within := range []float64{0, 1, 1e4} {
		for _, kappa := range []float64{1, 10, 1e4} {
			for _, c := range []Constants{Practical(), Printed()} {
				e := New(c)
				p := estimate.Problem{Columns: 3, Relation: privacy.ReplaceOne, Mu: .2367, Components: 1, Facts: knowing(kappa, 5, within)}
				n := e.needed(p)
				if p.Rows = int(n); n == 0 || e.hopeless(p, n) != "" {
					t.Errorf("within %v, kappa %v: %v rows are needed, and refused: %s", within, kappa, n, e.hopeless(p, n))
				}
				if e.enough(p, n/10) {
					t.Errorf("within %v, kappa %v: a tenth of %v rows is enough", within, kappa, n)
				}
			}
		}
	}
}
