package general

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/estimate/recursive"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/coreset"
	"github.com/gauze-dp/gauze/parts/privateem"
)

const (
	// prefixOne comes before the steps of the Gaussian that a fit with at most one component
	// becomes.
	prefixOne   = "one: "
	prefixUnits = "units: " // comes before those of the search for units
)

// The steps of this package but those of splits and boxes, with their largest shares.
var (
	stepCount   = parts.Step{Name: "count", Query: query.Count{}.Kind(), Share: countPart, Most: 1, Source: source}
	stepCells   = parts.Step{Name: "rows with cells", Query: query.Presence.Of(query.Count{}.Kind()), Share: countPart, Most: 1, Source: source}
	stepMissing = parts.Step{Name: program.StepMissing, Query: query.KindCategoryCounts, Share: gapsPart, Most: program.MostMissing}
	stepGlobal  = parts.Step{Name: "global moments", Query: query.ClippedMoments{}.Kind(), Share: mostGlobal, Most: len(globalShares), Source: source}
	stepTree    = parts.Step{Name: "tree of counts", Query: query.GridCounts{}.Kind(), Share: treePart, Most: 1, Source: "KSSU19 Section C.3"}
	stepColumns = parts.Step{Name: "columns", Query: query.Histogram, Share: shortPart + mostLine/2*mostLooks*mostSplits, Most: 1 + mostLooks*mostSplits, Source: "KSSU19 Section A.4"}
	stepContest = parts.Step{Name: "contest", Query: query.LogRatio{}.Kind(), Share: contestPart + plainAsks*plainPart, Most: 1 + plainAsks, Source: source}
)

// becomesOne reports whether the fit is that of one Gaussian: known from public facts (sure), or
// possible only, because it is the noisy count of good rows that decides. Under replace-one that
// count is never taken for more than n.
func becomesOne(p estimate.Problem) (one, sure bool) {
	switch {
	case p.Components == 1 || p.Components == 0 && p.MaxComponents <= 1:
		return true, true
	case p.Components > 1:
		return false, true
	case p.Relation == privacy.ReplaceOne:
		return true, float64(p.Rows) < rowsOfSeveral(p) && !wide(p, float64(p.Rows))
	}
	return true, false
}

// steps returns the worst case of a fit.
func (e Estimator) steps(p estimate.Problem) (out []kernel.Step) {
	one, sure := becomesOne(p)
	looks, more, contest, columns := mostLooks, 0, stepContest.In("", 1), stepColumns.In("", 1)
	if p.Columns >= leastWide { // what a projection is asked, and a fit from it that ends in another start
		looks, more = 2*mostLooks+1, projectedRounds+openRounds
		contest, columns = stepContest.Times(stepContest.Most+2).In("", 2+projectedPart), stepColumns.Times(2*stepColumns.Most).In("", 2)
	}
	if one {
		out = e.one.Steps(p, prefixOne, 1)
	}
	if one && sure && e.looks(p, float64(p.Rows)) == nil {
		return out
	}
	switch {
	case !one || !sure:
		out = append(e.searchSteps(p), out...)
	case !p.Profiled:
		out = append(out, program.RecordedStep(prefixUnits))
	}
	if one && (sure || e.apart && p.Columns < leastWide) { // a look before the rows are round may end in a tree
		out = append(out, stepTree.Times(treeLevels(p)).In("", 1))
	}
	out = append(out, program.ShapeStep(source, shapePart, 1), kernel.Step{Name: stepDirections, Query: query.Directions{}.Kind(), Share: mostAsked * directionsPart, Most: mostAsked, Source: source},
		kernel.Step{Name: stepSplit, Query: query.PartsOf(query.DistanceCounts), Share: math.Min(1, glancePart+mostLine*float64(looks*mostSplits)), Most: privateem.MostLines * (1 + looks*mostSplits), Source: "KSSU19 Section C.3"}, columns)
	out = append(out, program.RoundSteps(source, 1, maxRounds+more+(2+looks*mostSplits)*mostFrames, 1, contest)...)
	return append(out, program.OutsideStep(source), program.MeansStep(source))
}

// searchSteps returns the steps that look for components in a table with enough rows for that.
func (e Estimator) searchSteps(p estimate.Problem) []kernel.Step {
	out := []kernel.Step{stepCount.In("", 1), stepCells.In("", 1), stepMissing.In("", 1)}
	out = append(out, program.Steps(p, prefixUnits, weakPart)...)
	if !p.NoDelta {
		out = append(out, boxed.Steps(p.Columns)...)
	}
	times, asked := 1, 1.0 // of what is asked in a projection too
	if p.Columns >= leastWide {
		times, asked = 2, 1+projectedPart
		out = append(out, kernel.Step{Name: stepProjected, Query: query.PartsOf(query.ClippedMoments{}.Kind()), Share: floats.Sum(partsParts) + widestCost*mostLooks*mostSplits, Most: len(partsParts) + mostLooks*mostSplits, Source: sourceApart})
	}
	out = append(out, recursive.Steps(prefixApart, 1)...)
	if e.apart && times == 1 {
		return out
	}
	return append(out, stepGlobal.Times(times*len(globalShares)).In("", asked), stepTree.Times(times*treeLevels(p)).In("", asked))
}

// treeLevels is how many levels of the tree of counts are planned.
func treeLevels(p estimate.Problem) int {
	_, last := coreset.Levels(coreset.Dimension(p.Planned().Columns), true)
	return last
}
