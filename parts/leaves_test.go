package parts

import (
	"math"
	"testing"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// TestAsk: every leaf is asked its own query, of its own rows.
func TestAsk(t *testing.T) {
	rows := [][]float64{{-3}, {-2}, {-1}, {1}, {2}, {3}, {4}}
	kind := query.PartsOf(query.Counts{Edges: [][]float64{{0}}}.Kind())
	s := kerneltest.Open(t, kerneltest.Table(rows, 1, privacy.ReplaceOne), kernel.Plan{Method: "leaves", Steps: []kernel.Step{{Name: "bins", Query: kind, Share: 1, Most: 1}}},
		kernel.Terms{Relation: privacy.ReplaceOne, Budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}}, kerneltest.Options{Exact: true})
	half := func(center float64) query.Region {
		return query.Region{Conditions: []query.Condition{{Map: query.Affine{Columns: []int{0}, Center: []float64{center}, W: [][]float64{{1. / 5}}}, Radius: 1}}}
	}
	got, err := AskLeaves(s.SubBudget(), "bins", query.Partition{Regions: []query.Region{half(-5.5), half(5.5)}},
		[]query.Counts{{Edges: [][]float64{{-2.5}}}, {Edges: [][]float64{{1.5, 3.5}}}}, s.SubBudget().LeftMu())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]float64{{1, 2}, {1, 2, 1}} {
		for b, w := range want {
			if len(got[i].Values) != len(want) || math.Abs(got[i].Values[b]-w) > 1e-6 || !(got[i].Sigma > 0) {
				t.Errorf("leaf %d: %+v, want %v", i, got[i], want)
			}
		}
	}
	if _, err := AskLeaves(s.SubBudget(), "bins", query.Partition{Regions: []query.Region{half(0)}}, []query.Counts{{Edges: [][]float64{{0}}}}, 1); err == nil {
		t.Error("a second measurement, which the plan has not")
	}
}
