package general

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/parts/boxes"
	"github.com/gauze-dp/gauze/parts/budget"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/coreset"
	"github.com/gauze-dp/gauze/parts/em"
)

// Utility constants of the boxes.
const (
	// Two slices with this part of the rows, so many sds of noise, and so many times the rows of
	// the slices beside them, hold a component thinner than a slice.
	unresolvedPart  = .06
	unresolvedSDs   = 8.0
	unresolvedRatio = 6.0
	leastInside     = .7  // of the rows, that a tree holds if it was laid at the right place
	gapsPart        = .14 // of mu^2, taken from the rounds
	binsPart        = .12
	boxTreePart     = .10
	boxKeepPart     = .20 // for trees and rounds, whatever the boxes are worth
	leastHeld       = .6  // boxes that hold less than this part of the rows are not all there is
	// a box with less than this part of a component's even share of the rows is dropped
	leastBox      = .12
	boxRounds     = 5
	boxComponents = 6 // that boxes are made for where k is not known
)

// stepGaps, .. are the steps of the boxes.
const (
	stepGaps    = "gaps"
	stepBins    = "histograms"
	stepBoxTree = "trees in boxes"
)

// boxSteps are what boxed may measure, besides the rounds.
func boxSteps(p estimate.Problem) []kernel.Step {
	return append(boxes.Steps(boxes.Config{GapsStep: stepGaps, CountsStep: stepBins}, gapsPart, binsPart, 1, p.Columns), boxes.TreeStep(stepBoxTree, boxTreePart))
}

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
			noise := c.SD * math.Sqrt(cells[s]+cells[s+1])
			if pair > unresolvedPart*c.Total && pair > unresolvedSDs*noise && pair > unresolvedRatio*beside {
				return true
			}
		}
	}
	return false
}

// boxed looks for components of any scale, column by column, and runs private EM from the boxes it
// finds; nil if it finds none, and then the tree is all there is to start from.
//
// Source: [AAL21] Section 6 of the restatement.
// Differs: only where the tree of counts has cells that hold as much as components do.
func (f *fit) boxed(ctx context.Context) (*em.Rounds, error) {
	k, most := f.Problem.Components, f.Problem.Components
	if k == 0 {
		k, most = boxComponents, max(f.Problem.MaxComponents, 1)
	}
	found, err := boxes.Find(f.Allotment, boxes.Config{GapsStep: stepGaps, CountsStep: stepBins, GapsMu2: gapsPart * f.Mu2, CountsMu2: binsPart * f.Mu2,
		Columns: f.space.Columns, Rows: f.Rows, Least: leastBox * f.Rows / float64(k), Components: most, RoundedTo: f.Problem.RoundedTo, Keep: boxKeepPart * f.Mu2})
	if err != nil || boxes.Held(found) < leastHeld*f.Rows {
		return nil, err
	}
	start, err := boxes.Start(f.Allotment, stepBoxTree, found, math.Min(boxTreePart*f.Mu2, f.Left()/2),
		boxes.Choice{Components: f.Problem.Components, Most: f.Problem.MaxComponents, Rows: f.Rows, Uniform: startsOf})
	if err != nil {
		return nil, err
	}
	return f.boxEM(ctx, start)
}

// boxEM runs the rounds of private EM in the table's own columns: components of very different
// scales have no other unit in common.
func (f *fit) boxEM(ctx context.Context, start []component.Gaussian) (*em.Rounds, error) {
	own := f.space.Columns
	f.space = component.Space{Columns: own, Center: make([]float64, len(own)), Scale: ones(len(own))}
	r := f.rounds()
	r.Grid = program.Grid(f.space, f.Problem.RoundedTo)
	r.Gone, r.MostDoubt = goneRows, mostDoubt
	if f.Problem.Components > 0 {
		r.Gone, r.MostDoubt = goneAsked, 0
	}
	for _, c := range start {
		g := c
		g.Mean, g.Cov = make([]float64, len(own)), mat.NewSymDense(len(own), nil)
		for i, a := range own {
			g.Mean[i] = c.Mean[a]
			for j, b := range own[:i+1] {
				g.Cov.SetSym(i, j, c.Cov.At(a, b))
			}
		}
		r.Components = append(r.Components, g)
	}
	per := budget.Mu((1 - f.schedule.final) * f.Left() / boxRounds)
	for i := range boxRounds {
		if k := f.Problem.Components; k > 0 && 2*i >= boxRounds {
			r.Reduce(k)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := r.Round(f.Allotment, "EM rounds", per, false); err != nil {
			return nil, err
		}
		if f.Problem.Components == 0 {
			r.Merge(f.LeftMu())
		}
	}
	if f.Problem.Components == 0 {
		r.Simplify(f.LeftMu(), draws)
	}
	return r, r.Round(f.Allotment, "last round", f.LeftMu(), true)
}
