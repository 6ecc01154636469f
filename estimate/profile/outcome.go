package profile

import (
	"fmt"
	"math"
	"strconv"

	"github.com/gauze-dp/gauze/estimate"
)

// The texts about columns.
const (
	tooFew       = "too few values"
	scattered    = "its values are spread so widely that none stands out from the noise"
	unresolved   = "its values lie so close together, for their size, that the noise hides how they differ"
	oneValue     = "only one value was seen, but the noise may hide too many others"
	hiddenSpread = "the noise hides the standard deviation"
	hiddenMean   = "the noise hides the mean"
)

// Quantiles are those that a profile has.
var Quantiles = []float64{.01, .05, .1, .25, .5, .75, .9, .95, .99}

// unevenPart is how far rows within a bin may be from evenly spread, as a part of them: about the
// sd of where a quantile lies in it. A guess, held to twice its sd in the test of coverage.
const unevenPart = .3

// rankMore is what making counts consistent adds to the noise of ranks, and cellsPart how much of
// the noise of the number of cells does. Guesses, held likewise.
const rankMore, cellsPart = 1.25, .4

// gridAtom is the share of the cells from which on a number of a grid is reported. A guess.
const gridAtom = .05

// A mean or an sd is not reported if its noise is more than this part of the sd: one of noise alone
// then seldom is.
const mostNoise, mostSDNoise = .5, .35

// Where most cells share a value, an sd is that of the others: it is not reported if more than this
// part of them may lie beyond what is seen. Chosen on made-up columns of zeros and log-normal
// values.
const mostUnseen = .3

// besideAtom returns the number of cells that do not have the value that most cells share; +Inf
// where there is none.
func (c *column) besideAtom() float64 {
	for _, a := range c.atoms {
		if a.rows > c.cells/2 {
			return c.cells - a.rows
		}
	}
	return math.Inf(1)
}

// profile returns the profile of all columns.
func (f *fit) profile() *estimate.Profile {
	p := &estimate.Profile{Rows: f.rows}
	for _, c := range f.columns {
		p.Columns = append(p.Columns, c.profile(f.rows, f.weak))
	}
	return p
}

// profile returns the released profile of a column.
func (c *column) profile(rows, weak float64) estimate.ColumnProfile {
	p := estimate.ColumnProfile{Cells: math.Min(1, c.cells/rows), CellsNoise: c.cellsSD / rows}
	switch p.HeldOut = c.reason; c.reason {
	case "", unresolved: // of which the histogram says where it is
	case tooFew:
		p.HeldOut = fmt.Sprintf("%s: about %.0f (give or take %.0f)", c.reason, c.cells, c.cellsSD)
		return p
	case oneValue:
		p.Atoms = []estimate.Atom{{Value: c.mean}}
		return p
	default:
		return p
	}
	p.Grid, p.Offset = c.grid.Unit, c.grid.Offset
	p.Mean, p.MeanNoise, p.SD, p.SDNoise = c.mean, c.meanSD, c.sd, c.sdSD
	unsure := !c.constant && !(c.meanSD <= mostNoise*c.sd)
	if p.NoSD = unsure || !c.constant && (!(c.sdSD <= mostSDNoise*c.sd) || c.hidden()*c.cells > mostUnseen*c.besideAtom()); p.NoSD {
		p.Notes = append(p.Notes, hiddenSpread)
	}
	if c.limits != nil {
		p.NoMean = false
		p.Low, p.High, p.Notes = c.limits[0], c.limits[1], append(p.Notes, byLimits)
		return p
	}
	if p.NoMean = unsure; p.NoMean {
		p.Notes = append(p.Notes, hiddenMean)
	}
	p.Low, p.High = c.seenWithin()
	unseen := c.outside[0] + c.outside[1] + 2*math.Hypot(c.spill[0], c.spill[1])
	if c.constant {
		p.Low, p.High = c.mean, c.mean
		unseen = c.others
		p.Notes = append(p.Notes, fmt.Sprintf("only one value was seen; up to about %.0f (%.1f%%) may have another", math.Ceil(unseen), 100*unseen/math.Max(c.cells, 1)))
	}
	cells := math.Max(c.cells, 1)
	p.Beyond = math.Min(1, unseen/cells)
	for _, a := range c.atoms {
		if c.grid.Unit > 0 && a.rows < gridAtom*cells {
			continue // a number among others
		}
		p.Atoms = append(p.Atoms, estimate.Atom{Value: a.value, Share: math.Min(1, a.rows/cells), Noise: math.Hypot(a.sd, c.cellsSD*a.rows/cells) / cells})
	}
	if !c.constant {
		for _, b := range c.counted {
			p.Counted = append(p.Counted, estimate.Bar{Low: b.low, High: b.high, Share: b.rows / cells, Noise: b.sd / cells})
		}
		for _, b := range c.list {
			if b.rows > 0 {
				p.Histogram = append(p.Histogram, estimate.Bar{Low: b.low, High: b.high, Share: math.Min(1, b.rows/cells), Noise: b.sd / cells})
			}
		}
	}
	for _, q := range Quantiles {
		p.Quantiles = append(p.Quantiles, c.quantile(q))
	}
	if c.clear < weak {
		c.flags = append(c.flags, "few values for this budget: its figures are rough")
	}
	p.Notes = append(p.Notes, c.flags...)
	return p
}

// quantile returns the value below which the part q of the cells lies, on the grid of the column.
// One beyond what is seen is the last value seen; how far its rank is off then counts as noise.
func (c *column) quantile(q float64) estimate.Quantile {
	if c.constant {
		return estimate.Quantile{P: q, Value: c.mean, RankNoise: c.cellsSD / math.Max(c.cells, 1)}
	}
	list := c.list
	if n := len(list); n > 0 {
		first, last := list[0].low, list[n-1].high
		list = append(append([]bin{{first, first, c.outside[0], c.spill[0]}}, list...), bin{last, last, c.outside[1], c.spill[1]})
	}
	total := 0.0
	for _, b := range list {
		total += b.rows
	}
	below, before, inside := 0.0, 0.0, 0.0
	found := -1
	all := 0.0
	for i, b := range list {
		all += b.sd * b.sd
		if found >= 0 || !(b.rows > 0) {
			if found < 0 {
				before += b.sd * b.sd
			}
			continue
		}
		if below+b.rows >= q*total*(1-1e-12) {
			found, inside = i, b.rows
			before += b.sd * b.sd / 2
			continue
		}
		below += b.rows
		before += b.sd * b.sd
	}
	value := c.onto(quantileOf(list, q))
	noise := rankMore * math.Hypot(math.Sqrt(before*(all-before)/math.Max(all, 1)), cellsPart*c.cellsSD)
	switch b := list[max(found, 0)]; {
	case found < 0:
	case b.high > b.low:
		noise = math.Hypot(noise, unevenPart*inside)
	case found == 0: // the value is the end of what is seen, with all of b's rows on one side of it
		noise = math.Hypot(noise, math.Hypot(below+inside-q*total, b.sd))
	case found == len(list)-1:
		noise = math.Hypot(noise, math.Hypot(q*total-below, b.sd))
	}
	return estimate.Quantile{P: q, Value: value, RankNoise: noise / math.Max(total, 1)}
}

// onto returns the nearest value on the column's grid.
func (c *column) onto(x float64) float64 {
	u := c.grid.Unit
	if !(u > 0) || math.Abs(x/u) > 1e15 {
		return x
	}
	y := c.grid.Offset + math.Round((x-c.grid.Offset)/u)*u
	short, err := strconv.ParseFloat(strconv.FormatFloat(y, 'g', 13, 64), 64)
	if err != nil {
		return y
	}
	return short
}
