package general

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/coreset"
	"github.com/gauze-dp/gauze/parts/privateem"
)

// Utility constants of splits, guesses tried on plain clusters of generators of their own.
const (
	mostSplits = 3
	shapePart  = .016 // of mu^2, for one look at the shapes of components
	splitPart  = .04  // of mu^2, for the trees of one split
	splitKeep  = .12  // of mu^2, that splits leave
	splitAxes  = 3    // of a tree
	splitSDs   = 4.0  // half-width of its box, in the component's sds
	splitCells = 3    // levels of the tree
	// a component of fewer rows, in sds of a count's noise, is not split
	splitRows = 15.0
	// .. nor one whose rows lie where a Gaussian's do but for this part, beside what noise feigns
	splitMisfit = .06
	mostPieces  = 6
)

const stepSplit = "trees in components"

// refine are rounds until components are seen at their own scale; those whose rows are not where
// theirs should be are then split, as often as that finds more.
func (f *fit) refine(ctx context.Context, r *privateem.Rounds) error {
	if err := f.frames(ctx, r, framePart); err != nil {
		return err
	}
	for range mostSplits {
		if f.Left() < (shapePart+splitPart+framePart+splitKeep)*f.Mu2 {
			return nil
		}
		if err := r.Shells(f.Allotment, program.StepShapes, program.Draws, f.Mu(shapePart)); err != nil {
			return err
		}
		before := len(r.Components)
		if err := f.split(ctx, r); err != nil || len(r.Components) == before {
			return err
		}
		if err := f.frames(ctx, r, framePart); err != nil {
			return err
		}
	}
	return nil
}

// split grows a tree of counts in every component whose rows are not where its own should be, in
// its own sds, and makes of it the pieces that the tree shows: a start that saw them in the frame
// of all rows may have joined them.
//
// Source: [KSSU19] Section C.5 of the restatement.
// Differs: what is looked into again is a component that the counts say is none, in the frame that
// rounds have found.
func (f *fit) split(ctx context.Context, r *privateem.Rounds) error {
	d := r.Space.Dim()
	mu := f.Mu(splitPart / splitCells)
	var trees []*coreset.Tree
	var axes []*mat.Dense
	any := false
	for _, c := range r.Components {
		out, in := r.Axes(c)
		last := 0
		first, _ := coreset.Levels(min(d, splitAxes), false)
		if c.Misfit > splitMisfit+r.Feigned(c) && c.Weight*f.Rows > splitRows*f.Factor/mu {
			any, last = true, first+splitCells-1
		}
		q := min(d, splitAxes)
		frame := r.Space.Frame(c.Mean, mat.DenseCopyOf(in.Slice(0, q, 0, d)))
		trees = append(trees, coreset.NewTree(frame, slices.Repeat([]float64{splitSDs}, q), first, last, 0))
		axes = append(axes, out)
	}
	if !any {
		return nil
	}
	err := coreset.Grow(trees, func(queries []query.CellCounts) ([]kernel.Answer, error) {
		return parts.AskLeaves(f.Allotment, stepSplit, r.Parted(), queries, mu)
	})
	var out []component.Gaussian
	for j, c := range r.Components {
		var m *coreset.Mixture
		if err == nil {
			m, err = pieces(ctx, trees[j].Coreset())
		}
		if m == nil || len(m.Weights) < 2 {
			out = append(out, c)
			continue
		}
		for i, w := range m.Weights {
			mean, cov := m.Lift(i, axes[j], slices.Repeat([]float64{1}, d))
			for l := range mean {
				mean[l] += c.Mean[l]
			}
			out = append(out, component.Gaussian{Weight: w * c.Weight, Mean: mean, Cov: cov, Doubt: component.StartDoubt()})
		}
	}
	r.Components = out
	return err
}

// pieces is the best fit to a coreset by up to mostPieces components, at what noise in its counts
// lets each of them gain by chance; nil without points. Leaves are as wide as their cells: what is
// narrower is no gain. Its error is the context's.
func pieces(ctx context.Context, set *coreset.Coreset) (best *coreset.Mixture, err error) {
	fair, q, top := *set, float64(set.Dim), math.Inf(-1)
	fair.OwnCells = 1
	noise := float64(len(set.Points)) * sq(set.SD) / math.Max(set.Total, 1)
	worth := (q*(q+1)/2 + q + 1) / 2 * (1 + noise + math.Log(math.Max(set.Total, 1)))
	for k := 1; k <= min(mostPieces, len(set.Points)-1); k++ {
		m, err := coreset.Fit(ctx, &fair, k, starts, program.Starts(k))
		if err != nil {
			return nil, err
		}
		if x := m.LogLik - worth*float64(k); x > top {
			top, best = x, m
		}
	}
	return best, nil
}
