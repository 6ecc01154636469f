package query_test

import (
	"testing"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// TestForgedKind: a type of this folder that claims the kind of another is not measured, alone or
// inside a wrapper, and nothing is spent. (Measured, it would release 1,000 per row with the noise
// of a count, under a line of the certificate that no reader can tell from an honest one.)
func TestForgedKind(t *testing.T) {
	plan := kernel.Plan{Method: "m"}
	for _, kind := range []string{"count", "in parts: count", "filled: count"} {
		plan.Steps = append(plan.Steps, kernel.Step{Name: kind, Query: kind, Share: 1, Most: 9})
	}
	terms := kernel.Terms{Relation: privacy.ReplaceOne, Budget: privacy.Budget{Rho: 1}}
	halves := query.Partition{Components: []query.Component{{Radius: 9, Map: query.Affine{Center: []float64{0}, W: [][]float64{{1}}}}}}
	s := kerneltest.Open(t, kerneltest.Table([][]float64{{1}, {2}, {3}}, 1, terms.Relation), plan, terms, kerneltest.Options{Exact: true})
	whole := s.SubBudget()
	for _, forged := range []query.Sum{query.Forged{}, query.Liar{Partial: query.Partial{Sum: query.Count{}}},
		query.Parts{Partition: halves, Queries: []query.Sum{query.Forged{}}}, query.Partial{Sum: query.Forged{}, As: query.Filled, Fill: []float64{1}}} {
		before := whole.Left()
		if answer, err := whole.Sum(forged.Kind(), forged, .1); err == nil || whole.Left() != before || len(s.Measurements()) > 0 {
			t.Errorf("%T as %q: released %v and %+v", forged, forged.Kind(), answer.Values, s.Measurements())
		}
	}
	for _, honest := range []query.Sum{query.Count{}, query.Parts{Partition: halves, Queries: []query.Sum{query.Count{}}},
		query.Partial{Sum: query.Count{}, As: query.Filled, Fill: []float64{1}}} {
		if answer, err := whole.Sum(honest.Kind(), honest, .1); err != nil || answer.Values[0] != 3 {
			t.Errorf("%T: %v, %v", honest, answer.Values, err)
		}
	}
}

// TestRegisteredRefuses: what is no struct of the list, or hides something, is refused by itself.
func TestRegisteredRefuses(t *testing.T) {
	type Count struct{ query.Count }
	for _, q := range []interface{ Kind() string }{query.Forged{}, &query.Count{}, Count{}, query.Pairs{}, query.Partial{Sum: &query.Count{}},
		query.Parts{}, query.Parts{Queries: []query.Sum{query.Count{}, query.Counts{}}}, query.Parts{Queries: []query.Sum{nil}}} {
		if query.Registered(q) == nil {
			t.Errorf("%T passes", q)
		}
	}
}
