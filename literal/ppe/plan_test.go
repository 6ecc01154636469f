package ppe

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/estimate/learners"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/pure"
)

var update = flag.Bool("update", false, "rewrite the plans in testdata")

var relations = []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne}

// delta of every budget in these tests.
const delta = 1e-6

func problem(rel privacy.Relation, k, d, n int, eps float64) estimate.Problem {
	p := estimatetest.Case{Columns: d, Relation: rel, Epsilon: eps, Delta: delta, Components: k}.Problem()
	if rel == privacy.ReplaceOne {
		p.Rows = n
	}
	return p
}

// TestPlanGolden: the plans of typical problems, as text, and what is expected of them; review a
// change as a diff.
func TestPlanGolden(t *testing.T) {
	var b strings.Builder
	for _, rel := range relations {
		for _, c := range []struct {
			name    string
			k, d, n int
			eps     float64
			learner string
			e       Estimator
		}{
			{"one component in one column", 1, 1, 200000, 20, "", New(Practical())},
			{"more rows", 1, 1, 5000000, 20, "", New(Practical())},
			{"two components", 2, 1, 2000000, 20, "em", New(Practical())},
			{"two components in two columns", 2, 2, 10000000, 20, "em", New(Practical())},
			{"far too few", 1, 1, 100000, 1, "", New(Practical())},
			{"very many rows", 1, 1, 1 << 30, 1, "", New(Practical())},
			{"as printed", 1, 1, 1 << 50, 1, "", New(Printed())},
			{"as printed, epsilon 20", 1, 1, 1 << 42, 20, "", New(Printed())},
			{"epsilon 100", 1, 1, 1000000, 100, "", New(Practical())},
			{"ten components in ten columns", 10, 10, 1000000, 20, "", New(Practical())},
			{"a tiny budget", 1, 1, 1 << 50, 1e-3, "", New(Practical())},
		} {
			p := estimate.Problem{Columns: c.d, Rows: c.n, Relation: rel, Components: c.k, MaxComponents: 10, Learner: c.learner,
				Budget: privacy.Budget{Epsilon: c.eps, Delta: delta}, Mu: privacy.MuOf(c.eps, delta)}
			plan, ok := estimatetest.WritePlan(t, &b, fmt.Sprintf("%v, %s, epsilon %g", rel, c.name, c.eps), c.e, p)
			if !ok {
				continue
			}
			if rel == privacy.AddRemoveOne {
				p.Rows = 0
			}
			if _, err := kernel.Calibrate(plan, rel, p.Budget); err != nil {
				t.Error(err)
			}
			step, x := plan.Steps[1], c.e.Expect(p)
			extra := step.Extra.(pure.Closeness)
			m := extra.Mask
			fmt.Fprintf(&b, "%vmask: gamma %.3g, eta %.3g, %.3g, %.3g; test: epsilon %.3g, delta %.3g\nneeds %.2g rows; %s\n\n", estimatetest.Plan(plan), m.Gamma,
				m.EtaWeight, m.EtaMean, m.EtaCov, extra.Pure, extra.Delta, x.RowsNeeded, strings.Join(x.Notes, ";\n  "))
		}
	}
	estimatetest.Golden(t, "testdata/plans.txt", b.String(), *update)
}

// TestBudget: the count gets what it was planned for, and the mask nearly all of the rest.
func TestBudget(t *testing.T) {
	for _, c := range []Constants{Practical(), Printed()} {
		for _, eps := range []float64{.3, 1, 20, 40} {
			p := problem(privacy.AddRemoveOne, 2, 2, 0, eps)
			if c.ClosedForm && eps <= 1 {
				continue // refused
			}
			plan, err := New(c).Plan(p)
			if err != nil {
				t.Fatal(err)
			}
			total, err := kernel.Calibrate(plan, p.Relation, p.Budget)
			if err != nil {
				t.Fatal(err)
			}
			planned := math.Sqrt(c.CountShare) * privacy.MuOf(eps, delta)
			if total.Mu < planned || !c.ClosedForm && total.Mu > 1.05*planned {
				t.Errorf("epsilon %v: mu = %v for the count, %v was planned", eps, total.Mu, planned)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	good := problem(privacy.ReplaceOne, 2, 1, 3000000, 20)
	if _, err := New(Practical()).Plan(good); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*estimate.Problem){
		"rho":            func(p *estimate.Problem) { p.Budget, p.NoDelta = privacy.Budget{Rho: 1}, true },
		"up to 10":       func(p *estimate.Problem) { p.Components, p.MaxComponents = 0, 10 },
		"few rows":       func(p *estimate.Problem) { p.Rows = 1000 },
		"no rows":        func(p *estimate.Problem) { p.Rows = 0 },
		"few rows, own":  func(p *estimate.Problem) { p.Rows, p.Own = 100, "signs" },
		"small epsilon":  func(p *estimate.Problem) { p.Budget.Epsilon = 1e-3 },
		"tiny epsilon":   func(p *estimate.Problem) { p.Budget.Epsilon = 1e-9 },
		"tiny delta":     func(p *estimate.Problem) { p.Budget.Delta = 1e-290 },
		"1e9 components": func(p *estimate.Problem) { p.Components = 1e9 },
		"65 components":  func(p *estimate.Problem) { p.Components = 65 },
		"21 columns":     func(p *estimate.Problem) { p.Columns = 21 },
		"huge epsilon":   func(p *estimate.Problem) { p.Budget.Epsilon = 1e6 },
		"1e9 columns":    func(p *estimate.Problem) { p.Columns = 1e9 },
	} {
		p := good
		change(&p)
		var refused *estimate.Refusal
		if _, err := New(Practical()).Plan(p); !errors.As(err, &refused) || refused.Reason == "" || refused.Advice == "" {
			t.Errorf("%s: got %v, want a refusal with advice", name, err)
		}
		New(Practical()).Expect(p) // must not panic
	}
	if _, err := New(Practical()).Plan(estimate.Problem{}); err == nil {
		t.Error("no columns: want an error")
	}
	p := good
	p.Rows, p.Own = 10000, "signs" // nobody knows how good a learner of one's own is
	if _, err := New(Practical()).Plan(p); err != nil {
		t.Error(err)
	}
}

// The learner that runs is the one that was named.
func TestLearners(t *testing.T) {
	e := New(Practical())
	for _, name := range append(e.Learners(), "") {
		p := problem(privacy.ReplaceOne, 3, 2, 10000000, 30)
		p.Learner = name
		_, err := e.Plan(p)
		if want := name == moitraValiant().Name; (err != nil && strings.Contains(err.Error(), "has a learner for fewer")) != want {
			t.Errorf("%q, three components: %v", name, err)
		}
		b := e.Blocks(p, 3, 7)
		if b.Count != 7 || b.Learner == nil || b.OfTerms != 0 || b.Learner.Estimates() != 3 || b.Learner.Coordinates(2) != 7 {
			t.Errorf("%q: %+v", name, b)
		}
		want := map[string]string{"": "pearson.Learner", pearsonLines().Name: "pearson.Learner", moitraValiant().Name: "pearson.Learner", learners.EM: "em.Learner",
			"spectral": "spectral.Mixture"}[name]
		if got := fmt.Sprintf("%T", b.Learner); got != want {
			t.Errorf("%q: runs %s, want %s", name, got, want)
		}
		if err := estimate.ValidateLearner(e, p); err != nil {
			t.Error(err)
		}
	}
	p := problem(privacy.ReplaceOne, 2, 1, 100, 20)
	p.Own = "signs"
	if b := e.Blocks(p, 2, 7); b.Learner != nil || b.OfTerms != 2 {
		t.Errorf("own: %+v", b)
	}
}

// More budget and a coarser mask ask for fewer rows, more components and columns for more; more
// rows get a finer mask.
func TestExpectation(t *testing.T) {
	e := New(Practical())
	at := func(eps float64, k, d int) float64 {
		return e.Expect(problem(privacy.AddRemoveOne, k, d, 0, eps)).RowsNeeded
	}
	base := at(20, 1, 1)
	for name, got := range map[string]float64{"less budget": at(10, 1, 1), "two columns": at(20, 1, 2), "two components": at(20, 2, 1)} {
		if !(got > base) {
			t.Errorf("%s: %v rows, of %v", name, got, base)
		}
	}
	last := math.Inf(1)
	for _, n := range []int{100000, 1000000, 10000000, 100000000} {
		x := Practical().design(problem(privacy.ReplaceOne, 1, 1, n, 20), true)
		if n > 100000 && !(x.alpha < last && margin*x.rowsNeeded(problem(privacy.ReplaceOne, 1, 1, n, 20)) <= float64(n)) {
			t.Errorf("n = %d: alpha %v, before %v", n, x.alpha, last)
		}
		last = x.alpha
	}
}
