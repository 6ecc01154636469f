package general

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts"
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
	widestCost                    = .05 // of mu^2, for lines along the widest directions
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
	if f.method.Without.EarlyLines {
		return nil
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
	if f.Problem.Components == 0 && len(r.Components) > 1 && !f.method.Without.EarlyContest {
		f.asks(true)
		r.Rows, f.contested = f.Rows, true
		if err := f.againstOne(ctx, r); err != nil {
			return err
		}
	}
	f.asks(false)
	r.Rows, r.Floor = f.Rows, f.floor()
	if !f.whole && !f.method.Without.LateLines {
		if err := f.resplit(ctx, r); err != nil {
			return err
		}
	}
	if f.long(r) {
		return errLong
	}
	if len(r.Components) == 1 && !f.method.Without.OneMethod && f.oneIsBetter() {
		return errOne
	}
	return nil
}

// shapes returns what a test of fit costs.
func (f *fit) shapes(part float64) float64 {
	if f.method.Without.GoodnessOfFit {
		return 0
	}
	return f.schedule.cost(part) * f.Mu2
}

// linePart returns the part of mu^2 for the lines of one split: enough to count this number of
// rows, and in a wide table second moments before.
func (f *fit) linePart() float64 {
	if f.even {
		return f.looking(widestCost)
	}
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
	alone := len(r.Components) == 1 && f.space.Dim() > 2 && !f.method.Without.ColumnLines // then half of it is for columns
	if alone {
		part /= 2
	}
	var apart []float64
	if alone {
		a, err := f.directed(r.Components[0])
		if err != nil {
			return err
		}
		if a.directed > 0 {
			apart = mat.Row(nil, 0, a.to)
		}
	}
	lines := func() ([][]privateem.Line, error) { return r.Lines(f.SubBudget, stepSplit, apart, f.Mu(part)) }
	if f.even {
		lines = func() ([][]privateem.Line, error) {
			return r.WidestLine(f.SubBudget, stepProjected, stepSplit, f.Mu(part))
		}
	}
	all, err := lines()
	if err != nil {
		return err
	}
	own := len(all[0])
	if alone {
		more, _, err := f.columnLines(r.Components[0], privateem.LineReach, part)
		if err != nil {
			return err
		}
		all[0] = append(all[0], more...)
	}
	var out []component.Gaussian
	for j, c := range r.Components {
		parts, most := []component.Gaussian{c}, 0.0
		for i, l := range all[j] {
			cs, gain, err := pieces(ctx, l)
			if err != nil {
				return err
			}
			if len(cs) > 1 && gain > most && (i < own || gapped(cs)) {
				parts, most = along(c, l.Axis, cs), gain
			}
		}
		out = append(out, parts...)
	}
	r.Components = out
	return nil
}

// columnLines counts the rows along every column, in one release for a part of mu^2, in the sds of
// the only component that there is: of clusters that differ in few of many columns its axes show
// little. The lines are of the columns of.
//
// The L2 sensitivity is sqrt(2d) under replace-one and sqrt(d) under add-or-remove-one
// (query.Counts).
func (f *fit) columnLines(c component.Gaussian, reach, part float64) (out []privateem.Line, of []int, err error) {
	q, edges, space := query.Counts{Edges: make([][]float64, f.All)}, privateem.LineEdges(reach), f.space
	for i, j := range space.Columns {
		sd := math.Sqrt(c.Cov.At(i, i))
		if f.Grids[j].Unit > space.Scale[i]*sd*(edges[len(edges)/2]-edges[len(edges)/2-1]) {
			continue // of few values each would be a piece
		}
		axis := mat.Col(nil, i, c.Cov)
		floats.Scale(1/sd, axis)
		// finite: scales have a variance in float64
		q.Edges[j] = parts.Map(edges, func(e float64) float64 { return space.Center[i] + space.Scale[i]*(c.Mean[i]+sd*e) })
		out, of = append(out, privateem.Line{Axis: axis, Edges: edges}), append(of, i)
	}
	if len(out) == 0 {
		return nil, nil, nil
	}
	answer, err := f.Sum(stepColumns.Name, q, f.Mu(part))
	if err != nil {
		return nil, nil, err
	}
	for i := range out { // the space's columns are in the order of the table's
		out[i].Counts, out[i].SD = answer.Values[i*(len(edges)+1):][:len(edges)+1], answer.Sigma
	}
	return out, of, nil
}

// Pieces of a column have a gap between them if two neighbours are gapSDs of their mean sds apart,
// and hold the part gapPart of the rows each. Those of a uniform distribution are 3.5 apart,
// however many there are, and heavy tails have a few rows in a hundred far out. Guesses.
const gapSDs, gapPart = 4.5, .08

// A table of less n mu than shortTable is looked at column by column, for the part shortPart of
// mu^2, before anything else: what finds more costs most of what such a table can pay. Guesses.
const shortTable, shortPart = 1500.0, .04

// inColumns returns a start from the column of a short table that shows the clearest clusters; none
// if no column has a gap.
func (f *fit) inColumns(ctx context.Context, spread float64) (start []component.Gaussian, err error) {
	d := f.space.Dim()
	if f.method.Without.ShortColumns || f.Rows*f.Problem.Mu > shortTable || spread > farBoxed || d < 2 || f.Problem.Components > 0 {
		return nil, nil
	}
	whole := component.Gaussian{Weight: 1, Mean: make([]float64, d), Cov: symmetric.Scaled(startVariance, symmetric.Identity(d)), Uncertainty: component.StartUncertainty()}
	lines, _, err := f.columnLines(whole, farBoxed, shortPart)
	most := 0.0
	for _, l := range lines {
		cs, gain, err := pieces(ctx, l)
		if err != nil {
			return nil, err
		}
		if len(cs) > 1 && gain > most && gapped(cs) {
			start, most = along(whole, l.Axis, cs), gain
		}
	}
	if start != nil {
		f.coarse, f.global = true, component.Joined(start[0], start[1:]...)
	}
	return start, err
}

// gapped reports whether two neighbours among pieces of a column have a gap between them.
func gapped(cs []fit1d.Component) bool {
	least := gapPart * fit1d.RowsOf(cs)
	cs = slices.DeleteFunc(slices.Clone(cs), func(c fit1d.Component) bool { return c.Rows < least })
	slices.SortFunc(cs, func(a, b fit1d.Component) int { return cmp.Compare(a.Mean(), b.Mean()) })
	for i := 1; i < len(cs); i++ {
		if a, b := cs[i-1], cs[i]; b.Mean()-a.Mean() > gapSDs/2*(a.SD+b.SD) {
			return true
		}
	}
	return false
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
	reach := l.Edges[len(l.Edges)-1] * privateem.LineGrows
	all, cost, err := d.Search(ctx, o)
	for _, c := range all {
		if c.Rows > leastPiece*n && math.Abs(c.Mean()) < reach && c.SD < reach {
			cs = append(cs, c)
		}
	}
	return cs, one - cost - o.Penalty*float64(len(all)-1), err
}
