// Package kmssu22 is the estimator of [KMSSU22] for one Gaussian without any bound on it, under
// approximate differential privacy, as its source has it: the method "gaussian:kmssu22". It is here
// for comparison; the method "gaussian" needs a hundredth of the rows.
//
// Its parts are in files named after them; loop.go says which algorithms are called for what gaps,
// zero.go treats eigenvalues that are zero, and plan.go says what every part may cost and how many
// rows it needs.
//
// The form that was presented is not private. Four things are fixed, each where it is done: the
// second parameter of the histograms (Algorithm 1), the noise of the averaged projections and the
// budget of GoodCenter (Algorithm 2), and the budget of the loop (plan.go).
package kmssu22

import (
	"context"
	"errors"
	"fmt"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// Estimator is the method "gaussian:kmssu22".
//
// Source: [KMSSU22] The loop; Corrections.
// Differs: everything is accounted in Gaussian differential privacy, with one conversion at the end
// and the thresholds' delta beside it; the mean need not be zero: blocks are centred by themselves,
// and rows are clipped around a location that a stability histogram finds; n is measured where it
// is private.
type Estimator struct {
	estimate.Named
	c Constants
}

var _ estimate.Estimator = Estimator{}

// New returns the estimator.
func New(c Constants) Estimator {
	return Estimator{estimate.Describe(name, "KMSSU22 Algorithms 1 to 4",
		"one Gaussian without bounds by eigenvalues and subspaces of blocks, literal (needs many rows, and a delta)"), c}
}

const name = "gaussian:kmssu22"

// Printed returns the method with the constants of the source, as far as it states them.
func (Estimator) Printed() estimate.Estimator { return New(Printed()) }

// Plan returns the worst case that Fit may measure, or a *estimate.Refusal for a table with fewer
// rows than the eigenvalues alone need.
func (e Estimator) Plan(p estimate.Problem) (kernel.Plan, error) {
	if p.Columns < 1 {
		return kernel.Plan{}, fmt.Errorf("%s: columns: want at least 1, got %d", name, p.Columns)
	}
	if err := program.OneComponent(name, p); err != nil {
		return kernel.Plan{}, err
	}
	if p.Budget.Delta == 0 {
		return kernel.Plan{}, program.Refusal("give epsilon and delta instead of rho, or use --method gaussian",
			"the method %s has thresholds, which a budget of zCDP cannot pay", name)
	}
	if need := e.c.means(p).leastNeeded(p.Mu); p.Mu > 0 && p.Relation == privacy.ReplaceOne && float64(p.Rows) < need {
		return kernel.Plan{}, program.Refusal(advice(need),
			"%d rows make too few blocks for the eigenvalues of %d columns to be seen at this epsilon", p.Rows, p.Columns)
	}
	return kernel.Plan{Method: name, Steps: e.c.steps(p)}, nil
}

// Fit follows the plan with the whole budget of the session.
func (e Estimator) Fit(ctx context.Context, s *kernel.Session, p estimate.Problem) (estimate.Outcome, error) {
	r := &run{means: e.c.means(p), ctx: ctx, a: s.SubBudget(), shape: p.Covariance, mu2: s.Mu() * s.Mu()}
	out, err := r.fit()
	var b *bottom
	if errors.As(err, &b) {
		return r.refuse(b), nil
	}
	return out, err
}

// A run is the state of one fit.
type run struct {
	means
	ctx   context.Context
	a     *kernel.SubBudget
	shape estimate.CovarianceType
	mu2   float64 // total, less what the number of rows cost
	rows  float64 // n, public or released
	draws uint64  // public draws so far
	flags []estimate.Flag
}

// fit runs the whole algorithm: eigenvalues, the subspace of those that are not zero,
// preconditioning, and the covariance.
//
// Source: [KMSSU22] The loop.
func (r *run) fit() (estimate.Outcome, error) {
	if err := r.count(); err != nil {
		return estimate.Outcome{}, err
	}
	sds, err := r.eigenvalueEstimator()
	if err != nil {
		return estimate.Outcome{}, err
	}
	sp, sds, err := r.withoutZeros(whole(r.d), sds)
	if err != nil {
		return estimate.Outcome{}, err
	}
	sp, top, err := r.precondition(sp, sds)
	if err != nil {
		return estimate.Outcome{}, err
	}
	z, err := r.naiveEstimator(prefixFinal, sp, r.c.Bound*top*top, r.a.Take(finalLocationShare*r.mu2), r.a)
	if err != nil {
		return estimate.Outcome{}, err
	}
	return r.release(z, sds[len(sds)-1])
}

// A bottom is how an algorithm fails, for a released reason: it ends a fit without a release, and
// is no error of it.
type bottom struct {
	reason string
	need   float64 // rows that would help, about; 0 if that is not known
}

// Error returns the reason.
func (b *bottom) Error() string { return b.reason }

func fail(format string, args ...any) error { return &bottom{reason: fmt.Sprintf(format, args...)} }
