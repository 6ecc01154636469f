package gaussian

import (
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts/stagezero"
)

// Steps are the steps that FitAllotment may measure for the problem, with prefix before their
// names, when it is given share of the total mu^2. The shares are worst cases of alternatives and
// sum to more than share: the allotment holds the total.
func Steps(p estimate.Problem, prefix string, share float64) []kernel.Step {
	const section4 = "TYLERPRESS Section 4"
	steps := []kernel.Step{
		{Name: prefix + "count", Query: query.Count{}.Kind(), Share: share * countPart, Most: 1, Source: "TYLERPRESS Section 0.3"},
	}
	steps = append(steps, unitSteps(p, prefix, share)...)
	moments := kernel.Step{Name: prefix + "moments", Query: query.ClippedMoments{}.Kind(), Share: share, Most: 1, Source: section4}
	radius := kernel.Step{Name: prefix + "radius", Query: query.DistanceCounts, Share: share * radiusPart, Most: 1, Source: "TYLERPRESS Section 3"}
	tail := kernel.Step{Name: prefix + "tail", Query: query.TailCounts, Share: share * 2 * tailPart, Most: 2, Source: section4}
	switch {
	case byFull(p):
		tail.Query, tail.Share = query.DistanceCounts, share*2*shapePart
		return append(steps,
			kernel.Step{Name: prefix + "directions", Query: query.Directions{}.Kind(), Share: share, Most: 2*maxSteps + 2, Source: section4},
			tail, radius, moments)
	case p.Covariance == estimate.Diagonal:
		moments.Most = 2 * max(1, p.Columns)
		return append(steps, moments,
			kernel.Step{Name: prefix + "far", Query: query.ColumnCounts, Share: share * farPart, Most: 1, Source: section4})
	default:
		moments.Most = 2
		return append(steps, tail, moments)
	}
}

// unitSteps are the steps of findUnits.
func unitSteps(p estimate.Problem, prefix string, share float64) []kernel.Step {
	steps := stagezero.Steps(prefix, share*stagezero.LargestPart, share*scaleShare(p))
	if usesPairs(p) {
		steps = append(steps, stagezero.SpreadStep(prefix, share*stagezero.SpreadPart))
		if !byFull(p) {
			steps = append(steps, stagezero.FindCentersStep(prefix, share*stagezero.LargestPart))
		}
	}
	return steps
}
