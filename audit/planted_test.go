package audit

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/learner"
	"github.com/gauze-dp/gauze/release"
)

// toyPlan is one of two measurements that cost all that a plan of Gaussian steps has.
var toyPlan = kernel.Plan{Method: "toy", Steps: []kernel.Step{
	{Name: "place", Query: query.Histogram, Share: .6, Most: 1}, {Name: "size", Query: "count", Share: 1, Most: 1},
}}

var budget = privacy.Budget{Epsilon: 10, Delta: 1e-6}

// A toy is a fit of two steps, with places for faults: where the edge of its histogram lies, what
// it says in the end, and how often it looks.
type toy struct {
	edge  func(rows [][]float64) float64
	says  func(rows [][]float64) error
	looks int
}

// run is the toy, as a method would be: what it certifies is of its first look.
func (f toy) run(ctx context.Context, rows [][]float64, t *kernel.Table) (*gauze.Result, error) {
	var result *gauze.Result
	for range max(1, f.looks) {
		s, err := kernel.Open(ctx, t, toyPlan, kernel.Terms{Relation: t.Relation(), Budget: budget})
		if err != nil {
			return nil, err
		}
		edge := 0.
		if f.edge != nil {
			edge = f.edge(rows)
		}
		q := query.Counts{Edges: [][]float64{{edge}}}
		if _, err := s.SubBudget().Sum("place", q, s.Mu()*.7); err != nil {
			return nil, err
		}
		if _, err := s.SubBudget().Sum("size", query.Count{}, s.SubBudget().LeftMu()); err != nil {
			return nil, err
		}
		if f.says != nil {
			if err := f.says(rows); err != nil {
				return nil, err
			}
		}
		if result == nil {
			result = &gauze.Result{NoRelease: &estimate.NoRelease{Reason: "a toy", Advice: "none"}}
			for _, m := range s.Measurements() {
				result.Certificate.Plan = append(result.Certificate.Plan, release.PlanStep{Step: m.Step, Query: m.Query, Count: m.Count,
					Sensitivity: m.Sensitivity, Noise: m.Noise, Mu: m.Mu})
			}
		}
	}
	return result, nil
}

func (f toy) subject(r privacy.Relation) subject {
	return subject{columns: 1, relation: r, table: kerneltest.Observed, run: f.run}
}

func audited(t *testing.T, s subject, runs int) *Report {
	t.Helper()
	r := Request{Fit: gauze.Request{Method: "gaussian", Relation: s.relation, Budget: budget, Columns: gauze.Named("x"), Components: 1}, Rows: 200, Columns: 1, Runs: runs}
	report, err := run(t.Context(), r, s)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// beyond counts the rows above an edge, which no released value knows.
func beyond(rows [][]float64, edge float64) (n int) {
	for _, x := range rows {
		if x[0] > edge {
			n++
		}
	}
	return n
}

// TestToys: what is as private as it says passes, under both relations, and the bound on the whole
// is at least three tenths of epsilon; each planted fault is found.
//
// False-alarm rate: 2e-6 for the two that pass. Half the noise is missed with probability below
// 1e-6, and the bound of a right one is that low with probability below 1e-9.
func TestToys(t *testing.T) {
	relations := []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne}
	for _, r := range relations {
		report := audited(t, toy{}.subject(r), 400)
		if !report.Passed() || report.Whole.Epsilon < .3*budget.Epsilon {
			t.Errorf("%v: %+v, %+v", r, report, report.Whole)
		}
		half := toy{}.subject(r)
		half.table = func(rows [][]float64, d int, r privacy.Relation, s *kerneltest.Script) *kernel.Table {
			return kerneltest.Faulty(t, rows, d, r, s, .5)
		}
		if report := audited(t, half, 800); report.Passed() || !report.Whole.Above {
			t.Errorf("%v: half the noise passed: %+v", r, report.Whole)
		}
	}
	forgotten := toy{}.subject(privacy.ReplaceOne)
	forgotten.table = func(rows [][]float64, d int, _ privacy.Relation, s *kerneltest.Script) *kernel.Table {
		return kerneltest.Observed(rows, d, privacy.AddRemoveOne, s)
	}
	for _, c := range []struct {
		name, says string
		of         subject
	}{
		{"a factor of the relation is forgotten", "farther apart than the certificate says", forgotten},
		{"a branch on a true count", "another question", toy{edge: func(rows [][]float64) float64 { return float64(beyond(rows, 1.9)) }}.subject(privacy.AddRemoveOne)},
		{"a second look that nobody pays", "4 were made", toy{looks: 2}.subject(privacy.ReplaceOne)},
		{"an error with a value", "other words or numbers", toy{says: func(rows [][]float64) error { return fmt.Errorf("%d rows are beyond", beyond(rows, 5)) }}.subject(privacy.AddRemoveOne)},
	} {
		report := audited(t, c.of, 20)
		if report.Passed() || !strings.Contains(strings.Join(report.Faults, "\n"), c.says) {
			t.Errorf("%s: passed %v, %q", c.name, report.Passed(), report.Faults)
		}
	}
}

// elephant is a learner that remembers: once it was handed a far row, no block of the same fit is
// learned from its own rows alone.
type elephant struct {
	estimatetest.Signs
	seen *bool
}

// LearnMixture is that of Signs, but for its memory.
func (e elephant) LearnMixture(rows [][]float64, k int, seed uint64) ([]learner.Component, error) {
	for _, x := range rows {
		*e.seen = *e.seen || x[0] > 1e5
	}
	if *e.seen {
		return nil, learner.ErrTooFew
	}
	return e.Signs.LearnMixture(rows, k, seed)
}

// TestElephant: a learner of somebody's own passes, and one that remembers is found, because one
// row moves what more than one block says.
//
// False-alarm rate: 1e-6.
func TestElephant(t *testing.T) {
	for _, remembers := range []bool{false, true} {
		r := gauze.Request{Method: "black-box", Relation: privacy.AddRemoveOne, Budget: privacy.Budget{Epsilon: 3, Delta: .01}, Components: 1, Force: true,
			Columns: gauze.Named("x"), Own: estimatetest.Signs{}}
		s := subject{columns: 1, relation: r.Relation, table: kerneltest.Observed, run: func(ctx context.Context, _ [][]float64, t *kernel.Table) (*gauze.Result, error) {
			r := r
			if remembers {
				r.Own = elephant{seen: new(bool)}
			}
			return gauze.Fit(ctx, t, r)
		}}
		report, err := run(t.Context(), Request{Fit: r, Rows: 800, Columns: 1, Runs: 10, scouts: 2}, s)
		if err != nil {
			t.Fatal(err)
		}
		if report.Refused != "" || report.Passed() == remembers {
			t.Errorf("remembers %v: %+v", remembers, report)
		}
	}
}
