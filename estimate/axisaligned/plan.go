package axisaligned

import (
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
)

// Parts of the total mu^2, and rounds. Utility constants, guesses.
const (
	stepCount = "count"
	countPart = .01
	emRounds  = 3
	maxRounds = 6 // where there are more components than asked for at first
)

// boxed is the way by boxes. Utility constants.
var boxed = program.Boxed{GapsStep: "gaps", CountsStep: "histograms", TreeStep: "trees of counts", Gaps: .22, Counts: .16, Tree: .16, Keep: .16, Last: .5}

// steps is the worst case of a fit.
func steps(p estimate.Problem) []kernel.Step {
	out := []kernel.Step{{Name: stepCount, Query: query.Count{}.Kind(), Share: countPart, Most: 1, Source: source}}
	out = append(out, boxed.Steps(p.Columns)...)
	return append(out, program.RoundSteps(source, 1, maxRounds, 1)...)
}
