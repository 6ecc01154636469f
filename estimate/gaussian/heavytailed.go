package gaussian

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts/radial"
)

// HeavyTailed is the method "heavy-tailed", which assumes nothing of the shape of the law, or
// "heavy-tailed:elliptical", which takes it for elliptical: mean and covariance of any law that has
// them, without bounds. The Gaussian's preconditioner rounds the rows; a histogram of the radii
// then shows how far they reach; and all the rest buys one release of moments, clipped where noise
// and clipping cost the same.
//
// Source: [TYLERPRESS] Sections 3 and 4.
type HeavyTailed struct{ elliptical bool }

// NewHeavyTailed returns the method "heavy-tailed".
func NewHeavyTailed() HeavyTailed { return HeavyTailed{} }

// NewElliptical returns the method "heavy-tailed:elliptical".
func NewElliptical() HeavyTailed { return HeavyTailed{elliptical: true} }

var _ estimate.Estimator = HeavyTailed{}

// Name is "heavy-tailed" or "heavy-tailed:elliptical".
func (h HeavyTailed) Name() string {
	if h.elliptical {
		return "heavy-tailed:elliptical"
	}
	return "heavy-tailed"
}

// Summary is one line for lists of methods.
func (h HeavyTailed) Summary() string {
	if h.elliptical {
		return "mean and covariance of a heavy-tailed law with elliptical contours, such as a t: fewer rows, no bounds"
	}
	return "mean and covariance of any law, with heavy or light tails: no bounds, no assumption on the shape"
}

// Source names the algorithm.
func (HeavyTailed) Source() string { return "TYLERPRESS Section 3" }

// full reports that the fit goes by way of a full covariance; if not, every column is fitted by
// itself.
func (h HeavyTailed) full(p estimate.Problem) bool {
	return h.elliptical || p.Covariance == estimate.Full || p.Columns <= diagonalByFull
}

// rounded is the problem of rounding the rows: for a full covariance if the fit goes by way of one.
func (h HeavyTailed) rounded(p estimate.Problem) estimate.Problem {
	if h.full(p) {
		p.Covariance = estimate.Full
	} else {
		p.Covariance = estimate.Diagonal
	}
	return p
}

// Plan is the worst case that Fit may measure, or a *estimate.Refusal on public facts.
func (h HeavyTailed) Plan(p estimate.Problem) (kernel.Plan, error) {
	if p.Columns < 1 {
		return kernel.Plan{}, fmt.Errorf("%s: columns: want at least 1, got %d", h.Name(), p.Columns)
	}
	if p.Components > 1 {
		return kernel.Plan{}, &estimate.Refusal{
			Reason: fmt.Sprintf("method %s fits one component, %d were asked for", h.Name(), p.Components),
			Advice: "use --components 1, or --method general for a mixture",
		}
	}
	if p.Relation == privacy.ReplaceOne && float64(p.Rows) < leastRows(h.rounded(p)) {
		return kernel.Plan{}, &estimate.Refusal{
			Reason: fmt.Sprintf("the table has %d rows, too few for a fit of %d columns at any epsilon", p.Rows, p.Columns),
			Advice: advice(h.rounded(p)),
		}
	}
	return kernel.Plan{Method: h.Name(), Steps: h.steps(p)}, nil
}

// steps are the plan's; shares are worst cases of alternatives.
func (h HeavyTailed) steps(p estimate.Problem) []kernel.Step {
	const section3, section4 = "TYLERPRESS Section 3", "TYLERPRESS Section 4"
	steps := []kernel.Step{
		{Name: "count", Query: query.Count{}.Kind(), Share: countPart, Most: 1, Source: "TYLERPRESS Section 0.3"},
	}
	steps = append(steps, unitSteps(h.rounded(p), "", 1)...)
	releases := 1
	if h.full(p) {
		steps = append(steps,
			kernel.Step{Name: "directions", Query: query.Directions{}.Kind(), Share: 1, Most: 2*maxSteps + 2, Source: section4},
			kernel.Step{Name: "tail", Query: query.TailCounts, Share: 2 * tailPart, Most: 2, Source: section4})
	} else {
		releases = p.Columns
	}
	return append(steps,
		kernel.Step{Name: "radius", Query: query.DistanceCounts, Share: radiusPart, Most: releases, Source: section3},
		kernel.Step{Name: "moments", Query: query.ClippedMoments{}.Kind(), Share: 1, Most: releases, Source: section3})
}

// Fit follows the plan with the whole budget of the session.
func (h HeavyTailed) Fit(ctx context.Context, s *kernel.Session, p estimate.Problem) (estimate.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return estimate.Outcome{}, err
	}
	a := s.Allotment()
	p.Mu, p.Columns, p.Relation = a.LeftMu(), s.Columns(), s.Relation()
	if !(p.Mu > 0) {
		return estimate.Outcome{}, fmt.Errorf("%s: %w", h.Name(), kernel.ErrExhausted)
	}
	r := &run{a: a, problem: h.rounded(p), mu2: a.Left()}
	if out, done, err := r.ready(); err != nil || done {
		return out, err
	}
	r.problem.Covariance = p.Covariance
	if len(r.kept) == 0 {
		return r.constant()
	}
	if h.full(p) {
		return r.fitRounded(h.elliptical)
	}
	return r.fitColumns()
}

// plentyRows times the rows needed bear the noise of the t_nu step from the start, which rounds
// rows with atoms better.
const plentyRows = 3

// The steps of the preconditioner cost a part of mu^2 that falls with the square of the rows:
// roundPart is what they get, and at least roundLeast for the last of them, which makes the frame
// better than it must be.
const (
	roundLeast, roundMost = .06, .6
	roundFactor           = 1.5
)

// roundPart is the part of what is left for the preconditioner: less than for a Gaussian, whose
// last release uses its steps again.
func (r *run) roundPart() float64 {
	need := rowsNeeded(r.problem) / r.rows
	return math.Min(math.Max(roundFactor*need*need, roundLeast), roundMost)
}

// fitRounded rounds the rows, again with a step that bears more if an atom may have fooled the
// first, and releases their moments.
func (r *run) fitRounded(elliptical bool) (estimate.Outcome, error) {
	start := newState(r.kept, r.units)
	limits := [...]float64{firstTailLimit, secondTailLimit}
	flagged := false
	for pass := range limits {
		nu := 1.0
		if pass > 0 || r.rows > plentyRows*rowsNeeded(r.problem) {
			nu = float64(len(start.m))
		}
		st, ok, err := r.precondition(start.clone(), nu, r.roundPart())
		if err != nil {
			return estimate.Outcome{}, err
		}
		if !ok {
			continue
		}
		share, err := r.tailShare(st, nu)
		if err != nil {
			return estimate.Outcome{}, err
		}
		if share <= limits[pass] {
			return r.finalHeavy(st, elliptical, nil)
		}
		flagged = true
	}
	if flagged {
		return r.refuseFar("too many rows share one value or lie far out")
	}
	return r.unresolved()
}

// fitColumns fits every column by itself, at mu/sqrt(d) each.
//
// Source: [TYLERPRESS] Sections 3 and 4.3 with d = 1.
func (r *run) fitColumns() (estimate.Outcome, error) {
	d := len(r.kept)
	mean, factor := make([]float64, d), mat.NewDense(d, d, nil)
	radii := math.Sqrt(radiusPart * r.a.Left() / float64(d))
	muMoments := math.Sqrt((1-radiusPart)*r.a.Left()/float64(d)) * (1 - 1e-12)
	worst := 0.0
	for i, j := range r.kept {
		st := &state{columns: []int{j}, center: []float64{r.units.Center[j]}, scale: []float64{sdOfOctave * r.units.Scale[j]},
			m: []float64{0}, w: identity(1), wi: identity(1)}
		h, ok, err := r.countRadii("radius", st, 1, radii, radial.Edges(1))
		if err != nil {
			return estimate.Outcome{}, err
		}
		if !ok {
			return r.columnRefused(j, nil)
		}
		l, _ := h.Law(looseMisfit)
		best := bestClipping(r.problem.Relation, l, r.rows, muMoments, looseExcess, false)
		if !(best.r2 > 0) {
			return r.columnRefused(j, nil)
		}
		first, second, noise, err := r.momentsAt(st, 1, math.Sqrt(best.r2), best.lift, muMoments)
		if err != nil {
			return estimate.Outcome{}, err
		}
		if second == nil || !trusted(second, noise/math.Sqrt2) {
			return r.columnRefused(j, nil)
		}
		_, cov := l.Proportional(first, second, best.r2)
		if !(cov.At(0, 0) > leastEigen) {
			return r.columnRefused(j, nil)
		}
		mean[i] = st.raw(first, 1)[0]
		factor.Set(i, i, st.scale[0]*math.Sqrt(cov.At(0, 0)))
		worst = math.Max(worst, noise/math.Sqrt2/cov.At(0, 0))
	}
	return r.release(mean, factor, nil, worst)
}

// Expect gives the rows needed, for a law with heavy tails, and nothing of the error, which depends
// on the law.
func (h HeavyTailed) Expect(p estimate.Problem) estimate.Expectation {
	if !(p.Mu > 0) || p.Columns < 1 {
		return estimate.Expectation{}
	}
	e := estimate.Expectation{RowsNeeded: rowsWithinTwice(h.rounded(p))}
	needed := rowsNeeded(h.rounded(p))
	if n := float64(p.Rows); n > 0 && n < needed/tooFew(p) {
		e.Notes = append(e.Notes, "too few rows: a fit would spend the count and end without a release")
	} else if n > 0 && n < needed {
		e.Notes = append(e.Notes, "few rows: fit may end without a release")
	}
	return e
}
