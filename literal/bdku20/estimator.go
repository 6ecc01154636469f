// Package bdku20 fits one Gaussian whose mean and covariance are known within bounds: the
// iterations of [BDKU20] as published, to compare with and for bounds that are tight.
//
// The covariance first: rows (or, where the mean is unknown, differences of secret pairs of rows)
// are scaled by what is known, clipped, and their noisy second moment makes the scale rounder, t
// times; the last and dearest of the moments is the estimate. Then the mean, of the rows scaled by
// that estimate: each of a few clipped, noisy means shrinks the ball that the next one is clipped
// to. How many steps there are follows from public numbers; every branch is a function of released
// ones.
//
// Source: [BDKU20] Section 2 of the restatement.
package bdku20

import (
	"context"
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/kernel/query/papers"
	"github.com/gauze-dp/gauze/literal/paper"
)

// Estimator is the method "gaussian:coinpress".
type Estimator struct {
	estimate.Named
	c Constants
}

// New returns the estimator with the given constants.
func New(c Constants) Estimator {
	return Estimator{estimate.Describe(name, "BDKU20 Section 2",
		"one Gaussian within stated bounds: CoinPress, iterated clipping of second moments and means"), c}
}

var _ estimate.FactUser = Estimator{}

const name = "gaussian:coinpress"

// Printed returns the method with the settings of the source's experiments: three steps for a
// covariance, two for a mean.
//
// Source: [BDKU20] Section 4 of the restatement.
func (Estimator) Printed() estimate.Estimator {
	c := Printed(3)
	c.MeanSteps = 2
	return New(c)
}

// Uses returns the mean and the eigenvalues: it needs both.
func (Estimator) Uses(estimate.Problem) estimate.Uses {
	return estimate.Uses{Mean: true, Eigenvalues: true}
}

// The steps.
const (
	stepCount      = "count"
	stepCovariance = "covariance"
	stepMean       = "mean"
)

// Plan returns what Fit measures, or a *estimate.Refusal where bounds are missing, or too few rows
// even for a table that fits them tightly.
func (e Estimator) Plan(p estimate.Problem) (kernel.Plan, error) {
	if p.Columns < 1 {
		return kernel.Plan{}, fmt.Errorf("%s: columns: want at least 1, got %d", name, p.Columns)
	}
	if refusal := refuse(p); refusal != nil {
		return kernel.Plan{}, refusal
	}
	s := e.c.schedule(p)
	if p.Relation == privacy.ReplaceOne && p.Mu > 0 {
		if n := float64(p.Rows); n < 2 || s.unknown.covariance && s.noise(n, 1)*s.norm() > e.c.MostNoise {
			return kernel.Plan{}, program.Refusal(e.advice(p),
				"%d rows are too few for a covariance of %d columns at this epsilon, however tight the bounds", p.Rows, p.Columns)
		}
	}
	plan := kernel.Plan{Method: name}
	add := func(step, kind string, share float64, most int, source string) {
		if share > 0 {
			plan.Steps = append(plan.Steps, kernel.Step{Name: step, Query: kind, Share: share, Most: most, Source: source})
		}
	}
	n := float64(p.Rows)
	add(stepCount, query.Count{}.Kind(), s.countShare, 1, "TYLERPRESS Section 0.3")
	kind := query.ClippedMoments{}.Kind()
	if s.unknown.mean {
		kind = papers.PairMoments{}.Kind()
	}
	add(stepCovariance, kind, s.covarianceShare, s.most(n, s.covarianceSteps)+s.pairings()-1, "BDKU20 Section 2.2")
	add(stepMean, query.ClippedMoments{}.Kind(), s.meanShare, s.most(n, s.meanSteps), "BDKU20 Section 2.1")
	return plan, nil
}

// The bounds that this package calculates with: squares and ratios of such numbers stay in float64.
const (
	leastBound = 1e-140
	mostBound  = 1e140
)

// refuse says why the facts of a problem do not do, or is nil.
func refuse(p estimate.Problem) error {
	f := p.Facts
	low, high := f.Eigenvalues[0], f.Eigenvalues[1]
	switch {
	case p.Components > 1:
		return program.OneComponent(name, p)
	case !f.KnowsMean || !f.KnowsEigenvalues():
		return program.Refusal("state them with --mean-within R --eigenvalues-within a,b; or use --method gaussian, which needs none",
			"method %s needs bounds on the mean and on the eigenvalues of the covariance, and knows %v", name, f)
	case f.Validate() != nil || low < leastBound || high > mostBound || f.MeanWithin > mostBound*math.Sqrt(low):
		return program.Refusal("record the columns in units in which they are nearer to 1; or use --method gaussian, which needs no bounds",
			"method %s cannot calculate with these bounds: %v", name, f)
	case f.MeanWithin == 0 && low == high:
		return program.Refusal("state only what is known, with a radius of the mean above 0 or eigenvalues that differ", "nothing is left to learn: %v", f)
	}
	return nil
}

// Fit follows the plan with the whole budget of the session.
func (e Estimator) Fit(ctx context.Context, s *kernel.Session, p estimate.Problem) (estimate.Outcome, error) {
	if refusal := refuse(p); refusal != nil {
		return estimate.Outcome{}, refusal
	}
	r := &run{Run: program.Begin(s, p, e.advice), schedule: e.c.schedule(p)}
	r.Mu2 = r.Left() // shares are spent without a safety factor
	if err := r.countRows(); err != nil {
		return estimate.Outcome{}, err
	}
	if !(r.good >= 2) {
		return r.Refuse("about %.0f rows are too few", math.Max(0, r.good)), nil
	}
	r.known()
	return program.Follow(ctx, r.Refuse, r.outcome, r.covariance, r.mean)
}

// Expect returns the error for the worst covariance within the bounds.
func (e Estimator) Expect(p estimate.Problem) estimate.Expectation {
	if p.Columns < 1 || !(p.Mu > 0) || refuse(p) != nil {
		return estimate.Expectation{}
	}
	s := e.c.schedule(p)
	x := estimate.Expectation{RowsNeeded: s.rowsNeeded(), Notes: []string{
		"for the covariance within the bounds that is hardest to find; one whose eigenvalues are near the upper bound needs fewer rows",
		"the bounds are believed: where they are wrong, so is the estimate",
	}}
	if p.Rows > 0 {
		x.RelativeError = s.relativeError(float64(p.Rows))
	}
	return x
}

// advice says what would help.
func (e Estimator) advice(p estimate.Problem) string {
	const other = "tighter bounds, a larger epsilon, or --method gaussian, which needs no bounds and fewer rows"
	if n := e.c.schedule(p).rowsNeeded(); n > 0 {
		return fmt.Sprintf("about %s rows are enough for any covariance within the bounds; or %s", paper.RowsText(n), other)
	}
	return "many more rows, " + other
}
