package program

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/partition"
	"github.com/gauze-dp/gauze/parts/privateem"
)

// Boxed learns components of any places and scales: boxes, column by column; trees of counts in
// those that may hold several; private EM from there, in the table's own columns, because
// components of very different scales have no other unit in common.
//
// Source: [AAL21] Section 6 of the restatement.
// Differs: boxes with several components get a private coreset instead of splits along the axes;
// private EM undoes clipping and weighs what is measured by its noise.
type Boxed struct {
	SpacingsStep, CountsStep, TreeStep string
	// Parts of mu^2; Keep is reserved for trees and rounds, whatever the boxes bring.
	Spacings, Counts, Tree, Keep float64
	Columns                      []int // to measure; nil means all
	Form                         query.Form
	// Rounds of EM but the last, which has the part Last of what they get all together.
	Rounds func(start int) int
	Last   float64
	// Overall is the part of mu^2 for the columns' means and spreads, measured before the last
	// round.
	Overall float64
	// Set sets what is the method's own of EM; Contest, Shrink and Means are those of a Schedule,
	// and so are Shapes and Count, as parts of the budget.
	Set           func(*privateem.Rounds)
	Contest       func(context.Context, *privateem.Rounds) error
	Shrink, Means bool
	Shapes, Count float64
	// Before, if set, is done with the components before the last round, and before Overall.
	Before func(*privateem.Rounds) error
	// Refine, if set, is done with the components of the boxes before the rounds.
	Refine func(context.Context, *privateem.Rounds) error
}

// Steps returns the steps that Find, Start and Fit may measure of a table of d columns, besides the
// rounds.
func (b Boxed) Steps(d int) []kernel.Step {
	steps := partition.Steps(partition.Config{SpacingsStep: b.SpacingsStep, CountsStep: b.CountsStep}, b.Spacings, b.Counts, 1, d)
	if steps = append(steps, partition.TreeStep(b.TreeStep, b.Tree)); b.Overall > 0 {
		steps = append(steps, overallStep(b.Overall))
	}
	return steps
}

// Utility constants of the boxes, guesses.
const (
	// a box with less than this part of a component's even share of the rows is dropped, unless it
	// has more rows than this many sds of a histogram's noise, and that part of all
	leastBox, leastBoxSDs, leastBoxPart = .12, 6.0, .006
	// boxes that hold less than this part of the rows are not all there is
	leastHeld = .6
	openBoxes = 6 // components that boxes are made for where their number is not known
)

// BoxesFor returns the number of components that boxes are made for.
func BoxesFor(p estimate.Problem) int { return cmp.Or(p.Components, openBoxes) }

// Find looks for the boxes, and says how many rows they hold; enough is false if they are not all
// there is.
func (b Boxed) Find(ctx context.Context, r *Run) (found []partition.Box, held float64, enough bool, err error) {
	before := slices.Clone(r.Grids)
	found, err = partition.Find(ctx, r.SubBudget, partition.Config{SpacingsStep: b.SpacingsStep, CountsStep: b.CountsStep, SpacingsMu2: b.Spacings * r.Mu2, CountsMu2: b.Counts * r.Mu2,
		Columns: b.Columns, Rows: r.Rows, Least: b.least(r), Components: r.Most(), Open: r.Problem.Components == 0,
		Grids: r.Grids, Keep: b.Keep * r.Mu2})
	r.noteGrids(before)
	held = partition.Held(found)
	return found, held, err == nil && !(held < leastHeld*r.Rows), err
}

// least returns the least number of rows of a box.
func (b Boxed) least(r *Run) float64 {
	columns := r.All
	if b.Columns != nil {
		columns = len(b.Columns)
	}
	clear := leastBoxSDs * r.Factor / parts.Mu(partition.Once(b.Counts*r.Mu2, columns))
	return math.Min(leastBox*r.Rows/float64(BoxesFor(r.Problem)), math.Max(clear, leastBoxPart*r.Rows))
}

// Fit makes components of the boxes; overall is what was measured of the columns, if there is a
// part for it.
func (b Boxed) Fit(ctx context.Context, r *Run, found []partition.Box) (e *privateem.Rounds, overall *Overall, err error) {
	start, held, err := partition.Start(ctx, r.SubBudget, b.TreeStep, found, math.Min(b.Tree*r.Mu2, r.Left()/2),
		partition.StartConfig{Components: r.Problem.Components, Most: r.Most(), Rows: r.Rows, Uniform: Starts})
	if err != nil {
		return nil, overall, err
	}
	space := component.Flat(r.All)
	if b.Columns != nil {
		space = component.Flat(len(b.Columns))
		space.Columns = b.Columns
		for i, g := range start {
			start[i] = within(g, b.Columns)
		}
	}
	e = r.Rounds(space, b.Form, start)
	b.Set(e)
	all, points := around(start)
	e.Outliers, e.Watch = privateem.NewOutliers(all, points...), r.Rows-held > watchPart*r.Rows
	if b.Refine != nil {
		if err := b.Refine(ctx, e); err != nil {
			return nil, overall, err
		}
	}
	rounds, later := b.Rounds(len(start)), b.Overall*r.Mu2
	schedule := Schedule{Next: Even(rounds, parts.Mu((1-b.Last)*(r.Left()-later)/float64(rounds))), ExtraUntil: (rounds + 1) / 2, Contest: b.Contest, Shrink: b.Shrink, Shapes: b.Shapes * r.Mu2, Count: b.Count * r.Mu2, Means: b.Means, Before: b.Before}
	if b.Overall > 0 {
		schedule.Before = func(e *privateem.Rounds) (err error) {
			if b.Before != nil {
				if err := b.Before(e); err != nil {
					return err
				}
			}
			overall, err = r.overall(e, parts.Mu(later))
			return err
		}
	}
	return e, overall, r.EM(ctx, e, schedule)
}

// watchPart: where boxes hold less than all but this part of the rows, the rest is looked for from
// the first round on. A guess.
const watchPart = .005

// around returns all components merged, and the points: the columns where each has one value. Their
// spread is the value itself, or 1.
func around(cs []component.Gaussian) (all component.Gaussian, points []int) {
	all = component.Joined(cs[0], cs[1:]...)
	all.Cov = symmetric.OnlyDiagonal(all.Cov, false)
	for j, m := range all.Mean {
		if partition.IsPoint(m, math.Sqrt(all.Cov.At(j, j))) {
			all.Cov.SetSym(j, j, math.Max(1, m*m))
			points = append(points, j)
		}
	}
	return all, points
}

// within returns g in some of its columns.
func within(g component.Gaussian, columns []int) component.Gaussian {
	out := g
	out.Cov = symmetric.Of(len(columns), func(i, j int) float64 { return g.Cov.At(columns[i], columns[j]) })
	out.Mean = parts.Map(columns, func(a int) float64 { return g.Mean[a] })
	return out
}
