package general

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/fit1d"
	"github.com/gauze-dp/gauze/parts/privateem"
)

// Utility constants of splits, guesses tried on plain clusters of generators of their own.
const (
	mostSplits = 3
	mostLooks  = 2    // as often at most: after the first frames, and after openRounds
	shapePart  = .016 // of mu^2, for one measurement of the shapes of components
	// of mu^2, for the lines of one split: leastLine, and more where n mu is below lineRows, up to
	// mostLine
	leastLine, mostLine, lineRows = .03, .12, 900.0
	splitKeep                     = .12 // of mu^2, that splits leave
	mostPieces                    = 6
	// a piece has at least this part of the component's rows
	leastPiece = .02
	// the least decrease of the sum of squares for a further piece, in addition to BIC's 1.5 ln n
	// for its three numbers, because it is the best of many places
	piecePenalty = 8.0
)

const stepSplit = "lines in components"

// refine runs rounds until components found in coarse cells are measured at their own scale, and
// then resplit and splitAtoms.
func (f *fit) refine(ctx context.Context, r *privateem.Rounds) error {
	if err := f.frames(ctx, r, framePart); err != nil {
		return err
	}
	before := len(r.Components)
	err := f.resplit(ctx, r)
	if f.whole = len(r.Components) == before; err == nil {
		f.splitAtoms(r)
	}
	return err
}

// look asks all rows, once early rounds are done, whether there are several components at all, and
// then is resplit of the rows that early rounds ask, unless refine has found nothing to split. One
// component alone is fitted better by its own method, which has what the rounds and the last round
// would have cost.
func (f *fit) look(ctx context.Context, r *privateem.Rounds) error {
	if f.Problem.Components == 0 && len(r.Components) > 1 {
		f.asks(true)
		r.Rows, f.contested = f.Rows, true
		if err := f.againstOne(ctx, r); err != nil {
			return err
		}
	}
	f.asks(false)
	r.Rows, r.Floor = f.Rows, f.floor()
	if !f.whole {
		if err := f.resplit(ctx, r); err != nil {
			return err
		}
	}
	if len(r.Components) == 1 && f.oneIsBetter() {
		return errOne
	}
	return nil
}

// linePart returns the part of mu^2 for the lines of one split: enough to count this number of
// rows.
func (f *fit) linePart() float64 {
	return between(f.schedule.cost(leastLine), leastLine*sq(lineRows/(f.Rows*f.Problem.Mu)), mostLine)
}

// resplit splits components whose rows lie in several groups along some line, as often as that
// finds more: what a start saw in the frame of all rows may be joined in it, and rounds never part
// what is.
func (f *fit) resplit(ctx context.Context, r *privateem.Rounds) error {
	for range mostSplits {
		part := f.linePart()
		if f.Left() < (part+framePart+splitKeep)*f.Mu2 {
			return nil
		}
		before := len(r.Components)
		if err := f.split(ctx, r, part); err != nil || len(r.Components) == before {
			return err
		}
		if err := f.frames(ctx, r, framePart); err != nil {
			return err
		}
	}
	return nil
}

// split makes of every component the pieces that the best of its lines shows: they lie along the
// line, and are in all other directions what the component is.
//
// Source: [KSSU19] Section C.5 of the restatement.
// Differs: what is looked into again is cut along single lines of a component's own frame, which
// hold more rows a cell than a tree in several.
func (f *fit) split(ctx context.Context, r *privateem.Rounds, part float64) error {
	all, err := r.Lines(f.SubBudget, stepSplit, f.Mu(part))
	if err != nil {
		return err
	}
	var out []component.Gaussian
	for j, c := range r.Components {
		parts, most := []component.Gaussian{c}, 0.0
		for _, l := range all[j] {
			cs, gain, err := pieces(ctx, l)
			if err != nil {
				return err
			}
			if len(cs) > 1 && gain > most {
				parts, most = along(c, l.Axis, cs), gain
			}
		}
		out = append(out, parts...)
	}
	r.Components = out
	return nil
}

// along returns c in pieces along an axis.
func along(c component.Gaussian, axis []float64, cs []fit1d.Component) (out []component.Gaussian) {
	for _, p := range cs {
		part := component.Gaussian{Weight: c.Weight * p.Rows / fit1d.RowsOf(cs), Mean: slices.Clone(c.Mean), Cov: mat.NewSymDense(len(axis), nil), Uncertainty: component.StartUncertainty()}
		floats.AddScaled(part.Mean, p.Mean(), axis)
		part.Cov.SymRankOne(c.Cov, p.SD*p.SD-1, mat.NewVecDense(len(axis), axis))
		out = append(out, part)
	}
	return out
}

// pieces returns the mixture that explains a line best, and how much more it decreases the sum of
// squares of one Gaussian than the penalty of its components. Its error is ctx's.
func pieces(ctx context.Context, l privateem.Line) (cs []fit1d.Component, gain float64, err error) {
	h := fit1d.Histogram{Edges: l.Edges, Sigma: l.SD, Counts: l.Counts}
	d, n := fit1d.NewData([]fit1d.Histogram{h}, fit1d.Known{}), math.Max(floats.Sum(l.Counts), 3)
	o := fit1d.Options{Most: 1, Penalty: piecePenalty + 1.5*math.Log(n), Start: []fit1d.Component{{Rows: n, SD: 1}}}
	whole, one, err := d.Search(ctx, o)
	if err != nil {
		return nil, 0, err
	}
	o.Most, o.Start = mostPieces, whole
	all, cost, err := d.Search(ctx, o)
	for _, c := range all {
		if c.Rows > leastPiece*n && math.Abs(c.Mean()) < privateem.LineReach && c.SD < privateem.LineReach {
			cs = append(cs, c)
		}
	}
	return cs, one - cost - o.Penalty*float64(len(all)-1), err
}
