package kernel_test

import (
	"math"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// TestPartialRows: a session measures partial rows where its plan says so, with the noise of the
// sum that is asked and a line that names the view; elsewhere they are null rows.
func TestPartialRows(t *testing.T) {
	rows, nan := someRows(300, 2), math.NaN()
	for i, row := range rows {
		if i%3 > 0 {
			row[i%3-1] = nan
		}
	}
	moments := query.ClippedMoments{Form: query.FullForm, Lift: 1, Components: []query.Component{{Map: frame(2), Radius: 2}}}
	filled := query.Partial{Sum: moments, As: query.Filled, Fill: []float64{0, 0}}
	seen := kernel.Plan{Method: "test", Steps: []kernel.Step{
		{Name: "count", Query: query.Count{}.Kind(), Share: .5, Most: 1},
		{Name: "filled", Query: query.Filled.Of(moments.Kind()), Share: .5, Most: 1},
		{Name: "cells", Query: query.Cells.Of(query.ColumnCounts), Share: .5, Most: 1},
	}}
	for _, rel := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		terms := kernel.Terms{Relation: rel, Budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}}
		s := kerneltest.Open(t, kerneltest.Table(rows, 2, rel), seen, terms, kerneltest.Options{Exact: true})
		a, mu := s.SubBudget(), .3*s.Mu()
		if answer, err := a.Sum("count", query.Count{}, mu); err != nil || answer.Values[0] != 100 {
			t.Errorf("%v: %v whole rows, want 100: %v", rel, answer.Values, err)
		}
		if _, err := a.Sum("filled", moments, mu); err == nil || !strings.Contains(err.Error(), "may ask") {
			t.Errorf("%v: the step asks without its view: %v", rel, err)
		}
		answer, err := a.In(query.Filled, []float64{0, 0}).Take(.2*s.Mu()*s.Mu()).Sum("filled", moments, mu)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.In(query.Filled, []float64{0, 0}).Sum("filled", filled, mu); err == nil {
			t.Errorf("%v: a view in a view", rel)
		}
		if err != nil {
			t.Fatal(err)
		}
		if want := moments.Sensitivity(rel) / mu * moments.Unit(); math.Abs(answer.Sigma/want-1) > 1e-12 {
			t.Errorf("%v: noise %v, want %v", rel, answer.Sigma, want)
		}
		cells := query.Partial{Sum: query.Counts{Edges: query.Each([]float64{math.Inf(-1), 1e308}), As: query.Balance}}
		if answer, err = a.Sum("cells", cells, mu); err != nil || answer.Values[0] != -200 || answer.Values[1] != 200 {
			t.Errorf("%v: balances %v of 200 cells each: %v", rel, answer.Values, err)
		}
		seen := a.Take(a.Left()).In(query.Cells, nil)
		if seen.Left() != s.SubBudget().In(query.Presence, nil).Left()+seen.Left() || a.Left() != 0 {
			t.Errorf("%v: a view has another budget: %v left of %v", rel, seen.Left(), a.Left())
		}
		if m := s.Measurements(); m[1].Query != "filled: clipped moments" || m[2].Query != "present cells: column counts" || m[1].Law != "" {
			t.Errorf("%v: lines %+v", rel, m)
		}
	}
}
