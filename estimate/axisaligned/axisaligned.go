// Package axisaligned learns mixtures of Gaussians with diagonal covariances and any places and
// scales: the method `axis-aligned`.
//
// The course of a fit, all of it released step by step: boxes, column by column (lengths of gaps
// say where there are rows and on what scale); a tree of counts in every box that may hold more
// than one component, whose leaves are fitted by EM for free; private EM on all components.
// Components may be nested, tied in a column, or of weights that differ much.
//
// Source: [AAL21] Section 6 of the restatement.
// Differs: boxes are cut by two histograms instead of a tree; boxes with several components get a
// private coreset instead of splits along the axes; private EM undoes clipping and weighs what is
// measured by its noise.
package axisaligned

import (
	"cmp"
	"context"
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// Estimator is the method "axis-aligned".
type Estimator struct {
	estimate.Named
	known estimate.Estimator
	one   program.OneGaussian

	tuning Tuning
}

// New returns the estimator; known is what it is where the covariance is known, and one is what a
// fit ends in that sees no components.
func New(known estimate.Estimator, one program.OneGaussian) Estimator {
	return Estimator{estimate.Describe(name, source, "a mixture of components with diagonal covariances of any scales: boxes from gaps, then private EM"), known, one, Usual()}
}

var _ estimate.FactUser = Estimator{}

const (
	name   = "axis-aligned"
	source = "AAL21 Section 6"
)

// Uses says that a known covariance is made use of: a learner of its own then learns weights and
// means.
func (Estimator) Uses(estimate.Problem) estimate.Uses { return estimate.Uses{Covariance: true} }

// Plan returns the worst case that Fit may measure, or a *estimate.Refusal for more components than
// the rows can support.
func (e Estimator) Plan(p estimate.Problem) (kernel.Plan, error) {
	if p.KnownCovariance != nil {
		return e.known.Plan(p)
	}
	if p.NoDelta {
		return kernel.Plan{}, program.Refusal("give epsilon and delta instead of rho, or use --method general --covariance diagonal",
			"the method %s has thresholds, which a budget of zCDP cannot pay", name)
	}
	if k := max(p.Components, 1); p.Relation == privacy.ReplaceOne && float64(p.Rows) < leastFor(p) {
		return kernel.Plan{}, program.Refusal(advice(p), "%d rows are too few for %d components at this epsilon", p.Rows, k)
	}
	return kernel.Plan{Method: name, Steps: e.steps(p)}, nil
}

// Fit follows the plan with the whole budget of the session.
func (e Estimator) Fit(ctx context.Context, s *kernel.Session, p estimate.Problem) (estimate.Outcome, error) {
	if p.KnownCovariance != nil {
		return e.known.Fit(ctx, s, p)
	}
	if err := ctx.Err(); err != nil {
		return estimate.Outcome{}, err
	}
	return (&fit{one: e.one, tuning: e.tuning, Run: program.Begin(s, p, advice)}).run(ctx)
}

// Expect says what to expect from public facts.
func (e Estimator) Expect(p estimate.Problem) estimate.Expectation {
	if p.KnownCovariance != nil {
		return e.known.Expect(p)
	}
	return estimate.Expectation{RowsNeeded: needed(p), Notes: []string{
		"components lie apart in some column, or their boxes are split by a tree of counts; covariances are diagonal"}}
}

// rowsFor returns about how many rows k components of equal weight need for a total variation of
// .15: a summary of measured runs.
func rowsFor(p estimate.Problem, k int) float64 {
	return rowsPerComponent * float64(k) * (1 + float64(p.Columns)/rowsColumns) / p.Mu
}

// Utility constants, guesses.
const (
	rowsPerComponent = 100.0
	rowsColumns      = 2.5
	hopeless, scarce = .4, .8 // parts of rowsFor below which a fit is refused, or flagged
)

// leastFor returns the number of rows below which the requested components are not tried: all that
// is seen may be noise.
func leastFor(p estimate.Problem) float64 {
	return math.Max(hopeless*rowsFor(p, max(p.Components, 1)), unseen(p))
}

// unseen returns the number of rows that the count cannot distinguish from none.
func unseen(p estimate.Problem) float64 {
	return seenSDs * program.Factor(p.Relation) / (math.Sqrt(countPart) * p.Mu)
}

// needed returns about how many rows the requested components need, or two components.
func needed(p estimate.Problem) float64 {
	return rowsFor(p, cmp.Or(p.Components, min(2, max(1, p.MaxComponents))))
}

func advice(p estimate.Problem) string { return program.Needs(p, needed(p), "", "fewer components") }
