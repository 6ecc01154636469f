package columns

import (
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/component"
)

// Utility constants, guesses.
const (
	// clearSDs: rows are seen in one to four neighbouring bins if there are more than this many
	// noise sds of them; noise alone gets there in a column with a chance of some 1e-4. Where the
	// noise would not lead far off, less is enough next to an atom.
	clearSDs = 5.5
	// Rows more than farOut scales from the centre make all else noise: noise alone gets there with
	// a chance of some 1e-7 where more than farOutSDs are asked for.
	farOut, farOutSDs = 512., 6.3
	windows           = 4
	someSDs           = 2.5
	nearSDs           = 3.5
	nearby            = 8.
	// The tail of a column is a tenth of its rows, or half of those off the centre's bin.
	tailFrom = .1
)

// A Column describes one column by a released histogram. Lengths are in units of its scale, from
// its centre.
type Column struct {
	Reach float64 // how far out rows are seen
	// Square is the mean square of the rows within Reach, about, never 0.
	Square   float64
	SquareSD float64 // its noise
	// Atom is the share of rows in the bin of the centre, a 128th of a scale to both sides.
	Atom float64
	// Beyond is the share of rows farther out than Reach, and BeyondSD its noise.
	Beyond, BeyondSD float64
	// Tail is the exponent of the tail, P(|x| > t) like t^-Tail, from where a tenth of the rows are
	// to where no more are seen. 0 if less than an octave is seen.
	Tail float64
	// TailSD is about what noise and sampling of the rows at the end of the tail do to Tail.
	TailSD float64
	// Group is the share of rows in a group at GroupAt, signed, which a gap of two octaves or more
	// separates from all others; 0 if there is none. GroupSD is its noise.
	GroupAt, Group, GroupSD float64

	squares []float64 // what the bins from the centre outwards add to Square
	last    float64   // exponent of its last octave
}

// lengths are the edges of the bins of a distance from the centre: fine where columns have their
// rows, and coarse out to the end of what has a variance in float64.
var lengths = func() (e []float64) {
	e = []float64{0x1p-7}
	for k := -12; k <= 16; k++ {
		e = append(e, math.Exp2(float64(k)/2))
	}
	for _, k := range [...]int{9, 10, 11, 12, 13, 14, 15, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 42, 44, 46, 48, 50, 52, 64, 128, 256, 480} {
		e = append(e, math.Ldexp(1, k))
	}
	return e
}()

// The share of rows at the centre that asks for a closer look: a guess.
const someAtom = .2

// unseenReach is the reach, in scales of at least .4 sds, of a column in which noise hides all bins
// though its rows lie in more than one: else all but the rows at its centre would be left out. A
// guess.
const unseenReach = 8.0

// MeasureReach finds how far the columns of space reach, with the part mu2 of mu^2. rows is public
// or released.
func MeasureReach(a *kernel.SubBudget, prefix string, space component.Space, rows, mu2 float64) (t Summary, err error) {
	t.Seen = space
	t.Seen.Scale = slices.Clone(space.Scale)
	t.Columns = make([]Column, space.Dim())
	return t, t.look(a, prefix, rows, mu2, func(Column) bool { return true })
}

// fineReach is how far out, in scales, bins are at most an octave wide.
const fineReach = 0x1p16

// Closer looks again with mu2 of mu^2 at the columns with an atom, a heavy tail or a group apart,
// which may have few rows farther out, alone; or at all of them. A column that reaches into bins of
// many octaves is looked at in another scale, where they are fine: most of its rows are so close to
// the centre that their spread is none of the column's, such as beside a value that they share and
// noise has missed by a billionth.
func (t *Summary) Closer(a *kernel.SubBudget, prefix string, rows, mu2 float64, all bool) error {
	for i, c := range t.Columns {
		far := c.Reach * t.Seen.Scale[i] // beyond all numbers it is noise's
		if end := slices.Index(lengths, c.Reach); c.Reach > fineReach && end > 0 && far <= math.MaxFloat64 {
			t.Seen.Scale[i] *= math.Sqrt(c.Reach * lengths[end-1])
		}
	}
	return t.look(a, prefix, rows, mu2, func(c Column) bool {
		return all || c.Atom > someAtom || c.Group > 0 || c.Reach > fineReach || c.Tail > 0 && c.Tail < lightTail
	})
}

// look releases one histogram of the columns that are wanted, if any are, signed, with the part mu2
// of mu^2, and reads them. rows is public or released.
func (t *Summary) look(a *kernel.SubBudget, prefix string, rows, mu2 float64, want func(Column) bool) error {
	is, size := parts.Map(t.Columns, want), len(lengths)
	if !slices.Contains(is, true) {
		return nil
	}
	q := query.Counts{Edges: make([][]float64, a.Session().Columns())}
	for i, j := range t.Seen.Columns {
		if !is[i] {
			continue
		}
		edges := make([]float64, 2*size)
		for k, l := range lengths {
			far := math.Min(l*t.Seen.Scale[i], math.MaxFloat64/2)
			edges[size+k] = clamp(t.Seen.Center[i] + far)
			edges[size-1-k] = clamp(t.Seen.Center[i] - far)
		}
		q.Edges[j] = edges
	}
	answer, err := a.Sum(ReachStep.Of(prefix), q, parts.Mu(mu2))
	if err != nil {
		return err
	}
	rest := answer.Values
	for i := range t.Columns {
		if is[i] {
			t.Columns[i] = read(rest[:2*size+1], answer.Sigma, rows)
			rest = rest[2*size+1:]
		}
	}
	return nil
}

func clamp(x float64) float64 { return math.Max(-math.MaxFloat64, math.Min(x, math.MaxFloat64)) }

// read reads the histogram of one column: the bins of the negative side from the far end on, that
// of the centre, and those of the positive side.
func read(counts []float64, sigma, rows float64) Column {
	size := len(lengths)
	c := Column{Atom: counts[size] / rows, Reach: lengths[0]}
	side := [2][]float64{counts[size+1:], slices.Clone(counts[:size])}
	slices.Reverse(side[1])
	near := clearSDs
	if c.Atom > someAtom {
		near = nearSDs
	}
	last := [2]int{outermost(side[0], sigma, near, rounding), outermost(side[1], sigma, near, rounding)} // -1: none
	sums := slices.Clone(side[0])
	floats.Add(sums, side[1])
	out := max(last[0], last[1], outermost(sums, math.Sqrt2*sigma, near, 2*rounding))
	if out < 0 && c.Atom <= someAtom {
		// Few rows, spread over many bins: they are about as far out as the scale says.
		out = slices.Index(lengths, unseenReach) - 1
	}
	for i := range size {
		both := side[0][i] + side[1][i]
		if i > out {
			c.Beyond += both / rows
			c.BeyondSD += 2 * sigma * sigma / (rows * rows)
			continue
		}
		low, high := lengths[i], lengths[min(i+1, size-1)]
		square := (low*low + low*high + high*high) / 3
		c.squares = append(c.squares, both/rows*square)
		c.Square += c.squares[i]
		c.SquareSD = math.Hypot(c.SquareSD, math.Sqrt2*sigma/rows*square)
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

// SquareFrom returns what rows at x or farther out add to Square.
func (c *Column) SquareFrom(x float64) (sum float64) {
	for i, v := range c.squares {
		if lengths[i] >= x {
			sum += v
		}
	}
	return math.Max(0, sum)
}

// ShareFrom returns the share of the rows that are seen at x or farther out.
func (c *Column) ShareFrom(x float64) (share float64) {
	for i, v := range c.squares {
		if low, high := lengths[i], lengths[min(i+1, len(lengths)-1)]; low >= x {
			share += v / ((low*low + low*high + high*high) / 3)
		}
	}
	return math.Max(0, share)
}

// A tail that falls faster than lightTail is light. A guess.
const lightTail = 5

// rounding is what rounding to integers adds to the kernel's noise at most. Where noise is small it
// matters: an sd of .15 makes a one, more than six of its sds, of every 2000th number.
const rounding = .5

// outermost returns the last bin that is seen to hold rows, nearby by nearSDs, above noise of the
// sd sigma and whole; -1 if none is.
func outermost(counts []float64, sigma, nearSDs, whole float64) int {
	last := seen(counts, sigma, clearSDs, whole)
	near := sort.SearchFloat64s(lengths, nearby*lengths[min(last+1, len(lengths)-1)])
	return max(last, seen(counts[:min(near, len(counts))], sigma, nearSDs, whole))
}

// seen returns the last bin that holds rows clear of the noise, together with up to three before
// it, and some itself.
func seen(counts []float64, sigma, sds, whole float64) int {
	for i := len(counts) - 1; i >= 0; i-- {
		sum, sds := 0.0, sds
		if lengths[i] >= farOut {
			sds = math.Max(sds, farOutSDs)
		}
		for w := 1; w <= windows && w <= i+1 && counts[i] > someSDs*sigma+whole; w++ {
			if sum += counts[i-w+1]; sum > sds*sigma*math.Sqrt(float64(w))+whole*float64(w) {
				return i
			}
		}
	}
	return -1
}

// tail finds the exponent of the tail between the first length beyond which a tenth of the rows
// are and the last beyond which any are seen, or in the last octave of that, or from
// there to where none are seen, if it falls faster there.
func (c *Column) tail(side [2][]float64, out int, sigma, rows float64) {
	above, to := make([]float64, out+2), -1 // rows from each bin on
	most := math.Min(tailFrom, (1-c.Atom)/2) * rows
	for i := out; i >= 0 && c.Group == 0; i-- {
		above[i] = above[i+1] + side[0][i] + side[1][i]
		if to < 0 {
			if above[i] > clearSDs*sigma*math.Sqrt(2*float64(out-i+1)) {
				to = i
			}
			continue
		}
		octaves := math.Log(lengths[to] / lengths[i])
		slope := math.Log(above[i]/above[to]) / octaves
		if octaves > .9*math.Ln2 && c.last == 0 {
			c.last = slope
		}
		if above[i] > most {
			if octaves > .9*math.Ln2 {
				end := math.Log(above[to]/math.Max(1, c.Beyond*rows+2*c.BeyondSD*rows)) / math.Log(c.Reach/lengths[to])
				c.Tail = max(slope, c.last, end)
				c.TailSD = math.Hypot(sigma*math.Sqrt(2*float64(out-to+1))/above[to], 1/math.Sqrt(above[to])) / octaves
			}
			return
		}
	}
}

// group finds the rows of the outermost octave of a side, if the two octaves before it hold far
// fewer, clear of the noise: those of one group have about as many there.
func (c *Column) group(side [2][]float64, last [2]int, sigma, rows float64) {
	s, sign := 0, 1.0
	if last[1] > last[0] {
		s, sign = 1, -1
	}
	sum, at, bins := 0.0, 0.0, 0.0
	i := last[s]
	for ; i >= 0 && 2*lengths[i] > lengths[last[s]]; i-- {
		sum += side[s][i]
		at += side[s][i] * (lengths[i] + lengths[min(i+1, len(lengths)-1)]) / 2
		bins++
	}
	gap, empty := 0.0, 0.0
	for end := i; i >= 0 && 4*lengths[i] >= lengths[end+1]*(1-1e-9); i-- {
		gap += side[s][i]
		empty++
	}
	if i >= 0 && sum <= mostGroup*rows && sum > clearSDs*sigma*math.Sqrt(bins) && math.Max(gap, 0)+gapSDs*sigma*math.Sqrt(empty) < gapPart*sum {
		c.GroupAt, c.Group, c.GroupSD = sign*at/sum, sum/rows, sigma*math.Sqrt(bins)/rows
	}
}

// The part of a group's rows that the gap before it may hold, and how clear of the noise. More than
// mostGroup of the rows are no group beside others, but the others, where a centre is wrong.
// Guesses.
const gapPart, gapSDs, mostGroup = .4, 2.5, .6
