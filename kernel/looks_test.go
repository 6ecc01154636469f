package kernel_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// TestLooksAreCharged: a look that a table could answer from what it has counted is charged,
// drawn and recorded as any other, and refused where its step or the budget is spent.
func TestLooksAreCharged(t *testing.T) {
	plan := kernel.Plan{Method: "test", Steps: []kernel.Step{{Name: "look", Query: query.ColumnCounts, Share: 1, Most: 4}}}
	table := kerneltest.Table(someRows(500, 2), 2, privacy.ReplaceOne)
	terms := kernel.Terms{Relation: privacy.ReplaceOne, Budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}}
	q := query.Counts{Edges: query.Each([]float64{0, 0}), As: query.Balance}
	exact, err := kerneltest.Open(t, table, plan, terms, kerneltest.Options{Exact: true}).SubBudget().Sum("look", q, .1)
	if err != nil {
		t.Fatal(err)
	}
	s := kerneltest.Open(t, table, plan, terms, kerneltest.Options{Seed: 7})
	a, mu, before := s.SubBudget(), .45*s.Mu(), s.SubBudget().Left()
	var answers [][]float64
	for i := range 4 {
		answer, err := a.Sum("look", q, mu)
		if err != nil {
			t.Fatal(err)
		}
		if left := before - float64(i+1)*mu*mu; a.Left() > left || a.Left() < left*(1-1e-9)-1e-12 {
			t.Errorf("%v is left after %d looks, want %v", a.Left(), i+1, left)
		}
		if answer.Sigma != q.Sensitivity(privacy.ReplaceOne)/mu || slices.Equal(answer.Values, exact.Values) || slices.ContainsFunc(answers, func(v []float64) bool { return slices.Equal(v, answer.Values) }) {
			t.Errorf("look %d: %v with noise %v, exact %v, others %v", i, answer.Values, answer.Sigma, exact.Values, answers)
		}
		answers = append(answers, answer.Values)
	}
	if m := s.Measurements(); len(m) != 1 || m[0].Count != 4 {
		t.Errorf("recorded: %+v", m)
	}
	if answer, err := a.Sum("look", q, mu/10); err == nil || answer.Values != nil {
		t.Errorf("a fifth look: %v", answer.Values)
	}
	s = kerneltest.Open(t, table, plan, terms, kerneltest.Options{Seed: 8})
	if answer, err := s.SubBudget().Take(mu*mu/2).Sum("look", q, mu); !errors.Is(err, kernel.ErrExhausted) || answer.Values != nil || len(s.Measurements()) > 0 {
		t.Errorf("a look beyond the budget: %v: %v", answer.Values, err)
	}
}
