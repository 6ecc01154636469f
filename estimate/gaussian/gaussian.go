// Package gaussian fits one Gaussian without any bound on the data: `gauze fit --components 1`.
//
// A noisy count of good rows and the units of the columns come first. Then TylerPress: noisy steps
// of Tyler's iteration on the augmented rows (x, 1), whose sensitivity knows no radius, until a
// certificate computed from released values says that the data look round; a histogram of the radii
// says what kind of law it is; then all the budget that is left buys one clipped moment release,
// and the answer is the Gaussian that this release and the steps agree on, or, for other laws, the
// rows' own moments. Everything measured is a Gaussian measurement of the session's filter; every
// branch is a function of released values and public facts, so a wrong guess can spoil the estimate
// and never the guarantee.
//
// Source: [TYLERPRESS] Sections 1, 4, 7 and 10.
package gaussian

import (
	"context"
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program/single"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts/tyler"
)

// Estimator is the method "gaussian".
type Estimator struct{ estimate.Named }

// New returns the estimator.
func New() Estimator {
	return Estimator{estimate.Describe(name, source, "one Gaussian of any location, scale and condition number: TylerPress, then one clipped moment release")}
}

var _ estimate.FactUser = Estimator{}

// Uses says that bounds on the eigenvalues save the search for units, where a full covariance is
// fitted.
func (Estimator) Uses(p estimate.Problem) estimate.Uses {
	return estimate.Uses{Eigenvalues: single.KnowsUnits(p)}
}

const name = "gaussian"

const source = "TYLERPRESS Section 4"

// Plan is the worst case that Fit may measure, or a *estimate.Refusal for a table with fewer rows
// than a fit can ever use.
func (Estimator) Plan(p estimate.Problem) (kernel.Plan, error) {
	if err := single.Check(name, p); err != nil {
		return kernel.Plan{}, err
	}
	return kernel.Plan{Method: name, Steps: Steps(p, "", 1)}, nil
}

// Steps are the steps that FitAllotment may measure for the problem, with prefix before their
// names, when it is given share of the total mu^2. The shares are worst cases of alternatives and
// sum to more than share: the allotment holds the total.
func Steps(p estimate.Problem, prefix string, share float64) []kernel.Step {
	step := func(name string, query string, part float64, most int) kernel.Step {
		return kernel.Step{Name: prefix + name, Query: query, Share: share * part, Most: most, Source: source}
	}
	moments, distances := query.ClippedMoments{}.Kind(), query.DistanceCounts
	steps := append(single.Steps(p, prefix, share), single.PlainSteps(p, prefix, share)...)
	switch {
	case single.ByFull(p):
		return append(steps, tyler.Step(prefix, share), step("tail", distances, shapePart, 1), step("moments", moments, 1, 1))
	case p.Covariance == estimate.Diagonal:
		return append(steps, step("moments", moments, 1, 2*max(1, p.Columns)))
	}
	return append(steps, step("moments", moments, 1, 2))
}

// Fit follows the plan with the whole budget of the session.
func (Estimator) Fit(ctx context.Context, s *kernel.Session, p estimate.Problem) (estimate.Outcome, error) {
	return FitAllotment(ctx, s.Allotment(), p, "")
}

// fit is a run of this method.
type fit struct{ *single.Fit }

// FitAllotment fits one Gaussian with all that a has left, measuring only the steps of Steps(p,
// prefix, share) for the same prefix. Every choice depends on what a has left at the start, p and
// released values.
func FitAllotment(ctx context.Context, a *kernel.Allotment, p estimate.Problem, prefix string) (estimate.Outcome, error) {
	f := fit{single.New(ctx, name, a, p, prefix)}
	return f.End(f.run())
}

func (f fit) run() (estimate.Outcome, error) {
	if err := f.Open(f.Problem); err != nil {
		return estimate.Outcome{}, err
	}
	switch {
	case f.Space.Dim() == 0:
		return f.Constant()
	case single.ByFull(f.Problem):
		return f.full()
	case f.Problem.Covariance == estimate.Diagonal:
		return f.diagonal()
	}
	return f.spherical()
}

// roundPart is the part of what is left for the preconditioner. A guess.
const roundPart = .85

// full is TylerPress: precondition, look at the radii, release. Where the rows are no Gaussian's,
// as stage zero, the preconditioner or the radii show, it ends in the rows' own moments.
func (f fit) full() (estimate.Outcome, error) {
	var seen shape
	st, out, err := f.Rounded(roundPart, func(st *tyler.State) (far float64, err error) {
		seen, err = f.look(st)
		return seen.far, err
	})
	switch {
	case err != nil || st == nil:
		return out, err
	case seen.heavy:
		return f.Plain(st)
	}
	return f.gaussian(st, seen)
}

// lastPart of mu^2 is about what the last release gets. A guess.
const lastPart = .7

// Expect gives the rows needed and the expected ratio to the non-private error, from public facts:
// sqrt(predicted error^2 / sampling error^2) of the last release ([TYLERPRESS] Section 10, P5).
func (Estimator) Expect(p estimate.Problem) estimate.Expectation {
	e := single.Expect(p)
	if e.RowsNeeded == 0 || p.Rows <= 0 {
		return e
	}
	n, mu, d := float64(p.Rows), p.Mu*math.Sqrt(lastPart), p.Columns
	switch {
	case single.ByFull(p):
		e.RelativeError = math.Sqrt(planned(p.Relation, d, n, mu).bestRadius2().Cov * n / float64(d*(d+1)))
	case p.Covariance == estimate.Diagonal: // of one variance
		e.RelativeError = math.Sqrt(planned(p.Relation, 1, n, mu/math.Sqrt(float64(d))).bestRadius2().Cov * n / 2)
	default:
		e.RelativeError = math.Sqrt(sphereError(p.Relation, d, n, mu, sphereRadius2(p.Relation, d, n, mu)) * float64(d) * n / 2)
	}
	return e
}
