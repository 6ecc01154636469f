package gaussian

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/parts/columns"
)

// The thresholds for reports about columns. Guesses.
const (
	atomShare = .3 // of the rows near one value
	// A tail that falls like t^-2 or more slowly has no variance. It is said where tailSDs noise
	// sds do not change that: skewed tails fall like t^-2.5 or so as far as a few thousand rows
	// show.
	noVariance, tailSDs = 2., 3.
	farGroup            = 3 // sds from the others
	// farMean noise sds from what a column has by itself, a mean of clipped rows is not.
	farMean = 1.5
	// Where so much of a variance is given back for what clipping takes, it may be far off. Of 240
	// columns of families for development with .1 to .2 given back 9 were off by half of the strict
	// bar (experiments/unkind), of 114 with more 47. Chosen on these.
	mostLost = .2
	// A tail that falls more slowly than that is clipped. A guess.
	clippedTail = 5
)

// release ends the fit: with every column's own spread, and what the noise hides said.
func (p *plain) release(told []estimate.Flag) (none estimate.Outcome, err error) {
	if _, ok := p.whiten(); !ok {
		return none, p.Refuse("the noise hides the spread of the rows")
	}
	hidden, noise := p.hidden()
	if k := len(p.edge); 2*hidden > k && p.table.Cov == nil {
		return none, p.Refuse("the noise hides the spread in %d of %d directions", hidden, k)
	} else if hidden > 0 {
		told = append(told, flags.New(flags.Unresolved, "the noise hides the spread in %d of %d directions: there the model has about the largest spread possible", hidden, k))
	}
	mean, factor := make([]float64, len(p.mean)), mat.DenseCopyOf(p.l)
	for i := range mean {
		row, scale := factor.RawRowView(i), p.space.Scale[i]
		if p.table.Cov != nil {
			p.ownMoments(i, row)
		}
		mean[i] = p.space.Center[i] + scale*p.mean[i]
		floats.Scale(scale, row)
	}
	return p.Release(mean, factor, append(told, p.shapes(mean, factor)...), noise)
}

// hidden returns the number of directions in which the noise hides the spread; noise is the largest
// relative noise of the others.
func (p *plain) hidden() (count int, noise float64) {
	for i, e := range p.edge {
		if floorEdges*e < p.cov.At(i, i) {
			noise = math.Max(noise, e)
			continue
		}
		count++
	}
	return count, noise
}

// ownMoments makes mean and spread of column i, whose row of the factor is row, agree with what it
// has by itself: within the noise of that, which is more where the column's centre was far off its
// mean, and the mean where the rounds clip its rows.
func (p *plain) ownMoments(i int, row []float64) {
	if alone, noise := p.table.Mean[i], farMean*p.table.MeanSD; p.reach2(i) > p.radius2 {
		p.mean[i] = math.Max(alone-noise, math.Min(p.mean[i], alone+noise))
	}
	noise, here := p.table.CovSD+2*farMean*math.Abs(p.table.Mean[i])*p.table.MeanSD, dense.Norm2(row)
	own := math.Max(p.table.Cov.At(i, i), floorEdges*noise)
	floats.Scale(math.Sqrt(math.Max(own-noise, math.Min(here, own+noise))/here), row)
}

// shapes says what kind of rows the columns hold.
func (p *plain) shapes(mean []float64, factor *mat.Dense) (told []estimate.Flag) {
	u := p.beyond
	for i, j := range p.Space.Columns {
		c, center, unit := p.table.Columns[i], p.table.Seen.Center[i], p.table.Seen.Scale[i]
		sd := math.Sqrt(dense.Norm2(factor.RawRowView(i)))
		if p.beyond.Columns == nil {
			u.Columns = append(u.Columns, estimate.UndescribedColumn{Column: j, Share: c.Beyond, Noise: c.BeyondSD, Beyond: [2]float64{center - c.Reach*unit, center + c.Reach*unit}})
		}
		switch {
		case c.Group > 0 && math.Abs(c.GroupAt)*unit > farGroup*sd:
			told = append(told, flags.New(flags.OutlierGroup, "column %v: about %.2g%% of the rows lie around %.3g, far from all others; mean and sd are of all rows", flags.Ref{j}, 100*c.Group, center+c.GroupAt*unit).
				In(j).Of(c.Group, 0))
		case c.Tail > 0 && c.Tail+tailSDs*c.TailSD < noVariance:
			told = append(told, flags.New(flags.HeavyTail, "column %v: its tail falls slowly as far as rows are seen (like the power -%.1f; from -2 on no sd exists): mean and sd describe the rows within %.3g of %.3g",
				flags.Ref{j}, c.Tail, c.Reach*unit, mean[i]).In(j))
		case c.Atom > atomShare:
			told = append(told, flags.New(flags.SharedValue, "column %v: about %.0f%% of the rows share the value %.4g, or nearly", flags.Ref{j}, 100*math.Min(c.Atom, 1), center).In(j).Of(c.Atom, 0))
		}
	}
	p.Notes.LeavesOut(u)
	if columns, lost := p.clipped(); columns != nil {
		told = append(told, flags.New(flags.HeavyTail, "column %v: rows far out are clipped, and about %.0f%% of the variance is what was estimated for them; sds may be off by more than their noise",
			flags.Ref(columns), 100*lost).In(columns...))
	}
	return told
}

// clipped returns the columns of whose variance more than the part mostLost is an estimate of what
// clipping took, and the largest of these parts. Where it took that from all columns together,
// these are those with a tail, or else all of them.
func (p *plain) clipped() (of []int, lost float64) {
	given := p.table.Given
	if given == nil {
		tail := slices.ContainsFunc(p.table.Columns, heavy)
		for _, c := range p.table.Columns {
			part := 0.0
			if heavy(c) || !tail {
				part = p.lost
			}
			given = append(given, part)
		}
	}
	for i, part := range given {
		if part > mostLost {
			of, lost = append(of, p.Space.Columns[i]), math.Max(lost, part)
		}
	}
	return of, lost
}

// heavy reports a tail that is clipped.
func heavy(c columns.Column) bool { return c.Tail > 0 && c.Tail < clippedTail }
