package blackbox

import (
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
	stepBlocks = "agreement of blocks"
)

// Utility constants, guesses.
const (
	deltaPart = .2  // of delta, for the test
	countPart = .01 // of the Gaussian steps' mu^2
	// spared is the part of delta, and of the test's, that is left for the precision of the mask
	spared     = 1e-5
	mostRounds = 16
)

// divide returns the mask's part of what all steps together cost, and the test's of the Gaussian
// steps' mu^2, of which EM gets the rest. Utility constants: blocks agree on one component from so
// few rows that EM is what needs the budget.
func divide(k int) (mask, test float64) {
	if k == 1 {
		return .15, .36
	}
	return .3, .62
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
func steps(p estimate.Problem, mask privacy.CovarianceMask) []kernel.Step {
	k := components(p)
	_, test := divide(k)
	rest := 1 - countPart - test
	return append([]kernel.Step{
		{Name: stepCount, Query: query.Count{}.Kind(), Share: countPart, Most: 1, Source: source},
		{Name: stepBlocks, Query: blocks.Stability{}.Kind(), Share: test, Most: 1, Source: source,
			Extra: blocks.Agreement{Mask: mask, Delta: deltaPart * p.Budget.Delta}},
	}, program.RoundSteps(source, rest, mostRounds-1, rest, program.ShapeStep(source, shapePart, 1))...)
}
