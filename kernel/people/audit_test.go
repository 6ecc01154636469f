package people

import (
	"context"
	"math"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// many is how many rows the one person has whose rows differ between the two data sets.
const many = 500

// visits protects 40 persons of one row at 0 and one of many rows at x: by persons, or every row as
// if it were one.
func visits(x float64, r privacy.Relation, byPerson bool) *kernel.Table {
	people, rows := NewBuilder(1), kernel.NewBuilder(1)
	add := func(person string, x float64) {
		people.Append(person, 0, []float64{x})
		rows.Append([]float64{x})
	}
	for range 40 {
		add("", 0)
	}
	for range many {
		add("p", x)
	}
	if byPerson {
		return people.Protect(r, 1, nil)[0]
	}
	return rows.Protect(r)
}

// far is the noisy number of rows beyond 1/2.
func far(t *testing.T, table *kernel.Table, b privacy.Budget) float64 {
	plan := kernel.Plan{Method: "audit", Steps: []kernel.Step{{Name: "far", Query: query.ColumnCounts, Share: 1, Most: 1}}}
	s, err := kernel.Open(context.Background(), table, plan, kernel.Terms{Relation: table.Relation(), Budget: b})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := s.SubBudget().Sum("far", query.Counts{Edges: [][]float64{{.5}}, As: query.Above}, s.SubBudget().LeftMu())
	if err != nil {
		t.Fatal(err)
	}
	return answer.Values[0]
}

// An attack on a person of 500 rows, who is there or elsewhere, by the number of rows there beyond
// half of one and half of all: with persons the lower bounds on epsilon stay below the claim; with
// rows in their place the same attack finds more. False-alarm rate: 4e-8.
func TestAudit(t *testing.T) {
	const runs, epsilon, delta = 500, 1., 1e-3
	b := privacy.Budget{Epsilon: epsilon, Delta: delta}
	for _, r := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		for _, byPerson := range []bool{true, false} {
			var hits [2][2]int // by where the person is, and by the threshold
			for side, x := range []float64{1, 0} {
				for range runs {
					n := far(t, visits(x, r, byPerson), b)
					for i, threshold := range []float64{.5, many / 2} {
						if n > threshold {
							hits[i][side]++
						}
					}
				}
			}
			bound := math.Inf(-1)
			for _, h := range hits {
				there, _ := stattest.ProportionBounds(t, h[0], runs, 1e-8)
				_, elsewhere := stattest.ProportionBounds(t, h[1], runs, 1e-8)
				bound = math.Max(bound, math.Log(math.Max(0, there-delta)/elsewhere))
			}
			if (bound > epsilon) == byPerson {
				t.Errorf("%v, by person %v: a bound of %.2f on epsilon, claimed was %g", r, byPerson, bound, epsilon)
			}
		}
	}
}
