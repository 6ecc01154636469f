// Package heavytailed fits mean and covariance of any law that has them, with heavy or light tails
// and without bounds: the method "heavy-tailed", which assumes nothing of the shape of the law.
//
// The Gaussian's preconditioner rounds the rows; a histogram of the radii then shows how far they
// reach; and all the rest buys one release of moments, clipped where noise and clipping cost the
// same.
//
// Source: [TYLERPRESS] Sections 3 and 4.
package heavytailed

import (
	"context"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program/single"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/parts/tyler"
)

// Estimator is the method "heavy-tailed".
type Estimator struct{ estimate.Named }

// New returns the method "heavy-tailed".
func New() Estimator {
	return Estimator{estimate.Describe("heavy-tailed", "TYLERPRESS Section 3", "mean and covariance of any law, with heavy or light tails: no bounds, no assumption on the shape")}
}

var _ estimate.Estimator = Estimator{}

// full reports that the fit goes by way of a full covariance; if not, every column is fitted by
// itself.
func full(p estimate.Problem) bool {
	return p.Covariance == estimate.Full || p.Columns <= single.DiagonalByFull
}

// rounded is the problem of rounding the rows: for a full covariance if the fit goes by way of one.
func rounded(p estimate.Problem) estimate.Problem {
	full := full(p)
	if p.Covariance = estimate.Diagonal; full {
		p.Covariance = estimate.Full
	}
	return p
}

// Plan is the worst case that Fit may measure, or a *estimate.Refusal on public facts. Shares are
// worst cases of alternatives.
func (e Estimator) Plan(p estimate.Problem) (kernel.Plan, error) {
	if err := single.Check(e.Name(), rounded(p)); err != nil {
		return kernel.Plan{}, err
	}
	steps := single.Steps(rounded(p), "", 1)
	if full(p) {
		steps = append(steps, tyler.Step("", 1), single.FarStep("", 1))
	}
	steps = append(steps, single.PlainSteps(rounded(p), "", 1)...)
	return kernel.Plan{Method: e.Name(), Steps: steps}, nil
}

// Fit follows the plan with the whole budget of the session.
func (e Estimator) Fit(ctx context.Context, s *kernel.Session, p estimate.Problem) (estimate.Outcome, error) {
	f := fit{single.New(ctx, e.Name(), s.Allotment(), p, "")}
	return f.End(f.run())
}

// fit is a run of this method.
type fit struct{ *single.Fit }

func (f fit) run() (estimate.Outcome, error) {
	if err := f.Open(rounded(f.Problem)); err != nil {
		return estimate.Outcome{}, err
	}
	switch {
	case f.Space.Dim() == 0:
		return f.Constant()
	case full(f.Problem):
		return f.round()
	}
	return f.Plain(nil)
}

// round rounds the rows and releases their moments.
func (f fit) round() (estimate.Outcome, error) {
	st, out, err := f.Rounded(f.RoundingPart(), f.Far)
	if err != nil || st == nil {
		return out, err
	}
	return f.Plain(f.Near(st))
}

// Expect gives the rows needed, for a law with heavy tails, and nothing of the error, which depends
// on the law.
func (Estimator) Expect(p estimate.Problem) estimate.Expectation { return single.Expect(rounded(p)) }
