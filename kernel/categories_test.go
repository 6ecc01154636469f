package kernel_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/people"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

var mixedPlan = kernel.Plan{Method: "test", Steps: []kernel.Step{
	{Name: "step", Query: "directions", Share: .9, Most: 1000},
	{Name: "categories", Query: query.KindCategoryCounts, Share: .1, Most: 1},
}}

// mixedTable has n rows of two numbers, and two columns of categories of 2 and 3 values.
func mixedTable(n int, r privacy.Relation) *kernel.Table {
	b := kernel.NewMixedBuilder(2, 2, nil)
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range n {
		b.Append([]float64{rng.NormFloat64(), rng.NormFloat64(), float64(i % 2), float64(i % 3)})
	}
	return b.Protect(r)
}

// TestCategories: the codes are counted, no other query sees them, and what does not fit the table
// is refused before anything is charged.
func TestCategories(t *testing.T) {
	const n = 3000
	table := mixedTable(n, privacy.AddRemoveOne)
	if table.Columns() != 2 || table.Categories() != 2 {
		t.Fatalf("%d columns, %d of categories", table.Columns(), table.Categories())
	}
	s := kerneltest.Open(t, table, mixedPlan, terms, kerneltest.Options{Exact: true})
	plain := kerneltest.Open(t, kerneltest.Table(someRows(n, 2), 2, privacy.AddRemoveOne), mixedPlan, terms, kerneltest.Options{Exact: true})
	x, err := s.SubBudget().Sum("step", step, .1)
	y, _ := plain.SubBudget().Sum("step", step, .1)
	if err != nil || !slices.Equal(x.Values, y.Values) {
		t.Fatalf("%v: numbers beside categories say %v, by themselves %v", err, x.Values, y.Values)
	}
	before := s.Loss().Mu
	for _, values := range [][]int{{2}, {2, 3, 2}, nil} {
		if _, err := s.SubBudget().Categories("categories", query.CategoryCounts{Values: values}, .05); err == nil {
			t.Errorf("counts of %d columns are answered", len(values))
		}
	}
	if _, err := plain.SubBudget().Categories("categories", query.CategoryCounts{Values: []int{2, 3}}, .05); err == nil {
		t.Error("a table without codes has counts of them")
	}
	if s.Loss().Mu != before {
		t.Error("what is refused costs something")
	}
	a, err := s.SubBudget().Categories("categories", query.CategoryCounts{Values: []int{2, 3}}, .05)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{n / 2, n / 2, n / 3, n / 3, n / 3} {
		if math.Abs(a.Values[i]-want) > 1e-3 {
			t.Errorf("cell %d: %v rows, want %v", i, a.Values[i], want)
		}
	}
	if m := s.Measurements()[1]; math.Abs(m.Sensitivity-math.Sqrt2) > 1e-6 || math.Abs(m.Noise*.05-math.Sqrt2) > 1e-6 {
		t.Errorf("the line is %+v, want a sensitivity of sqrt 2", m)
	}
}

// TestPart: a program that is given a part of a session sees no more of its budget, and what it
// leaves can be returned.
func TestPart(t *testing.T) {
	s, err := kernel.Open(context.Background(), mixedTable(100, privacy.AddRemoveOne), mixedPlan, terms)
	if err != nil {
		t.Fatal(err)
	}
	whole := s.SubBudget().Left()
	p := s.Part(.9)
	if got := p.Mu() * p.Mu(); math.Abs(got-.9*whole) > 1e-9*whole || math.Abs(p.SubBudget().Left()-.9*whole) > 1e-9*whole {
		t.Errorf("the part has %v and %v of %v", got, p.SubBudget().Left(), whole)
	}
	if got := s.SubBudget().Left(); math.Abs(got-.1*whole) > 1e-9*whole {
		t.Errorf("%v is left beside it", got)
	}
	if _, err := p.SubBudget().Sum("step", step, p.SubBudget().LeftMu()); err != nil {
		t.Error(err)
	}
	if got := p.SubBudget().Left(); got != 0 {
		t.Errorf("the part has %v left", got)
	}
	q := s.Part(.05)
	s.SubBudget().Return(q.SubBudget())
	if _, err := s.SubBudget().Categories("categories", query.CategoryCounts{Values: []int{2, 3}}, s.SubBudget().LeftMu()); err != nil {
		t.Error(err)
	}
}

// TestCategoriesOfPersons: of a person with many rows one row counts, with its categories.
func TestCategoriesOfPersons(t *testing.T) {
	b := people.NewMixedBuilder(2, 2)
	for person := range 50 {
		for range 1 + person {
			b.Append(string(rune('a'+person)), 0, []float64{float64(person), 1, float64(person % 2), 1})
		}
	}
	s := kerneltest.Open(t, b.Protect(privacy.AddRemoveOne, 1, nil)[0], mixedPlan, terms, kerneltest.Options{Exact: true})
	a, err := s.SubBudget().Categories("categories", query.CategoryCounts{Values: []int{2, 3}}, .05)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{25, 25, 0, 50, 0} {
		if math.Abs(a.Values[i]-want) > 1e-3 {
			t.Errorf("cell %d: %v persons, want %v", i, a.Values[i], want)
		}
	}
}
