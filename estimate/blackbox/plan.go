package blackbox

import (
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/blocks"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// The steps of the plan.
const (
	stepCount  = "count"
	stepCells  = "rows with cells"
	stepBlocks = "agreement of blocks"
)

// Utility constants, guesses.
const (
	deltaPart = .2  // of delta, for the test
	countPart = .01 // of the Gaussian steps' mu^2
	gapsPart  = .02 // .. for the missing cells of components
	// spared is the part of delta, and of the test's, that is left for the precision of the mask
	spared     = 1e-5
	mostRounds = 16
	mostTest   = .9 // so that EM has something left
)

// divide returns the mask's part of what all steps together cost, and the test's of the Gaussian
// steps' mu^2, of which EM gets the rest.
func (t Tuning) divide(k int) (mask, test float64) {
	if k == 1 {
		return t.MaskOfOne, math.Min(t.TestOfOne, mostTest)
	}
	return t.Mask, math.Min(t.Test, mostTest)
}

// rounds of EM, and by how much mu^2 grows from one to the next: one component is where it belongs
// after the first, several move one another, and the more so the more they overlap. Utility
// constants.
func rounds(k int, overlap float64) (n int, growth float64) {
	switch {
	case k == 1:
		return 2, 6
	case overlap < .1:
		return 7, 1.6
	case overlap < .2:
		return 11, 1.35
	}
	return mostRounds, 1.25
}

// steps returns the worst case of a fit.
func (t Tuning) steps(p estimate.Problem, mask privacy.CovarianceMask) []kernel.Step {
	k := components(p)
	_, test := t.divide(k)
	rest := 1 - countPart - test
	return append([]kernel.Step{
		{Name: stepCount, Query: query.Count{}.Kind(), Share: countPart, Most: 1, Source: source},
		{Name: stepBlocks, Query: blocks.Stability{}.Kind(), Share: test, Most: 1, Source: source,
			Extra: blocks.Agreement{Mask: mask, Delta: deltaPart * p.Budget.Delta}},
		{Name: stepCells, Query: query.Presence.Of(query.Count{}.Kind()), Share: countPart, Most: 1, Source: source},
		{Name: program.StepMissing, Query: query.KindCategoryCounts, Share: gapsPart, Most: program.MostMissing},
	}, program.RoundSteps(source, rest, mostRounds-1, rest, program.ShapeStep(source, t.ShapePart, 1))...)
}
