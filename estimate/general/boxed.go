package general

import (
	"context"
	"slices"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/coreset"
)

// A cell of a tree holds a component far smaller than itself if it has this part of the rows, this
// many sds of noise, and this many times the rows of all cells that touch it; in more directions
// than unresolvedIn a cell is a quarter of the whole wide, and what it holds is better left to
// rounds. Utility constants, chosen on families of made-up tables of 3,000 to 100,000 rows in two
// to twenty columns: against slices of cells, which sent clusters a few cells apart to boxes too.
const (
	unresolvedIn    = 3
	unresolvedPart  = .06
	unresolvedSDs   = 8.0
	unresolvedRatio = 3.0
	boxRounds       = 5
)

// boxed is the way by boxes; its parts of mu^2 are taken from the rounds. Utility constants.
var boxed = program.Boxed{SpacingsStep: stepGaps, CountsStep: "histograms", TreeStep: "trees in boxes", Spacings: .14, Counts: .12, Tree: .10, Keep: .20,
	Rounds: func(int) int { return boxRounds }}

const stepGaps = "gaps"

// unresolved reports that there are scales which the tree cannot see.
func unresolved(c *coreset.Coreset) bool {
	touching := c.Touching()
	return c.Dim <= unresolvedIn && slices.ContainsFunc(parts.Upto(len(c.Points)), func(i int) bool {
		beside := parts.Sum(touching[i], func(j int) float64 { return c.Weights[j] })
		return c.Weights[i] > max(unresolvedPart*c.Total, unresolvedSDs*c.SD, unresolvedRatio*beside)
	})
}

// boxed looks for components of any scale, column by column, and ends the fit by private EM from
// the boxes it finds; if it finds none, it is not done, and there are other starts.
//
// Source: [AAL21] Section 6 of the restatement.
// Differs: only where near and far are many octaves apart, or the tree of counts has a cell that
// holds as much as a component does.
func (f *fit) boxed(ctx context.Context) (out estimate.Outcome, done bool, err error) {
	f.drawn, f.odds = f.table, 1
	f.asks(true)
	b := boxed
	b.Columns, b.Form, b.Last, b.Set = f.space.Columns, program.Form(f.Problem.Covariance), f.schedule.final, f.beside
	b.Contest, b.Shrink, b.Shapes, b.Count, b.Refine = f.againstOne, !f.method.Without.Shrink, shapePart, f.OutsidePart(), f.refine
	b.Before, b.Means = f.last, !f.method.Without.Means
	f.keepForGaps()
	found, _, enough, err := b.Find(ctx, &f.Run)
	if err != nil || !enough {
		f.giveBack()
		return out, err != nil, err
	}
	r, _, err := b.Fit(ctx, &f.Run, found)
	if err != nil {
		return out, true, err
	}
	f.space = r.Space
	return f.outcome(r), true, nil
}
