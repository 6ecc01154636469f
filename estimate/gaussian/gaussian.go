// Package gaussian fits one distribution without any bound on the data: one Gaussian, by `gauze fit
// --components 1` (the method "gaussian"), and mean and covariance of any law that has them, with
// heavy or light tails (the method "heavy-tailed").
//
// A noisy count of good rows and the units of the columns come first (Fit.Open). Then TylerPress:
// noisy steps of Tyler's iteration on the augmented rows (x, 1), whose sensitivity knows no radius,
// until a certificate computed from released values says that the data look round; a histogram of
// the radii says what kind of law it is; then all the budget that is left buys one clipped moment
// release, and the answer is the Gaussian that this release and the steps agree on, or, for other
// laws, the rows' own moments. HeavyTailed rounds the rows too, sees by a histogram of the radii
// how far they reach, and spends all the rest on one release of moments, clipped where noise and
// clipping cost the same.
//
// Everything measured is a Gaussian measurement of the session's filter; every branch is a function
// of released values and public facts, so a wrong guess can spoil the estimate and never the
// guarantee.
//
// Source: [TYLERPRESS] Sections 1, 3, 4, 7 and 10.
package gaussian

import (
	"context"
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/parts/tyler"
)

// Estimator is the method "gaussian".
type Estimator struct {
	estimate.Named
	tuning Tuning
}

// New returns the estimator.
func New() Estimator {
	return Estimator{estimate.Describe(name, source, "one Gaussian of any location, scale and condition number: TylerPress, then one clipped moment release"), Usual()}
}

var _ estimate.FactUser = Estimator{}

// Uses says that bounds on the eigenvalues save the search for units, where a full covariance is
// fitted.
func (Estimator) Uses(p estimate.Problem) estimate.Uses {
	return estimate.Uses{Eigenvalues: knowsUnits(p)}
}

const name = "gaussian"

const source = "TYLERPRESS Section 4"

// Plan returns the worst case that Fit may measure, or a *estimate.Refusal for a table with fewer
// rows than a fit can ever use.
func (e Estimator) Plan(p estimate.Problem) (kernel.Plan, error) {
	if err := checkOne(name, p); err != nil {
		return kernel.Plan{}, err
	}
	return kernel.Plan{Method: name, Steps: e.tuning.steps(p, "", 1)}, nil
}

// Fit follows the plan with the whole budget of the session.
func (e Estimator) Fit(ctx context.Context, s *kernel.Session, p estimate.Problem) (estimate.Outcome, error) {
	return e.tuning.fit(ctx, s.SubBudget(), p, "", nil)
}

// fit is a run of this method.
type fit struct {
	*Fit
	several program.Several // nil: one Gaussian was asked for
}

func (f *fit) run() (estimate.Outcome, error) {
	if err := f.Open(f.Problem); err != nil {
		return estimate.Outcome{}, err
	}
	if out, done, err := f.early(); err != nil || done {
		return out, err
	}
	switch {
	case f.Space.Dim() == 0:
		return f.Constant()
	case f.byFull:
		return f.full()
	case f.Problem.Covariance == estimate.Spherical:
		return f.spherical()
	}
	f.alone()
	return f.diagonal()
}

// full makes a TylerPress fit: precondition, measure the radii, release. If location and scale, the
// preconditioner or the radii show that the rows are not Gaussian, it ends in the rows' own
// moments.
func (f *fit) full() (estimate.Outcome, error) {
	var seen shape
	looked := false
	look := func(st *tyler.State) (far float64, err error) {
		if !looked {
			seen, err = f.look(st)
		}
		return seen.far, err
	}
	if f.Space.Dim() > fewColumns {
		f.Tyler.Polish = func(st *tyler.State) (bool, error) {
			far, err := look(st)
			looked = true
			return far <= firstFar && !seen.heavy && !seen.outliers, err
		}
	}
	part := f.RoundPart
	if f.Space.Dim() > wideColumns {
		part = wideRoundPart
	}
	st, out, err := f.Rounded(part, look)
	if err != nil || st == nil {
		return out, err
	}
	if f.several != nil && st.Rank() == st.Dim() && f.cells == nil && f.Space.Dim() <= fewColumns {
		space, cov := st.Standard()
		if out, done, err := f.several(f.Context, &f.Run, space, cov, false); err != nil || done {
			return out, err
		}
	}
	if seen.heavy {
		return f.Plain(st)
	}
	return f.reached(st)
}

// earlySteps of the preconditioner are made before the first look for several components: of 2, 3,
// 6 and 8, on mixtures of 12 to 30 columns.
const earlySteps = 2

// early looks for several components before the rows are made round: where there are several that
// costs most of the budget, and shows less of them. What it has measured is where the
// preconditioner starts from.
func (f *fit) early() (out estimate.Outcome, done bool, err error) {
	if f.several == nil || f.cells != nil || f.Tyler.Unit == 0 || f.Space.Dim() < 2 {
		return out, false, nil
	}
	if err := f.centre(); err != nil {
		return out, false, err
	}
	st, ok, err := f.Tyler.Coarse(tyler.New(f.Space), earlySteps)
	if err != nil || !ok {
		return out, false, err
	}
	f.start = st
	space, cov := st.Standard()
	return f.several(f.Context, &f.Run, space, cov, true)
}

// reached counts the rows beyond a Gaussian's reach, and releases the moments with or without a
// part of their own for them.
func (f *fit) reached(st *tyler.State) (none estimate.Outcome, err error) {
	if _, ok := f.hopefulLast(st.Rank(), f.Tyler.Information(st), true); !ok && f.mayEndAlone() {
		return none, f.Refuse(hiddenCovariance)
	}
	frame, err := f.frame(st, st.Root())
	if err != nil {
		return none, err
	}
	beyond, err := f.BeyondGaussian(frame, f.reach2(st.Rank()))
	counted := beyond.Share * f.Good()
	// The model describes the few rows that a Gaussian has there: strayRows, and their sampling.
	beyond.Share = math.Max(0, beyond.Share-(strayRows+straySDs*math.Sqrt(strayRows))/math.Max(f.Rows, 1))
	switch {
	case err != nil:
		return none, err
	case beyond.Share > f.OutlierSDs*beyond.Noise:
		return f.withFar(st, beyond, counted)
	}
	f.Notes.LeavesOut(beyond)
	return f.gaussian(st)
}

// wideRoundPart is Tuning.RoundPart for more than wideColumns: the plain way needs the rest where
// the rows do not get round. A guess.
const wideRoundPart = .85

// In more than fewColumns the last step that makes rows round costs most of what is left, and is
// worth that for a Gaussian's rows alone. A guess.
const fewColumns = 12

// lastPart of mu^2 is about what the last release gets. A guess.
const lastPart = .7

// Expect gives the rows needed and the expected ratio to the non-private error, from public facts:
// sqrt(predicted error^2 / sampling error^2) of the last release ([TYLERPRESS] Section 10, P5).
func (Estimator) Expect(p estimate.Problem) estimate.Expectation {
	e := Expect(p)
	if e.RowsNeeded == 0 || p.Rows <= 0 {
		return e
	}
	n, mu, d := float64(p.Rows), p.Mu*math.Sqrt(lastPart), p.Columns
	switch {
	case goesByFull(p):
		e.RelativeError = math.Sqrt(planned(p.Relation, d, n, mu).bestRadius2().Cov * n / float64(d*(d+1)))
	case p.Covariance != estimate.Spherical:
		noise2 := meanNoise2(program.Factor(p.Relation), float64(d), n, mu*mu)
		a := squares(noise2)
		e.RelativeError = math.Sqrt(1 + noise2*(1+2*a*a)/(2*a*a))
	default:
		e.RelativeError = math.Sqrt(sphereError(p.Relation, d, n, mu, sphereRadius2(p.Relation, d, n, mu)) * float64(d) * n / 2)
	}
	return e
}
