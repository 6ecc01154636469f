// Package heavytailed fits mean and covariance of any law that has them, with heavy or light tails
// and without bounds: the methods "heavy-tailed", which assumes nothing of the shape of the law,
// and "heavy-tailed:elliptical", which takes it for elliptical.
//
// The Gaussian's preconditioner rounds the rows; a histogram of the radii then shows how far they
// reach; and all the rest buys one release of moments, clipped where noise and clipping cost the
// same.
//
// Source: [TYLERPRESS] Sections 3 and 4.
package heavytailed

import (
	"context"
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program/single"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts/tyler"
)

// Estimator is the method "heavy-tailed" or "heavy-tailed:elliptical".
type Estimator struct{ elliptical bool }

// New returns the method "heavy-tailed".
func New() Estimator { return Estimator{} }

// NewElliptical returns the method "heavy-tailed:elliptical".
func NewElliptical() Estimator { return Estimator{elliptical: true} }

var _ estimate.Estimator = Estimator{}

// Name is "heavy-tailed" or "heavy-tailed:elliptical".
func (e Estimator) Name() string {
	if e.elliptical {
		return "heavy-tailed:elliptical"
	}
	return "heavy-tailed"
}

// Summary is one line for lists of methods.
func (e Estimator) Summary() string {
	if e.elliptical {
		return "mean and covariance of a heavy-tailed law with elliptical contours, such as a t: fewer rows, no bounds"
	}
	return "mean and covariance of any law, with heavy or light tails: no bounds, no assumption on the shape"
}

const source = "TYLERPRESS Section 3"

// Source names the algorithm.
func (Estimator) Source() string { return source }

// full reports that the fit goes by way of a full covariance; if not, every column is fitted by
// itself.
func (e Estimator) full(p estimate.Problem) bool {
	return e.elliptical || p.Covariance == estimate.Full || p.Columns <= single.DiagonalByFull
}

// rounded is the problem of rounding the rows: for a full covariance if the fit goes by way of one.
func (e Estimator) rounded(p estimate.Problem) estimate.Problem {
	full := e.full(p)
	if p.Covariance = estimate.Diagonal; full {
		p.Covariance = estimate.Full
	}
	return p
}

// Plan is the worst case that Fit may measure, or a *estimate.Refusal on public facts. Shares are
// worst cases of alternatives.
func (e Estimator) Plan(p estimate.Problem) (kernel.Plan, error) {
	if err := single.Check(e.Name(), e.rounded(p)); err != nil {
		return kernel.Plan{}, err
	}
	steps := single.Steps(e.rounded(p), "", 1)
	if e.full(p) {
		steps = append(steps, tyler.Step("", 1), single.FarStep("", 1))
	}
	if e.elliptical {
		steps = append(steps, kernel.Step{Name: "radius", Query: query.DistanceCounts, Share: single.RadiusPart, Most: 1, Source: source},
			kernel.Step{Name: "moments", Query: query.ClippedMoments{}.Kind(), Share: 1, Most: 1, Source: source})
	} else {
		steps = append(steps, single.PlainSteps(e.rounded(p), "", 1)...)
	}
	return kernel.Plan{Method: e.Name(), Steps: steps}, nil
}

// Fit follows the plan with the whole budget of the session.
func (e Estimator) Fit(ctx context.Context, s *kernel.Session, p estimate.Problem) (estimate.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return estimate.Outcome{}, err
	}
	f := fit{single.New(ctx, e.Name(), s.Allotment(), p, "")}
	return f.End(f.run(e))
}

// fit is a run of this method.
type fit struct{ *single.Fit }

func (f fit) run(e Estimator) (estimate.Outcome, error) {
	if err := f.Open(e.rounded(f.Problem)); err != nil {
		return estimate.Outcome{}, err
	}
	switch {
	case f.Space.Dim() == 0:
		return f.Constant()
	case e.full(f.Problem):
		return f.round(e.elliptical)
	}
	return f.Plain(nil)
}

// Utility constants, guesses.
const (
	// The steps of the preconditioner cost a part of mu^2 that falls with the square of the rows:
	// at most roundMost, and at least roundLeast for the last of them, which makes the frame better
	// than it must be.
	roundLeast, roundMost, roundFactor = .06, .6, 1.5
)

// round rounds the rows, with less of what is left than a Gaussian has for it, whose last release
// uses its steps again, and releases their moments.
func (f fit) round(elliptical bool) (estimate.Outcome, error) {
	need := single.RowsNeeded(f.Problem) / f.Rows
	part := math.Min(math.Max(roundFactor*need*need, roundLeast), roundMost)
	if !elliptical {
		if uneven, err := f.Uneven(); err != nil {
			return estimate.Outcome{}, err
		} else if uneven || f.Wide() {
			return f.Plain(nil)
		}
	}
	st, there, ok, err := f.Round(1, part, f.Far)
	switch {
	case err != nil:
		return estimate.Outcome{}, err
	case !ok && elliptical:
		return estimate.Outcome{}, f.RefuseFar("the rows are not those of one elliptical law: many share one value or lie far out")
	case !ok:
		return f.Again(st, there)
	case elliptical:
		return f.Final(st)
	}
	return f.Plain(f.Near(st))
}

// Expect gives the rows needed, for a law with heavy tails, and nothing of the error, which depends
// on the law.
func (e Estimator) Expect(p estimate.Problem) estimate.Expectation {
	return single.Expect(e.rounded(p))
}
