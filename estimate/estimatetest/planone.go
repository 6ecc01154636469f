package estimatetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// PlansOfOne returns the plans of methods for one component in typical problems, as text for a
// golden file; none spends stability delta.
func PlansOfOne(t *testing.T, methods ...estimate.Estimator) string {
	t.Helper()
	var b strings.Builder
	for _, e := range methods {
		for _, rel := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
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
				plan, ok := WritePlan(t, &b, fmt.Sprintf("%s, %v, %s", e.Name(), rel, c.name), e, p)
				if !ok {
					continue
				}
				if plan.Thresholds() {
					t.Error("the plan spends stability delta, which Problem.Mu does not provide for")
				}
				fmt.Fprintln(&b, Plan(plan))
			}
		}
	}
	return b.String()
}

// PlansDoNotKnowRows fails the test unless, under add-or-remove-one, plans of methods for one
// component are the same whatever Rows says.
func PlansDoNotKnowRows(t *testing.T, methods ...estimate.Estimator) {
	t.Helper()
	for _, e := range methods {
		for _, shape := range []estimate.CovarianceType{estimate.Full, estimate.Diagonal, estimate.Spherical} {
			text := ""
			for _, n := range []int{0, 3, 500, 1 << 30} {
				plan, err := e.Plan(estimate.Problem{Columns: 9, Rows: n, Relation: privacy.AddRemoveOne, Mu: .2, Components: 1, Covariance: shape})
				if err != nil {
					t.Fatal(err)
				}
				if text != "" && Plan(plan) != text {
					t.Errorf("%s %v: the plan for n = %d differs", e.Name(), shape, n)
				}
				text = Plan(plan)
			}
		}
	}
}
