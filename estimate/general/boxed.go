package general

import (
	"context"
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/parts/coreset"
)

// Utility constants of the boxes, guesses.
const (
	// Two slices with this part of the rows, so many sds of noise, and so many times the rows of
	// the slices beside them, hold a component thinner than a slice.
	unresolvedPart  = .06
	unresolvedSDs   = 8.0
	unresolvedRatio = 6.0
	leastInside     = .7 // of the rows, that a tree holds if it was laid at the right place
	boxRounds       = 5
)

// boxed is the way by boxes; its parts of mu^2 are taken from the rounds. Utility constants.
var boxed = program.Boxed{GapsStep: stepGaps, CountsStep: "histograms", TreeStep: "trees in boxes", Gaps: .14, Counts: .12, Tree: .10, Keep: .20,
	Rounds: func(int) int { return boxRounds }}

const stepGaps = "gaps"

// unresolved reports that there are scales which the tree cannot see: in some coordinate one or two
// neighbouring slices, as thick as cells of the last level, hold as much as components do, and far
// more than the slices beside them; or much lies outside of the tree.
func unresolved(c *coreset.Coreset, finest []float64, rows float64) bool {
	if c.Total < leastInside*rows {
		return true
	}
	for i, v := range finest {
		side := math.Sqrt(12 * v)
		mass := map[int]float64{}
		cells := map[int]float64{}
		for p, at := range c.Points {
			if c.Cells[p][i] <= v*(1+1e-9) {
				mass[int(math.Floor(at[i]/side))] += c.Weights[p]
				cells[int(math.Floor(at[i]/side))]++
			}
		}
		for s := range mass {
			pair := mass[s] + mass[s+1]
			beside := mass[s-1] + mass[s+2]
			if pair > unresolvedPart*c.Total && pair > unresolvedSDs*c.SD*math.Sqrt(cells[s]+cells[s+1]) && pair > unresolvedRatio*beside {
				return true
			}
		}
	}
	return false
}

// boxed looks for components of any scale, column by column, and ends the fit by private EM from
// the boxes it finds; if it finds none, it is not done, and there are other starts.
//
// Source: [AAL21] Section 6 of the restatement.
// Differs: only where near and far are many octaves apart, or the tree of counts has cells that
// hold as much as components do.
func (f *fit) boxed(ctx context.Context) (out estimate.Outcome, done bool, err error) {
	b := boxed
	b.Columns, b.Form, b.Last, b.Set = f.space.Columns, program.Form(f.Problem.Covariance), f.schedule.final, f.beside
	b.Contest, b.Near, b.Shapes, b.Refine = f.againstOne, nearPart, shapePart, f.refine
	found, _, enough, err := b.Find(ctx, &f.Run)
	if err != nil || !enough {
		return out, err != nil, err
	}
	r, _, err := b.Fit(ctx, &f.Run, found)
	if err != nil {
		return out, true, err
	}
	f.space = r.Space
	return f.outcome(r), true, nil
}
