// Package marginal measures mean and spread of every column of any table, each with its noise:
// zeros, atoms, codes far from all other rows and heavy tails are rows like others here.
//
// One histogram of all columns (Look) says how far each reaches; one release of all second moments
// (Release), every column in units of its reach and clipped to a ball, measures them. The histogram
// makes the clipping harmless: beyond a reach no row is clear of its noise.
//
// The error of a column of spread sd and reach K sd, over n rows at loss mu: if a row counts as
// seen in a bin from c noise sds on, then K^2 <= n mu_h/(c sqrt(2d)), since so many rows that far
// out are part of sd. The noise of the released variance is sqrt2 R^2 K^2/(n mu) of it, where R^2
// is 1 and what the other columns hold, sum sd^2/reach^2: at most R^2 sqrt(mu_h^2/mu^2)/(c sqrt d),
// a few per cent, however heavy the tail. What few rows lie farther out than that is beyond what
// the budget can see, and Beyond says how many they may be.
//
// All of it is a Gaussian measurement of the session's filter, or a function of released values.
package marginal

import (
	"math"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts/component"
)

// Utility constants, guesses.
const (
	// clearSDs: rows are seen in one to four neighbouring bins if there are more than so many noise
	// sds of them; noise alone gets there in a column with a chance of 1e-4.
	clearSDs = 5
	windows  = 4
	// The tail of a column is a tenth of its rows, or half of those off the centre's bin.
	tailFrom = .1
)

// A Column is what a released histogram says of one column. Lengths are in units of its scale,
// from its centre.
type Column struct {
	Reach float64 // how far out rows are seen
	// Square is the mean square of the rows within Reach, about, never 0.
	Square float64
	// Atom is the share of rows in the bin of the centre, a 128th of a scale to both sides.
	Atom float64
	// Beyond is the share of rows farther out than Reach, and BeyondSD its noise.
	Beyond, BeyondSD float64
	// Tail is the exponent of the tail, P(|x| > t) like t^-Tail, from where a tenth of the rows are
	// to where no more are seen; TailSD its noise. 0 if less than an octave is seen.
	Tail, TailSD float64
	// Group is the share of rows in a group at Far, signed, which a gap of two octaves or more
	// separates from all others; 0 if there is none. GroupSD is its noise.
	Far, Group, GroupSD float64

	squares []float64 // what the bins from the centre outwards add to Square
	seen    float64   // share of rows in the last bins of the tail
}

// lengths are the edges of the bins of a distance from the centre: fine where columns have their
// rows, and coarse out to the end of what has a variance in float64.
var lengths = func() (e []float64) {
	e = []float64{0x1p-7}
	for k := -12; k <= 16; k++ {
		e = append(e, math.Exp2(float64(k)/2))
	}
	for _, k := range [...]int{9, 10, 11, 12, 13, 14, 15, 16, 18, 20, 22, 24, 28, 32, 48, 64, 128, 256, 480} {
		e = append(e, math.Ldexp(1, k))
	}
	return e
}()

// LookStep is the step of Look.
func LookStep(prefix string, share float64) kernel.Step {
	return kernel.Step{Name: prefix + "columns", Query: query.Histogram, Share: share, Most: 1, Source: "TYLERPRESS Section 3"}
}

// Look releases one histogram of every column of the space, signed, with the part mu2 of mu^2.
// rows is public or released.
func Look(a *kernel.Allotment, prefix string, space component.Space, rows, mu2 float64) ([]Column, error) {
	q, size := query.Counts{Edges: make([][]float64, a.Session().Columns())}, len(lengths)
	for i, j := range space.Columns {
		edges := make([]float64, 2*size)
		for k, t := range lengths {
			far := math.Min(t*space.Scale[i], math.MaxFloat64/2)
			edges[size+k] = clamp(space.Center[i] + far)
			edges[size-1-k] = clamp(space.Center[i] - far)
		}
		q.Edges[j] = edges
	}
	answer, err := a.Sum(prefix+"columns", q, mu2Root(mu2))
	if err != nil {
		return nil, err
	}
	var columns []Column
	for i := range space.Columns {
		counts := answer.Values[i*(2*size+1) : (i+1)*(2*size+1)]
		columns = append(columns, read(counts, answer.Sigma, rows))
	}
	return columns, nil
}

func clamp(x float64) float64 { return math.Max(-math.MaxFloat64, math.Min(x, math.MaxFloat64)) }

// lookPart is the part of mu^2 with which Look sees one row in a hundred, within limits: the
// noise of a bin is sqrt(2d)/mu.
func lookPart(r privacy.Relation, d int, rows, mu2 float64) float64 {
	const seen, least, most = .004, .05, .25 // guesses
	need := clearSDs * math.Sqrt(float64(d)) / (seen * rows)
	if r == privacy.ReplaceOne {
		need *= math.Sqrt2
	}
	return math.Max(least, math.Min(need*need/mu2, most))
}

// read reads the histogram of one column: the bins of the negative side from the far end on, that
// of the centre, and those of the positive side.
func read(counts []float64, sigma, rows float64) Column {
	size := len(lengths)
	c := Column{Atom: counts[size] / rows, Reach: lengths[0]}
	side := [2][]float64{counts[size+1:], make([]float64, size)}
	for i := range size {
		side[1][i] = counts[size-1-i]
	}
	last := [2]int{outermost(side[0], sigma), outermost(side[1], sigma)} // -1: none
	out := max(last[0], last[1])
	for i := range size {
		both := side[0][i] + side[1][i]
		if i > out {
			c.Beyond += both / rows
			c.BeyondSD += 2 * sigma * sigma / (rows * rows)
			continue
		}
		low, high := lengths[i], lengths[min(i+1, size-1)]
		c.squares = append(c.squares, both/rows*(low*low+low*high+high*high)/3)
		c.Square += c.squares[i]
		c.Reach = high
	}
	c.BeyondSD = math.Sqrt(c.BeyondSD)
	if out >= 0 {
		inner := lengths[out]
		c.Square = math.Max(c.Square, inner*inner*sigma/rows)
		c.group(side, last, sigma, rows)
		c.tail(side, out, sigma, rows)
	}
	c.Square = math.Max(c.Square, c.Reach*c.Reach*sigma/rows/4)
	return c
}

// beyond is what rows farther out than x add to Square.
func (c *Column) beyond(x float64) (sum float64) {
	for i, v := range c.squares {
		if lengths[i] >= x {
			sum += v
		}
	}
	return math.Max(0, sum)
}

// extend moves the reach of a column with a heavy tail out to where the noise of its variance,
// which at the reach is the part noise of the mean square, and what a tail of its exponent has
// beyond are least together.
func (c *Column) extend(noise float64) {
	if c.Tail == 0 || c.Tail > lightTail {
		return
	}
	fall := math.Max(c.Tail, leastTail) - 2
	hidden := c.seen * c.Reach * c.Reach / c.Square * 2 / fall
	noise *= c.Reach * c.Reach / c.Square
	// the derivative of (noise x^2)^2 + (hidden x^-fall)^2 is 0
	x := math.Pow(fall*hidden*hidden/(2*noise*noise), 1/(4+2*fall))
	c.Reach *= math.Max(1, math.Min(x, math.Sqrt(mostNoise/noise)))
}

// A tail that falls faster than lightTail is light; none is taken to fall more slowly than
// leastTail; and mostNoise of a variance is not borne for it. Guesses.
const lightTail, leastTail, mostNoise = 5, 3, .15

// outermost is the last bin that is seen to hold rows, alone or with its neighbours; -1 if none is.
func outermost(counts []float64, sigma float64) int {
	for i := len(counts) - 1; i >= 0; i-- {
		sum := 0.0
		for w := 1; w <= windows && w <= i+1; w++ {
			if sum += counts[i-w+1]; sum > clearSDs*sigma*math.Sqrt(float64(w)) {
				for counts[i] < sum/windows { // its neighbours are what is seen
					i--
				}
				return i
			}
		}
	}
	return -1
}

// tail finds the exponent of the tail between the first length beyond which a tenth of the rows
// are and the last beyond which any are seen.
func (c *Column) tail(side [2][]float64, out int, sigma, rows float64) {
	above, from, to, many, few, noise := 0.0, -1, -1, 0.0, 0.0, 0.0
	for i := out; i >= 0; i-- {
		above += side[0][i] + side[1][i]
		sd := sigma * math.Sqrt(2*float64(out-i+1))
		if to < 0 && above > clearSDs*sd {
			to, few, noise = i, above, sd
		}
		if above > math.Min(tailFrom, (1-c.Atom)/2)*rows {
			from, many = i, above
			break
		}
	}
	if from >= 0 && to > from && lengths[to] >= 2*lengths[from] && c.Group == 0 {
		octaves := math.Log(lengths[to] / lengths[from])
		c.Tail, c.TailSD, c.seen = math.Log(many/few)/octaves, noise/few/octaves, few/rows
	}
}

// group finds the outermost rows of a side, if two octaves before them hold no rows that are seen.
func (c *Column) group(side [2][]float64, last [2]int, sigma, rows float64) {
	s, sign := 0, 1.0
	if last[1] > last[0] {
		s, sign = 1, -1
	}
	sum, at, bins := 0.0, 0.0, 0.0
	for i := last[s]; i >= 0 && 2*lengths[i] > lengths[last[s]]; i-- {
		sum += side[s][i]
		at += side[s][i] * (lengths[i] + lengths[min(i+1, len(lengths)-1)]) / 2
		bins++
	}
	inner := last[s] - int(bins) // the first bin of the gap
	low := inner
	for low >= 0 && 4*lengths[low] > lengths[inner+1] {
		low--
	}
	if low < 0 || inner < 0 || sum <= clearSDs*sigma*math.Sqrt(bins) {
		return
	}
	for i := inner; i > low; i-- {
		if outermost(side[s][i:i+1], sigma) == 0 {
			return
		}
	}
	c.Far, c.Group, c.GroupSD = sign*at/sum, sum/rows, sigma*math.Sqrt(bins)/rows
}
