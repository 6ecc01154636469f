package blackbox

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/blocks"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/privateem"
)

// fit is the state of one run.
type fit struct {
	program.Run
	of Estimator
	k  int
	// Of rows that lack cells: the table as it is, how many rows have some cell, released, and what
	// is kept for the missing cells of components. 0 and nil if none are completed.
	read     *kernel.SubBudget
	someCell float64
	gaps     *kernel.SubBudget
}

// run makes the whole fit.
func (f *fit) run(ctx context.Context) (estimate.Outcome, error) {
	if err := f.CountRows(stepCount, countPart); err != nil {
		return estimate.Outcome{}, err
	}
	f.Rows = math.Max(f.Rows, 1)
	cut := f.of.tuning.newCutter(f.Problem)
	c := cut.cut(f.Rows)
	if c.margin == 0 || cut.cut(math.Max(f.AtMost, 1)).margin < hopeless {
		return f.Refuse("blocks of about %.0f rows cannot agree on %d components well enough at this epsilon", f.Rows, f.k), nil
	}
	of := f.of.Blocks(f.Problem, f.k, c.rules.Estimates)
	of.Of = int(float64(c.rules.Estimates) * f.Rows / c.rows)
	anchor, ok, err := blocks.Stable(f.SubBudget, stepBlocks, of, blocks.Stability{Rules: c.rules, Eta: cut.mask.Eta}, f.of.tuning.testMu(f.k, f.Mu2))
	if err != nil {
		return estimate.Outcome{}, err
	}
	if !ok {
		return f.Refuse("the estimates of %d blocks of about %.0f rows do not agree on %d components", c.rules.Estimates, c.rows/float64(c.rules.Estimates), f.k), nil
	}
	r, ok := f.start(anchor)
	if !ok {
		return f.Outsize(), nil
	}
	if err := f.incomplete(r); err != nil {
		return estimate.Outcome{}, err
	}
	if err := f.em(ctx, r); err != nil {
		return estimate.Outcome{}, err
	}
	return f.outcome(r), nil
}

// incomplete has rows that lack cells count too once blocks agree, if there are enough of them:
// blocks are of whole rows, and the rounds of completed ones.
func (f *fit) incomplete(r *privateem.Rounds) (err error) {
	f.read = f.SubBudget
	if f.someCell, err = f.Incomplete(stepCells, f.Mu(countPart)); err != nil || f.someCell == 0 {
		return err
	}
	f.gaps = f.read.Take(gapsPart * f.Mu2)
	return f.complete(r)
}

// complete has what follows asked of completed rows: those that lack cells have them drawn from the
// components of r, given the cells that they have.
func (f *fit) complete(r *privateem.Rounds) error {
	if f.someCell == 0 || len(r.Components) == 0 {
		return nil
	}
	table, err := kernel.Complete(f.read, program.CompletionBy(r.Space, make([]float64, f.All), r.Components))
	if err == nil {
		f.SubBudget, f.Rows, r.Rows = table, f.someCell, f.someCell
	}
	return err
}

// toldMisfit is the misfit, in total variation, that is reported. A guess.
const toldMisfit = .05

// misfit returns the misfit for clip.Radius2. EM without privacy follows tails heavier than a
// Gaussian's; with several components so does this fit. A single component is assumed to be as
// requested.
func misfit(k int) float64 {
	if k == 1 {
		return 1
	}
	return 6
}

// start returns private EM at the masked mean, in the table's columns, centred at the mean of the
// anchor and in units of its first component's spread; false if float64 cannot hold it.
func (f *fit) start(anchor []blocks.Component) (*privateem.Rounds, bool) {
	d := f.Problem.Columns
	space := component.Space{Columns: parts.Upto(d), Center: make([]float64, d), Scale: make([]float64, d)}
	total, finite := parts.Sum(anchor, func(c blocks.Component) float64 { return c.Weight }), true
	for i := range d {
		for _, c := range anchor {
			space.Center[i] += c.Weight / total * c.Mean[i]
			space.Scale[i] = math.Max(space.Scale[i], symmetric.HypotNorm(c.Root[i*d:(i+1)*d]))
		}
		finite = finite && !math.IsInf(space.Center[i], 0) && space.Scale[i] < 0x1p500 && space.Scale[i] > 0x1p-500
	}
	if f.Problem.Covariance == estimate.Spherical { // which is so in one unit only
		space = program.OneUnit(space, f.Problem.Covariance)
	}
	r := f.Rounds(space, program.Form(f.Problem.Covariance), nil)
	r.Misfit, r.LeastRows = misfit(f.k), f.of.tuning.DroppedSDs
	e2 := f.of.tuning.eta(f.Problem) * f.of.tuning.eta(f.Problem)
	for _, c := range anchor {
		g := component.Gaussian{Weight: c.Weight / total, Mean: make([]float64, d), Rows: c.Weight / total * f.Rows,
			Uncertainty: component.Uncertainty{Shape: f.of.tuning.Shape * e2, Scale: f.of.tuning.Scale * e2, Mean: f.of.tuning.Mean * e2, Weight: f.of.tuning.Weight * e2}}
		root := mat.NewDense(d, d, nil)
		for i := range d {
			g.Mean[i] = (c.Mean[i] - space.Center[i]) / space.Scale[i]
			for j := range d {
				root.Set(i, j, c.Root[i*d+j]/space.Scale[i])
			}
		}
		g.Cov = mat.NewSymDense(d, nil)
		g.Cov.SymOuterK(1, root)
		r.Components = append(r.Components, g)
	}
	return r, finite
}

// em runs the rounds of private EM; their losses grow, as what is known does.
func (f *fit) em(ctx context.Context, r *privateem.Rounds) error {
	return f.EM(ctx, r, program.Schedule{Next: func(i int) (mu float64, more bool) {
		n, growth := rounds(f.k, overlap(r.Components))
		left := 0.0 // of a geometric series
		for j := range n - i {
			left += math.Pow(growth, float64(j))
		}
		return parts.Mu((f.Left() - f.of.tuning.ShapePart*f.Mu2) / left), i < n-1
	}, Before: f.complete, Shapes: f.of.tuning.ShapePart * f.Mu2})
}

// overlap returns the largest overlap of two components.
func overlap(cs []component.Gaussian) (most float64) {
	for i, a := range cs {
		for _, b := range cs[:i] {
			most = math.Max(most, component.Overlap(a, b))
		}
	}
	return most
}
