package profile

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts/columns"
	"github.com/gauze-dp/gauze/parts/component"
)

// moments are mean and sd of a column's cells, with the sds of their noise.
type moments struct {
	mean, meanSD float64
	sd, sdSD     float64
	list         []bin      // the settled histogram, atoms apart
	outside      [2]float64 // rows in bins below and above it, hardly more than noise
	spill        [2]float64 // .. and its noise
	reach        float64    // how far from the mean by bins rows are seen
	constant     bool
	others       float64 // cells, at most, that may have another value than the only one that is seen
}

// Utility constants, guesses.
const (
	constantPart = .15 // of the cells, at most, may differ unseen from a column's only value
	reachMore    = 1.1
	outer        = .5  // of the radius: a row so far out in one column is clipped for its sake
	excess       = 4   // more than where it is undone: what clipping hides is more than what noise does
	noisySums    = .25 // of the bins' variance, half the noise of that of the sums: more is much
	clearSums    = 8   // noise sds of a variance
	moreThanSeen = 2   // times the sd by bins
	// A column whose bins reach this many sds may have rows beyond them. Chosen on columns of zeros
	// and log-normal, Pareto and rare codes, and on light ones, which reach less.
	farReach = 4.5
	// A column with more than this part of its cells hidden is not resolved: sums about the bins
	// that are seen would say little of it, and be clipped for other columns too.
	mostHidden = .5
	shrunk     = .3 // by how many sds of a column rows that are clipped for others move, about
)

// byBins returns mean, sd and reach by the settled histogram.
func (c *column) byBins() (mean, sd, reach float64) {
	total := 0.0
	for _, b := range c.list {
		total += b.rows
	}
	for _, b := range c.list {
		mean += b.rows / math.Max(total, 1) * (b.low/2 + b.high/2)
	}
	for _, b := range c.list {
		if b.rows > 0 {
			reach = math.Max(reach, math.Max(mean-b.low, b.high-mean))
		}
	}
	for _, b := range c.list {
		mid, width := (b.low/2+b.high/2-mean)/reach, (b.high-b.low)/reach
		sd += b.rows / math.Max(total, 1) * (mid*mid + width*width/12)
	}
	return mean, reach * math.Sqrt(sd), reach
}

// decide decides whether a settled histogram is of one value.
func (c *column) decide() {
	if c.seen != nil && (c.bins.looks < 0 || c.hidden() > mostHidden) {
		c.reason = unresolved
		return
	}
	if len(c.atoms) == 0 {
		return
	}
	a := slices.MaxFunc(c.atoms, func(a, b atom) int { return cmp.Compare(a.rows, b.rows) })
	others := 0.0
	for _, b := range c.list {
		if b.low != a.value || b.high != a.value {
			others += b.rows
		}
	}
	noise := math.Hypot(c.cellsSD, a.sd)
	if others > 0 && (others >= quietSDs*noise || c.cells-a.rows >= quietSDs*noise) {
		return
	}
	c.others = math.Max(math.Max(0, c.cells-a.rows)+2*noise, 1)
	c.mean = a.value
	if c.constant = c.others < constantPart*c.cells; !c.constant {
		c.reason = oneValue
	}
}

// sums releases clipped sums of the columns that vary, with all that is left; done reports that it
// did.
func (f *fit) sums() (done bool, err error) {
	var of []*column
	for _, c := range f.live {
		if c.decide(); c.constant || c.reason != "" {
			continue
		}
		if mean, sd, reach := c.byBins(); sd > 0 && reach > 0 && reach < math.MaxFloat64/4 {
			c.mean, c.sd, c.reach = mean, sd, reachMore*reach
			of = append(of, c)
		} else {
			c.reason = scattered
		}
	}
	f.hold()
	if len(of) == 0 {
		return false, nil
	}
	d, square, fill := len(of), 0.0, make([]float64, len(f.columns))
	for _, c := range of {
		square += (c.sd / c.reach) * (c.sd / c.reach) * math.Min(1, c.cells/f.rows)
		fill[c.index] = c.mean
	}
	reach2 := float64(d) / square
	space := component.Space{}
	for _, c := range of {
		space.Columns = append(space.Columns, c.index)
		space.Center = append(space.Center, c.mean)
		space.Scale = append(space.Scale, c.reach/math.Sqrt(reach2))
	}
	frame := space.Affine(make([]float64, d), mat.DenseCopyOf(symmetric.Identity(d)))
	m, err := columns.ReleaseMoments(f.In(query.Filled, fill), "", frame, f.rows, f.Left(), reach2, excess)
	if errors.Is(err, columns.ErrOverflow) {
		for _, c := range of {
			c.reason = scattered
		}
		return false, nil
	}
	if err != nil {
		return false, err
	}
	weight, all := make([]float64, d), 0.0
	for i, c := range of {
		weight[i] = c.beyond(outer*math.Sqrt(m.R2/math.Sqrt(float64(d))), space.Scale[i])
		all += weight[i]
	}
	for i, c := range of {
		lost := 0.0
		if all > 0 {
			// no more than the bins there hold
			lost = math.Min(math.Max(0, m.ClippedTrace)*weight[i]/all, weight[i]*c.cells/f.rows)
		}
		bins := c.ofBins(c.mean, c.sd, c.reach)
		c.read(m, i, space.Scale[i], lost, f.rows)
		if bins.reach > reachMore*farReach*bins.sd {
			c.unsureBy(math.Min(c.hidden(), (math.Max(0, m.Beyond)+m.BeyondSD)*f.rows/math.Max(c.cells, 1)), space.Scale[i]*math.Sqrt(m.R2))
		}
		c.surer(bins)
	}
	return true, nil
}

// surer takes the moments by the bins in the place of those by sums where these know less: where
// other columns' reaches make the sums noisy, a variance of noise alone looks as if it were clear
// of it; and clipping takes away what the bins show.
func (c *column) surer(bins moments) {
	clear := c.sd > 2*clearSums*c.sdSD // the variance, of its noise
	noisy := !clear && c.sdSD*c.sd > noisySums*bins.sd*bins.sd && bins.sdSD < c.sdSD
	if noisy || c.sd+quietSDs*c.sdSD < bins.sd-quietSDs*bins.sdSD {
		c.moments = bins
	} else if c.sd > moreThanSeen*bins.sd { // by rows beyond, clipped to where they need not be
		c.sdSD = math.Hypot(c.sdSD, c.sd-bins.sd)
	}
	if !clear && c.inOneBin() { // which says no more than that it is less than its width
		c.sdSD = math.Hypot(c.sdSD, c.sd)
	}
}

// inOneBin reports that all cells that are seen share a bin, and are not known to share a value.
func (c *column) inOneBin() bool {
	n := 0
	for _, b := range c.list {
		if b.rows > 0 {
			n++
			if b.low == b.high {
				return false
			}
		}
	}
	return n == 1
}

// hidden returns the part of the cells that may lie outside of what the bins show.
func (c *column) hidden() float64 {
	return (c.outside[0] + c.outside[1] + math.Hypot(c.spill[0], c.spill[1])) / math.Max(c.cells, 1)
}

// unsureBy adds to the noise of the mean that sums may hold that part of the cells at the distance
// where they are clipped: twice the noise covers the mean of what is seen.
func (c *column) unsureBy(part, clip float64) { c.meanSD = math.Hypot(c.meanSD, part*clip/2) }

// beyond returns what the bins farther than x from the mean add to the mean square, over the cells,
// all in units of a scale.
func (c *column) beyond(x, scale float64) (sum float64) {
	for _, b := range c.list {
		mid := (b.low/2 + b.high/2 - c.mean) / scale
		if math.Abs(mid) > x {
			sum += b.rows * mid * mid
		}
	}
	return sum / math.Max(c.cells, 1)
}

// read reads the moments of a column from those of all rows about its centre, in which a missing
// cell is 0.
func (c *column) read(m columns.Moments, i int, scale, lost, rows float64) {
	part := rows / math.Max(c.cells, 1)
	first := m.Mean[i] * part
	second := (m.Cov.At(i, i) + m.Mean[i]*m.Mean[i] + lost) * part
	unsure := c.cellsSD / math.Max(c.cells, 1)
	variance := second - first*first
	noise := math.Hypot(m.CovSD*part, 2*first*m.MeanSD*part)
	noise = math.Hypot(noise, variance*unsure)
	noise = math.Hypot(noise, lost*part/2)
	clipped := shrunk * (math.Max(0, m.Beyond) + m.BeyondSD)
	noise = math.Hypot(noise, 2*clipped*variance)
	c.meanSD = scale * math.Hypot(m.MeanSD*part, first*unsure)
	c.meanSD = math.Hypot(c.meanSD, scale*clipped*math.Sqrt(math.Max(variance, 0)))
	c.mean += scale * first
	variance = math.Max(variance, noise/4)
	c.sd = scale * math.Sqrt(variance)
	c.sdSD = scale * noise / (2 * math.Sqrt(variance))
}

// seenWithin returns the least and the greatest value that bins with rows can hold.
func (c *column) seenWithin() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, b := range c.list {
		if b.rows > 0 {
			low, high = math.Min(low, b.low), math.Max(high, b.high)
		}
	}
	return low, high
}
