package gaussian

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

// TestPlanGolden: the plans of typical problems, as text; review a change as a diff. None spends
// stability delta.
func TestPlanGolden(t *testing.T) {
	for file, e := range map[string]estimate.Estimator{"plans.txt": New(), "heavytailed.txt": heavyTailed} {
		var b strings.Builder
		for _, rel := range bothRelations {
			for _, c := range []struct {
				name    string
				d, n, k int
				shape   estimate.CovarianceType
			}{
				{"full", 5, 20000, 1, estimate.Full},
				{"diagonal, few columns", 3, 20000, 1, estimate.Diagonal},
				{"diagonal, many columns", 20, 20000, 1, estimate.Diagonal},
				{"spherical", 20, 20000, 1, estimate.Spherical},
				{"too few rows for the columns", 50, 60, 1, estimate.Full},
				{"two components", 5, 20000, 2, estimate.Full},
			} {
				p := estimate.Problem{Columns: c.d, Rows: c.n, Relation: rel, Mu: privacy.MuOf(1, 1e-6), Components: c.k, Covariance: c.shape}
				plan, ok := estimatetest.WritePlan(t, &b, fmt.Sprintf("%s, %v, %s", e.Name(), rel, c.name), e, p)
				if !ok {
					continue
				}
				if plan.Thresholds() {
					t.Error("the plan spends stability delta, which Problem.Mu does not provide for")
				}
				fmt.Fprintln(&b, estimatetest.Plan(plan))
			}
		}
		estimatetest.Golden(t, "testdata/"+file, b.String(), *update)
	}
}

// TestPlanDoesNotKnowRows: under add-or-remove-one a plan is the same whatever Rows says.
func TestPlanDoesNotKnowRows(t *testing.T) {
	for _, e := range []estimate.Estimator{New(), heavyTailed} {
		for _, shape := range allShapes {
			text := ""
			for _, n := range []int{0, 3, 500, 1 << 30} {
				plan, err := e.Plan(estimate.Problem{Columns: 9, Rows: n, Relation: privacy.AddRemoveOne, Mu: .2, Components: 1, Covariance: shape})
				if err != nil {
					t.Fatal(err)
				}
				if text != "" && estimatetest.Plan(plan) != text {
					t.Errorf("%s %v: the plan for n = %d differs", e.Name(), shape, n)
				}
				text = estimatetest.Plan(plan)
			}
		}
	}
}
