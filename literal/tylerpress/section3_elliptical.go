// Package tylerpress is the form of heavy-tailed in [TYLERPRESS] that takes the law for elliptical:
// the method "heavy-tailed:elliptical".
//
// Tyler's iteration rounds the rows, a histogram of the radii shows their law, and all the rest
// buys one release of moments, clipped near the radius of typical rows, whose clipping is undone.
//
// There are no printed constants beside those that run: the source is our own.
//
// Source: [TYLERPRESS] Sections 3 and 4.
package tylerpress

import (
	"context"
	"math"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program/single"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/parts/clip"
	"github.com/gauze-dp/gauze/parts/radial"
	"github.com/gauze-dp/gauze/parts/tyler"
)

// Elliptical is the method "heavy-tailed:elliptical".
type Elliptical struct{}

// NewElliptical returns the method "heavy-tailed:elliptical".
func NewElliptical() Elliptical { return Elliptical{} }

var _ estimate.Estimator = Elliptical{}

// Name is "heavy-tailed:elliptical".
func (Elliptical) Name() string { return "heavy-tailed:elliptical" }

// Summary is one line for lists of methods.
func (Elliptical) Summary() string {
	return "mean and covariance of a heavy-tailed law with elliptical contours, such as a t: fewer rows, no bounds"
}

const source = "TYLERPRESS Section 3"

// Source names the algorithm.
func (Elliptical) Source() string { return source }

// rounded is the problem of rounding the rows: always for a full covariance.
func rounded(p estimate.Problem) estimate.Problem {
	p.Covariance = estimate.Full
	return p
}

// Plan is the worst case that Fit may measure, or a *estimate.Refusal on public facts. Shares are
// worst cases of alternatives.
func (e Elliptical) Plan(p estimate.Problem) (kernel.Plan, error) {
	if err := single.Check(e.Name(), rounded(p)); err != nil {
		return kernel.Plan{}, err
	}
	steps := append(single.Steps(rounded(p), "", 1), tyler.Step("", 1), single.FarStep("", 1),
		kernel.Step{Name: "radius", Query: query.DistanceCounts, Share: single.RadiusPart, Most: 1, Source: source},
		kernel.Step{Name: "moments", Query: query.ClippedMoments{}.Kind(), Share: 1, Most: 1, Source: source})
	return kernel.Plan{Method: e.Name(), Steps: steps}, nil
}

// Fit follows the plan with the whole budget of the session.
func (e Elliptical) Fit(ctx context.Context, s *kernel.Session, p estimate.Problem) (estimate.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return estimate.Outcome{}, err
	}
	f := fit{single.New(ctx, e.Name(), s.Allotment(), p, "")}
	return f.End(f.run())
}

// Expect gives the rows needed, for a law with heavy tails, and nothing of the error, which depends
// on the law.
func (Elliptical) Expect(p estimate.Problem) estimate.Expectation {
	return single.Expect(rounded(p))
}

// fit is a run of this method.
type fit struct{ *single.Fit }

func (f fit) run() (none estimate.Outcome, err error) {
	if err := f.Open(rounded(f.Problem)); err != nil {
		return none, err
	}
	if f.Space.Dim() == 0 {
		return f.Constant()
	}
	st, _, ok, err := f.Round(1, f.RoundingPart(), f.Far)
	switch {
	case err != nil:
		return none, err
	case !ok:
		return none, f.RefuseFar("the rows are not those of one elliptical law: many share one value or lie far out")
	}
	return f.final(st)
}

// How the last release treats rows that are not Gaussian. Utility only, guesses.
const (
	// How wrong, squared and relative, the law's word on what clipping hides may be: for an
	// elliptical law of the Pearson family; for another one.
	trustedExcess = .005
	freeExcess    = .1
	// By how much a free tail must be nearer to the histogram than the Pearson family's before it
	// is believed as much: a limit of radial.Histogram.Law.
	ellipticalMisfit = 8
	// outsideSDs of rows beyond the last radius of the grid are too many.
	outsideSDs = 4
	// Of a law that is surely none of the family, what clipping takes is uncertain; then only so
	// much less noise is borne.
	strange      = .01
	strangeNoise = 2.5
)

// final is the last release for rows of an elliptical law that need not be Gaussian: it spends a
// part on the radii and the rest on clipped moments, and undoes the clipping.
//
// Source: [TYLERPRESS] Sections 3 and 4.3, moments mode.
// Differs: the radius balances predicted errors over a released histogram of all radii; the source
// bisects for a count of rows beyond it and leaves the clipping bias in.
func (f fit) final(st *tyler.State) (none estimate.Outcome, err error) {
	root := st.Root()
	h, err := f.Radii("radius", st, root, math.Sqrt(single.RadiusPart*f.Left()), radial.Edges(st.Rank()))
	if err != nil {
		return none, err
	}
	l, trust := h.Law(ellipticalMisfit)
	mu := f.LeftMu()
	best := l.Clipping(f.Problem.Relation, f.Rows, mu, trust*trustedExcess+(1-trust)*freeExcess, true)
	if h.Beyond(len(h.Edges)-1) > outsideSDs*h.Sigma || !(best.R2 > 0) {
		return none, f.RefuseFar("the rows reach too far for any clipping radius")
	}
	m, err := f.Moments(st, root, best, mu)
	if err != nil {
		return none, err
	}
	bear, told := m.Spectral(), []estimate.Flag(nil)
	if trust < strange {
		bear *= strangeNoise
		told = []estimate.Flag{flags.New(flags.NotGaussian, "the rows' radii are those of no elliptical law of the family that was fitted: what lies beyond the clipping radius is a guess")}
	}
	if values, ok := symmetric.Eigenvalues(m.Second); !ok || !(bear <= single.NoiseLimit*values[0]) {
		return none, f.RefuseFar("the rows reach so far that the noise of the last release is as large as what it measures")
	}
	delta, cov, err := undo(f.Context, l, m.Sum, m.Second, best.R2, clip.LeastEigen)
	if err != nil {
		return none, err
	}
	_, spread := symmetric.FlooredRoot(cov, clip.LeastEigen)
	if _, collapsed := clip.Least(spread); collapsed {
		return none, f.Refuse("the noise hides the spread in some directions")
	}
	return f.Finish(st, root, delta, spread, m.Spectral(), told)
}
