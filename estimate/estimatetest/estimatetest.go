// Package estimatetest runs estimators in tests: a fit with controlled noise, the checks that every
// fit must pass whatever its rows, random mixtures with known truth, and tables on which estimators
// trip. Its constructors take a testing.TB, so that nothing but a test can use them.
package estimatetest

import (
	"context"
	"errors"
	"math"
	"os"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/learners"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/learner"
	"github.com/gauze-dp/gauze/model"
)

// Long reports whether the tests that take minutes were asked for, by GAUZE_LONG.
func Long() bool { return os.Getenv("GAUZE_LONG") != "" }

// A Case is one fit: rows and what is asked of them.
type Case struct {
	Rows    [][]float64
	Columns int
	// Relation is replace-one if it is not set.
	Relation privacy.Relation
	// Mu is the budget, as the mu that it buys: zCDP, without a delta. Required, unless Epsilon and
	// Delta are given instead, which plans with thresholds need, or Epsilon alone: pure.
	Mu             float64
	Epsilon, Delta float64
	// Components is 0 for a choice by the estimator up to MaxComponents; 0 of both means up to 10.
	Components, MaxComponents int
	Covariance                estimate.CovarianceType
	RoundedTo                 []float64
	Limits                    [][2]float64
	Facts                     estimate.Facts
	KnownCovariance           [][]float64
	Learner                   string
	Own                       learner.Mixture
	Trim                      float64
	// Noise says what noise is drawn; the zero value means seed 0. Use Fresh where a test states an
	// error rate.
	Noise kerneltest.Options
}

// Problem returns the estimator's view of the case: public facts only.
func (c Case) Problem() estimate.Problem {
	p := estimate.Problem{Columns: c.Columns, Relation: c.relation(), Mu: c.total(), Components: c.Components,
		MaxComponents: c.MaxComponents, Covariance: c.Covariance, RoundedTo: c.RoundedTo, Limits: c.Limits, Facts: c.Facts, KnownCovariance: c.KnownCovariance,
		NoDelta: c.budget().Delta == 0, Budget: c.budget(), Learner: c.Learner, Own: estimate.OwnType(c.Own), Trim: c.Trim}
	if p.Components == 0 && p.MaxComponents == 0 {
		p.MaxComponents = 10
	}
	if c.relation() == privacy.ReplaceOne {
		p.Rows = len(c.Rows)
	}
	return p
}

func (c Case) relation() privacy.Relation {
	if c.Relation == privacy.AddRemoveOne {
		return privacy.AddRemoveOne
	}
	return privacy.ReplaceOne
}

func (c Case) budget() privacy.Budget {
	if c.Epsilon > 0 {
		return privacy.Budget{Epsilon: c.Epsilon, Delta: c.Delta}
	}
	return privacy.Budget{Rho: c.Mu * c.Mu / 2}
}

// total returns the mu that a session gets for the budget and a plan without thresholds: Mu up to
// rounding.
func (c Case) total() float64 {
	if c.budget().Pure() {
		return 0
	}
	if c.Epsilon > 0 {
		return privacy.MuOf(c.Epsilon, c.Delta)
	}
	return privacy.MuOfRho(c.Mu * c.Mu / 2)
}

// Open opens a session with a plan over the rows of the case.
func (c Case) Open(tb testing.TB, plan kernel.Plan) *kernel.Session {
	tb.Helper()
	return kerneltest.Open(tb, kerneltest.Table(c.Rows, c.Columns, c.relation()), plan,
		kernel.Terms{Relation: c.relation(), Budget: c.budget(), Engine: kernel.LocalEngine{Workers: 1}, Own: learners.Own(c.Own)}, c.Noise)
}

// A Fit is what became of a case. Session is nil if the plan was refused on public facts.
type Fit struct {
	estimate.Outcome
	Session *kernel.Session
	Refused *estimate.Refusal
}

// Run plans and fits; an error of either, other than a Refusal, fails the test.
func Run(tb testing.TB, e estimate.Estimator, c Case) Fit {
	tb.Helper()
	p := c.Problem()
	plan, err := e.Plan(p)
	var refused *estimate.Refusal
	if errors.As(err, &refused) {
		return Fit{Refused: refused}
	}
	if err != nil {
		tb.Errorf("plan: %v", err)
		return Fit{}
	}
	s := c.Open(tb, plan)
	out, err := e.Fit(context.Background(), s, p)
	if err != nil {
		tb.Errorf("fit: %v", err)
	}
	return Fit{Outcome: out, Session: s}
}

// RunChecked runs the case and checks the fit.
func RunChecked(tb testing.TB, e estimate.Estimator, c Case) Fit {
	tb.Helper()
	f := Run(tb, e, c)
	Check(tb, f)
	return f
}

// Check fails the test unless f ends in a sound model or in a reason with advice, at a cost within
// its budget; a model must have used all of it.
func Check(tb testing.TB, f Fit) {
	tb.Helper()
	if f.Refused != nil {
		words(tb, f.Refused.Reason, f.Refused.Advice)
		return
	}
	if (f.Model == nil) == (f.NoRelease == nil) {
		tb.Errorf("want a model or a reason, got %+v", f.Outcome)
		return
	}
	if f.Session == nil {
		return
	}
	spent, epsilons := 0.0, 0.0
	for _, m := range f.Session.Measurements() {
		spent, epsilons = spent+float64(m.Count)*m.Mu*m.Mu, epsilons+float64(m.Count)*m.Pure
	}
	total := f.Session.Mu() * f.Session.Mu()
	if total == 0 { // pure: epsilons add up
		spent, total = epsilons, f.Session.Loss().Epsilon+f.Session.SubBudget().Left()
	}
	if spent > total*(1+1e-12) {
		tb.Errorf("spent %v of %v", spent, total)
	}
	if f.NoRelease != nil {
		words(tb, f.NoRelease.Reason, f.NoRelease.Advice)
		return
	}
	if f.Missing != nil { // is kept for the missing cells of components
		spent += f.Missing.Left()
	}
	if spent < total*(1-1e-6) && !IsPoint(f.Model) {
		tb.Errorf("a model was released for %v of %v: the rest was wasted", spent, total)
	}
	Sound(tb, f.Model)
	if n := len(f.Diagnostics.Components); n != len(f.Model.Components) {
		tb.Errorf("%d notes for %d components", n, len(f.Model.Components))
	}
	for i, n := range f.Diagnostics.Components {
		if !finite(n.EffectiveRows) || !finite(n.EffectiveNoise) {
			tb.Errorf("note %d is not finite: %+v", i, n)
		}
	}
}

func words(tb testing.TB, reason, advice string) {
	tb.Helper()
	if reason == "" || advice == "" {
		tb.Errorf("want a reason and advice, got %q and %q", reason, advice)
	}
}

// IsPoint reports a model of one component without spread: a table of constants needs no more than
// its units.
func IsPoint(m *model.Mixture) bool {
	if len(m.Components) != 1 {
		return false
	}
	for j := range m.Dim() {
		if m.Components[0].Cov.At(j, j) != 0 {
			return false
		}
	}
	return true
}

// Sound fails the test unless the model is valid, finite and positive semidefinite.
func Sound(tb testing.TB, m *model.Mixture) {
	tb.Helper()
	if err := m.Validate(); err != nil {
		tb.Errorf("the model is not valid: %v", err)
		return
	}
	total := 0.0
	for i, g := range m.Components {
		total += m.Weights[i]
		for j, v := range g.Mean {
			if !finite(v) || !(g.Cov.At(j, j) >= 0) || !finite(g.Cov.At(j, j)) {
				tb.Errorf("component %d column %d: mean %v, variance %v", i, j, v, g.Cov.At(j, j))
				return
			}
		}
		if least := leastCorrelation(g.Cov); !(least >= -1e-9) {
			tb.Errorf("component %d: the correlation matrix has the eigenvalue %v", i, least)
		}
	}
	if math.Abs(total-1) > 1e-9 {
		tb.Errorf("the weights sum to %v", total)
	}
}

// leastCorrelation returns the smallest eigenvalue of the correlation matrix of the columns with
// spread.
func leastCorrelation(c model.Covariance) float64 {
	var live []int
	for j := range c.Dim() {
		if c.At(j, j) > 0 {
			live = append(live, j)
		}
	}
	if live == nil {
		return 0
	}
	s := mat.NewSymDense(len(live), nil)
	for a, i := range live {
		for b := a; b < len(live); b++ {
			j := live[b]
			s.SetSym(a, b, c.At(i, j)/math.Sqrt(c.At(i, i))/math.Sqrt(c.At(j, j)))
		}
	}
	var e mat.EigenSym
	if !e.Factorize(s, false) {
		return math.NaN()
	}
	return e.Values(nil)[0]
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
