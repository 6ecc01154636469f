package gaussian

import (
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/columns"
	"github.com/gauze-dp/gauze/parts/tyler"
)

// The steps of this package beside those of parts/columns and parts/tyler, with their largest
// shares. The cells, and the rows that lack some, are counted in a view.
var (
	stepCount      = parts.Step{Name: "count", Query: query.Presence.Of(query.DistanceCounts), Share: countPart, Most: 1, Source: "TYLERPRESS Section 0.3"}
	stepCells      = parts.Step{Name: "cells", Query: query.Cells.Of(query.ColumnCounts), Share: cellsPart, Most: 1, Source: "TYLERPRESS Section 0.3"}
	stepPairs      = parts.Step{Name: "pairs", Query: query.Presence.Of(query.ClippedMoments{}.Kind()), Share: pairsPart, Most: 1, Source: "TYLERPRESS Section 0.3"}
	stepBeyond     = parts.Step{Name: "beyond", Query: query.TailCounts, Share: beyondMost, Most: 1, Source: "TYLERPRESS Section 4.5 (a)"}
	stepFarColumns = parts.Step{Name: "far columns", Query: query.ColumnCounts, Share: columnsMost, Most: 1, Source: "TYLERPRESS Section 4.5 (a)"}
	stepTail       = parts.Step{Name: "tail", Query: query.TailCounts, Share: farPart, Most: 1, Source: "TYLERPRESS Section 4"}
	stepRadii      = parts.Step{Name: stepTail.Name, Query: query.DistanceCounts, Share: 1, Most: 1, Source: source} // share: Tuning.ShapePart or radiiPart
	stepFar        = parts.Step{Name: "far", Query: query.DistanceCounts, Share: farPartMost, Most: 1, Source: source}
	stepMoments    = parts.Step{Name: "moments", Query: query.ClippedMoments{}.Kind(), Share: 1, Most: 2, Source: source}
)

// Steps returns the steps that FitSubBudget may measure for the problem, with prefix before their
// names, when it is given share of the total mu^2. The shares are worst cases of alternatives and
// sum to more than share: the sub-budget holds the total.
func Steps(p estimate.Problem, prefix string, share float64) []kernel.Step {
	return Usual().steps(p, prefix, share)
}

func (t Tuning) steps(p estimate.Problem, prefix string, share float64) []kernel.Step {
	steps := append(openSteps(p, prefix, share), plainSteps(p, prefix, share)...)
	byFull, byColumns := mayGo(p)
	if byFull || p.Components == 0 && wayIsFull(p) { // or early looks for several
		steps = append(steps, tyler.Step.In(prefix, share))
	}
	if byFull {
		steps = append(steps, stepFar.In(prefix, share))
	}
	beyond, radii, moments := stepBeyond, stepRadii, stepMoments
	switch {
	case mayEndAlone(p):
		beyond, radii, moments = beyond.Times(2), radii.Times(2), moments.Times(2)
		beyond.Share, radii.Share = 2*beyondMost, t.ShapePart+aloneRadii
	case byColumns:
		moments, radii.Share = moments.Times(2), math.Max(t.ShapePart, radiiPart)
	default:
		moments, radii.Share = moments.Times(1), t.ShapePart
	}
	return append(steps, beyond.In(prefix, share), radii.In(prefix, share), moments.In(prefix, share))
}

// openSteps returns those of Open.
func openSteps(p estimate.Problem, prefix string, share float64) []kernel.Step {
	steps := partialSteps(p, prefix, share)
	if p.Profiled {
		return append(steps, program.OthersSteps(prefix, share)...)
	}
	_, byColumns := mayGo(p)
	steps = append(steps, columns.UnitsSteps(prefix, share*columns.LargestPart, share*scaleShare(!byColumns))...)
	steps = append(steps, columns.SparseStep.In(prefix, share*sparsePart))
	if usesPairs(p) {
		steps = append(steps, columns.SpreadStep.In(prefix, share*spreadPart(!byColumns)))
		if byColumns {
			steps = append(steps, columns.CentersStep.In(prefix, share*columns.LargestPart))
		}
	}
	return steps
}

// plainSteps returns those of Uneven and Plain.
func plainSteps(p estimate.Problem, prefix string, share float64) []kernel.Step {
	steps := append(columns.MomentsSteps(prefix, share, 1), columns.ReachStep.In(prefix, share))
	byFull, byColumns := mayGo(p)
	if !byFull {
		return steps
	}
	steps = append(steps, stepFarColumns.In(prefix, share))
	if usesPairs(p) && !p.Profiled && !byColumns {
		steps = append(steps, columns.CentersStep.In(prefix, share*columns.LargestPart))
	}
	return append(steps, columns.MomentsSteps(prefix+roundPrefix, share, plainRounds-1)...)
}

// partialSteps returns those of countRows and usePartial.
func partialSteps(p estimate.Problem, prefix string, share float64) []kernel.Step {
	own := prefix + partialPrefix
	steps := []kernel.Step{stepCount.In(prefix, share), stepPairs.In(own, share)}
	if p.Profiled {
		steps = append(append(steps, stepCells.In(own, share)), inView(query.Cells, program.OthersSteps(own, share)...)...)
	} else {
		steps = append(steps, inView(query.Cells, columns.UnitsSteps(own, share*columns.LargestPart, share*columns.ScalePart)...)...)
		steps = append(append(steps, stepCells.In(own, share)), inView(query.Cells, columns.SparseStep.In(own, share*sparsePart))...)
	}
	return append(steps, inView(query.Filled, columns.MomentsSteps(own, share, 2)...)...)
}

// inView returns the steps as they are taken in a view.
func inView(as query.View, steps ...kernel.Step) []kernel.Step {
	for i := range steps {
		steps[i].Query = as.Of(steps[i].Query)
	}
	return steps
}
