package axisaligned

import (
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts/boxes"
)

// The steps of the plan.
const (
	stepCount = "count"
	stepGaps  = "gaps"
	stepBins  = "histograms"
	stepTree  = "trees of counts"
	stepEM    = "EM rounds"
	stepLast  = "last round"
)

// Parts of the total mu^2. Utility constants.
const (
	countPart = .01
	gapsPart  = .22
	binsPart  = .16
	treePart  = .16 // only if a box may hold several components
	keepPart  = .16 // for trees and rounds, whatever the boxes are worth
	lastPart  = .5  // of what the rounds get, for the last of them
	maxRounds = 6
)

// steps is the worst case of a fit.
func steps(p estimate.Problem) []kernel.Step {
	moments := query.ClippedMoments{}.Kind()
	out := []kernel.Step{{Name: stepCount, Query: query.Count{}.Kind(), Share: countPart, Most: 1, Source: source}}
	out = append(out, boxes.Steps(boxes.Config{GapsStep: stepGaps, CountsStep: stepBins}, gapsPart, binsPart, 1, p.Columns)...)
	return append(out,
		boxes.TreeStep(stepTree, treePart),
		kernel.Step{Name: stepEM, Query: moments, Share: 1, Most: maxRounds, Source: source},
		kernel.Step{Name: stepLast, Query: moments, Share: 1, Most: 1, Source: source},
	)
}
