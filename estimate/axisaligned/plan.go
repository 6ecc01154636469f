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
var boxed = program.Boxed{SpacingsStep: "gaps", CountsStep: "histograms", TreeStep: "trees of counts", Spacings: .22, Counts: .16, Tree: .16, Keep: .16, Last: .5, Overall: .05}

// steps returns the worst case of a fit.
func (e Estimator) steps(p estimate.Problem) []kernel.Step {
	out := []kernel.Step{{Name: stepCount, Query: query.Count{}.Kind(), Share: countPart, Most: 1, Source: source}}
	out = append(out, boxed.Steps(p.Columns)...)
	out = append(out, program.RoundSteps(source, 1, maxRounds, 1)...)
	return append(out, e.one.Steps(plain(p), prefixOne, 1)...)
}

// prefixOne comes before the steps of the Gaussian that a fit may end in.
const prefixOne = "one: "

// plain returns the problem of one Gaussian for all rows.
func plain(p estimate.Problem) estimate.Problem {
	p.Components, p.MaxComponents = 1, 1
	if p.Covariance != estimate.Spherical {
		p.Covariance = estimate.Diagonal
	}
	return p
}
