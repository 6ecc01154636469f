// Package gaussian fits one distribution without any bound on the data: `gauze fit --components 1`.
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
	"fmt"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// Estimator is the method "gaussian".
type Estimator struct{}

// New returns the estimator.
func New() Estimator { return Estimator{} }

var _ estimate.FactUser = Estimator{}

// Uses says that bounds on the eigenvalues save the search for units, where a full covariance is
// fitted.
func (Estimator) Uses(p estimate.Problem) estimate.Uses {
	return estimate.Uses{Eigenvalues: knowsUnits(p)}
}

// Name is "gaussian".
func (Estimator) Name() string { return "gaussian" }

// Summary is one line for lists of methods.
func (Estimator) Summary() string {
	return "one Gaussian of any location, scale and condition number: TylerPress, then one clipped moment release"
}

// Source names the algorithm.
func (Estimator) Source() string { return "TYLERPRESS Section 4" }

// Plan is the worst case that Fit may measure, or a *estimate.Refusal for a table with fewer rows
// than a fit can ever use.
func (Estimator) Plan(p estimate.Problem) (kernel.Plan, error) {
	if p.Columns < 1 {
		return kernel.Plan{}, fmt.Errorf("gaussian: columns: want at least 1, got %d", p.Columns)
	}
	if p.Components > 1 {
		return kernel.Plan{}, &estimate.Refusal{
			Reason: fmt.Sprintf("method gaussian fits one component, %d were asked for", p.Components),
			Advice: "use --components 1, or --method general for a mixture",
		}
	}
	if p.Relation == privacy.ReplaceOne && float64(p.Rows) < leastRows(p) {
		return kernel.Plan{}, &estimate.Refusal{
			Reason: fmt.Sprintf("the table has %d rows, too few for a fit of %d columns at any epsilon", p.Rows, p.Columns),
			Advice: advice(p),
		}
	}
	return kernel.Plan{Method: "gaussian", Steps: Steps(p, "", 1)}, nil
}

// Fit follows the plan with the whole budget of the session.
func (Estimator) Fit(ctx context.Context, s *kernel.Session, p estimate.Problem) (estimate.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return estimate.Outcome{}, err
	}
	return FitAllotment(s.Allotment(), p, "")
}

// FitAllotment fits one Gaussian with all that a has left, measuring only the steps of Steps(p,
// prefix, share) for the same prefix. Every choice depends on what a has left at the start, p and
// released values.
func FitAllotment(a *kernel.Allotment, p estimate.Problem, prefix string) (estimate.Outcome, error) {
	p.Mu = a.LeftMu()
	p.Columns = a.Session().Columns()
	p.Relation = a.Session().Relation()
	r := &run{a: a, problem: p, prefix: prefix, mu2: a.Left()}
	if !(p.Mu > 0) {
		return estimate.Outcome{}, fmt.Errorf("gaussian: %w", kernel.ErrExhausted)
	}
	if out, done, err := r.ready(); err != nil || done {
		return out, err
	}
	switch {
	case len(r.kept) == 0:
		return r.constant()
	case byFull(p):
		return r.fitFull()
	case p.Covariance == estimate.Diagonal:
		return r.fitDiagonal()
	}
	return r.fitSpherical()
}

// byFull reports that the fit goes by way of a full covariance: also for few uncorrelated columns,
// where one release of all second moments has less noise than a release per column (sqrt2 (R^2+b^2)
// with R^2 near d against sqrt d times that at d = 1).
func byFull(p estimate.Problem) bool {
	return p.Covariance == estimate.Full || p.Columns == 1 || p.Covariance == estimate.Diagonal && p.Columns <= diagonalByFull ||
		p.Covariance == estimate.Spherical && p.Columns <= sphericalByFull
}

// The largest d at which special shapes are fitted by way of the full covariance.
const (
	diagonalByFull  = 24
	sphericalByFull = 4
)

// fitFull is TylerPress: precondition, look at the radii, release. What was released says which way
// it ends: as a Gaussian, as moments of any law, after a second preconditioner that atoms do not
// collapse, or not at all.
func (r *run) fitFull() (estimate.Outcome, error) {
	start := newState(r.kept, r.units)
	st, ok, err := r.precondition(start.clone(), 1, firstPassPart)
	if err != nil {
		return estimate.Outcome{}, err
	}
	var seen shape
	if ok {
		if seen, err = r.radialShape(st, 1); err != nil {
			return estimate.Outcome{}, err
		}
	}
	switch {
	case ok && seen.far <= firstTailLimit && seen.heavy:
		return r.finalMoments(st)
	case ok && seen.far <= firstTailLimit:
		return r.finalGaussian(st, seen)
	}
	wasOK := ok
	if st, ok, err = r.precondition(start, float64(len(start.m)), secondPassPart); err != nil {
		return estimate.Outcome{}, err
	}
	if !ok {
		if wasOK {
			return r.refuseFar("too many rows share one value or lie far out, and the noise hides the spread of the others")
		}
		return r.unresolved()
	}
	if seen, err = r.radialShape(st, st.nu); err != nil {
		return estimate.Outcome{}, err
	}
	if seen.far > secondTailLimit {
		return r.refuseFar("too many rows share one value or lie far out for a Gaussian fit")
	}
	return r.finalMoments(st)
}
