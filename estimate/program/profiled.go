package program

import (
	"math"
	"slices"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/parts/columns"
	"github.com/gauze-dp/gauze/parts/fit1d"
)

// Utility constants of a profile beside a model, guesses but for clearBeside: its share of mu^2 is
// such that the cells of a whole column are clearBeside times what the noise of one count of all
// columns at that price would be, leastBeside at least. Where that is more than mostBeside, cells
// alone are counted, and the method finds units by itself. At 90 in the place of 130 noise made
// Gaussian columns look uneven.
//
// Beside categories it is whole rows that are wanted, and drawn rows follow the profile: it costs
// what clearMixed would take, up to mostMixed, and is measured where leastMixed would take no more.
// Chosen of mostMixed .2 and .35, leastMixed 60 and 130, on 4 made-up tables of 800 rows; on others
// numbers came nearer, and at 1,500 rows the log-likelihood fell by .7 nats.
const (
	clearBeside             = 130.0
	leastBeside, mostBeside = .01, .03
	leastMixed, clearMixed  = 60.0, 800.0
	mostMixed               = .35
)

// MostBeside returns the largest part of mu^2 that a profile beside a model of the problem costs.
func MostBeside(p estimate.Problem) float64 {
	if len(p.Categories) > 0 {
		return mostMixed
	}
	return mostBeside
}

// ProfileShare returns the part of mu^2 that a profile beside a model costs with so many rows,
// public or released; full is false where cells alone are counted.
func ProfileShare(p estimate.Problem, rows float64) (share float64, full bool) {
	noise := Factor(p.Relation) * math.Sqrt(float64(p.Columns)) / p.Mu
	wanted, needed := clearBeside, clearBeside
	if len(p.Categories) > 0 {
		wanted, needed = clearMixed, leastMixed
	}
	most := MostBeside(p)
	return math.Max(leastBeside, math.Min(square(wanted*noise/rows), most)), square(needed*noise/rows) <= most
}

// Utility constants of units by a profile, guesses: scaleQuantile of the distances to the centre,
// whose octave is the scale, as columns.MeasureUnits has it; of the other cells' distances where
// more than mostAtCentre, but not all but leastOthers, are in the centre's own bar. In a column
// that has more than mostAtCentre of its cells at the centre, or of which one value was seen,
// variedPart of mu^2 at most counts the others, and sparsePart finds their octaves; points values
// represent a column.
const (
	scaleQuantile = .6
	variedPart    = .02
	sparsePart    = .05
	mostAtCentre  = .6
	leastOthers   = .1
	points        = 200
)

// A stretch is a share of cells, spread evenly over distances to a centre.
type stretch struct{ near, far, share float64 }

// below returns the share of the cells within a distance.
func (s stretch) below(x float64) float64 {
	if s.far > s.near {
		return s.share * math.Max(0, math.Min((x-s.near)/(s.far-s.near), 1))
	}
	if x >= s.far {
		return s.share
	}
	return 0
}

// distances returns the distances of a column's cells from a centre, and the share of those that
// are too small to have a square in float64.
func distances(c *estimate.ColumnProfile, center float64) (out []stretch, same float64) {
	for _, b := range c.Histogram {
		switch low, high := b.Low-center, b.High-center; {
		case -low < columns.Narrowest && high < columns.Narrowest:
			same += b.Share
		case low < 0 && high > 0:
			part := 1 / (1 - high/low) // of the bar below the centre
			out = append(out, stretch{0, -low, b.Share * part}, stretch{0, high, b.Share * (1 - part)})
		default:
			out = append(out, stretch{math.Min(math.Abs(low), math.Abs(high)), math.Max(math.Abs(low), math.Abs(high)), b.Share})
		}
	}
	return out, same
}

// beside returns a column without the bar at a centre, if most but not nearly all cells are in it:
// their distances say nothing about the others.
func beside(c *estimate.ColumnProfile, center float64) (others *estimate.ColumnProfile, ok bool) {
	i := slices.IndexFunc(c.Histogram, func(b estimate.Bar) bool { return b.Low == center || b.Low < center && center < b.High })
	if i < 0 || c.Histogram[i].Share <= mostAtCentre || c.Histogram[i].Share >= 1-leastOthers {
		return c, false
	}
	other := *c
	other.Histogram = slices.Delete(slices.Clone(c.Histogram), i, i+1)
	return &other, true
}

// settled returns the centre and the scale of a column by its profile: the median, and the octave
// of the .6 quantile of the distances to it that are not 0. ok is false if most cells that are seen
// have one value, the centre, or values too close to distinguish.
func settled(c *estimate.ColumnProfile) (center, scale float64, ok bool) {
	at := slices.IndexFunc(c.Quantiles, func(q estimate.Quantile) bool { return q.P == .5 })
	if at < 0 || len(c.Histogram) == 0 {
		if center = c.Mean; len(c.Atoms) > 0 {
			center = c.Atoms[0].Value
		}
		return center, 1, false
	}
	center = c.Quantiles[at].Value
	all, same := distances(c, center)
	if others, ok := beside(c, center); ok {
		all, same = distances(others, center)
	}
	total, far := 0.0, 0.0
	for _, s := range all {
		total, far = total+s.share, math.Max(far, s.far)
	}
	low, high := 0.0, math.Min(far, math.MaxFloat64)
	for high > columns.Narrowest && high-low > 1e-6*high { // bisection
		mid, sum := low+(high-low)/2, 0.0
		for _, s := range all {
			sum += s.below(mid)
		}
		if sum < scaleQuantile*total {
			low = mid
		} else {
			high = mid
		}
	}
	if !(total > 0) || same > mostAtCentre || high <= columns.Narrowest {
		return center, 1, false
	}
	_, e := math.Frexp(high)
	return center, math.Ldexp(1, e-1), true
}

// OthersSteps returns the steps of ByProfile, for a share of the total mu^2.
func OthersSteps(prefix string, share float64) []kernel.Step {
	return columns.OthersSteps(prefix, share*variedPart, share*sparsePart)
}

// ByProfile returns the centres, scales and grids of all columns by the problem's profile. Where
// most cells that it has seen of a column have one value, the others are looked for, in steps of
// the sub-budget that [OthersSteps] has.
func (r *Run) ByProfile(a *kernel.SubBudget, prefix string) (columns.Units, error) {
	center, scale, one, uneven := make([]float64, r.All), make([]float64, r.All), make([]bool, r.All), make([]bool, r.All)
	if r.Grids == nil {
		r.Grids = fit1d.DeclaredGrids(r.Problem.RoundedTo, r.All)
	}
	before := slices.Clone(r.Grids)
	r.Atoms = make([][]Atom, r.All)
	for j := range r.All {
		c, ok := &r.Problem.Profile.Columns[j], false
		r.Atoms[j] = atomsOf(c)
		center[j], scale[j], ok = settled(c)
		one[j], uneven[j] = !ok, !ok || columns.UnevenPairs(values(c))
		if r.Grids[j] == (fit1d.Grid{}) && c.Grid > 0 && !few(c) {
			r.Grids[j] = fit1d.Grid{Unit: c.Grid, Offset: c.Offset}
		}
	}
	r.noteGrids(before)
	u := columns.Known(center, scale)
	u.Uneven = uneven
	const almost = 1 - 1e-9
	return u, u.FindOthers(a, columns.UnitsConfig{Prefix: prefix, VariedMu2: variedPart * r.Mu2 * almost, SparseMu2: sparsePart * r.Mu2 * almost, Rows: r.Problem.Profile.Rows}, one)
}

// atomsOf returns the atoms of a column. Bars are none: of clusters that lie far apart each is one.
func atomsOf(c *estimate.ColumnProfile) (out []Atom) {
	for _, a := range c.Atoms {
		out = append(out, Atom{Value: a.Value, Share: a.Share, Noise: a.Noise})
	}
	return out
}

// values returns points quantiles of a column, in order, and the largest noise of a bar's share.
func values(c *estimate.ColumnProfile) (out []float64, noise float64) {
	total, below := 0.0, 0.0
	for _, b := range c.Histogram {
		total += b.Share
		noise = math.Max(noise, b.Noise)
	}
	for _, b := range inward(c.Histogram, total/2) {
		for below += b.Share; len(out) < points && (float64(len(out))+.5)/points*total <= below; {
			part := 1 - (below-(float64(len(out))+.5)/points*total)/b.Share
			x := b.Low + part*(b.High-b.Low)
			if c.Grid > 0 {
				x = c.Offset + c.Grid*math.Round((x-c.Offset)/c.Grid)
			}
			out = append(out, x)
		}
	}
	return out, noise
}

// inward returns a histogram whose bars away from the one with the median, at that share, are at
// most twice as wide as the one before: the rows of tails lie near the others, in bars that double.
func inward(bars []estimate.Bar, median float64) []estimate.Bar {
	bars = slices.Clone(bars)
	at := 0
	for below := 0.0; at < len(bars)-1 && below+bars[at].Share < median; at++ {
		below += bars[at].Share
	}
	for _, step := range [2]int{1, -1} {
		widest := math.Inf(1)
		for i := at; i >= 0 && i < len(bars); i += step {
			b := &bars[i]
			if step > 0 {
				b.High = math.Min(b.High, b.Low+widest)
			} else {
				b.Low = math.Max(b.Low, b.High-widest)
			}
			if b.High > b.Low {
				widest = 2 * (b.High - b.Low)
			}
		}
	}
	return bars
}

// few reports that nearly all cells have one of two values: see fit1d.Few.
func few(c *estimate.ColumnProfile) bool {
	counts := []float64{0}
	for _, a := range c.Atoms {
		counts = append(counts, a.Share)
	}
	return fit1d.FewValues(counts, 1)
}
