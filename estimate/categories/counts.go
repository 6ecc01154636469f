package categories

import (
	"math"
	"slices"

	"github.com/gauze-dp/gauze/estimate"
)

// counts are what has been released: for each component, of the values of each column.
type counts struct {
	step    string
	values  []float64
	sigma   float64 // noise sd of each
	weights []float64
	columns []int   // values of each column
	public  float64 // number of rows; 0 where that is private
	rows    float64
	// of each value among all rows, the mean of all counts by their precision, and that, by column
	all, precision []float64
}

// cells returns the number of values of all columns.
func (c *counts) cells() (n int) {
	for _, v := range c.columns {
		n += v
	}
	return n
}

// of returns the counts of column a in component i.
func (c *counts) of(i, a int) []float64 {
	at := i*c.cells() + c.first(a)
	return c.values[at : at+c.columns[a]]
}

// seen returns the number of rows by the counts of all columns.
func (c *counts) seen() (n float64) {
	for _, v := range c.values {
		n += v
	}
	return n / float64(len(c.columns))
}

// sums returns the counts of column a over all components and all rounds.
func (c *counts) sums(a int) []float64 {
	at := c.first(a)
	return slices.Clone(c.all[at : at+c.columns[a]])
}

// first returns the place of column a's first value among those of all columns.
func (c *counts) first(a int) (at int) {
	for _, v := range c.columns[:a] {
		at += v
	}
	return at
}

// doubt is how far, relatively, the rows of a component may be from its weight, apart from the
// noise: a guess. Counts that are clearly farther off show that they are: a background of few rows
// by its weight gets all that are in no other component.
const doubt = .05

// rowsOf returns the number of rows of component i: by its weight, and by the counts as far as
// their noise allows.
func (c *counts) rowsOf(i int) float64 {
	own, expected := 0., c.weights[i]*c.rows
	for a := range c.columns {
		for _, n := range c.of(i, a) {
			own += n / float64(len(c.columns))
		}
	}
	noise := c.sigma * math.Sqrt(float64(c.cells())) / float64(len(c.columns))
	off := math.Max(doubt*expected, math.Abs(own-expected)-quiet*noise)
	told, known := noise*noise, off*off
	if told+known == 0 {
		return math.Max(1, expected)
	}
	return math.Max(1, (expected*told+own*known)/(told+known))
}

// noise returns the noise sd of a probability of component i.
func (c *counts) noise(i int) float64 { return c.sigma / c.rowsOf(i) }

// quiet noise sds of missing cells may be none.
const quiet = 2.0

// shares returns the share of all rows that have each value of each column.
func (c *counts) shares() (out []estimate.CategoryProfile) {
	for a := range c.columns {
		p, sd := c.sums(a), 1/math.Sqrt(c.precision[a])/c.rows
		for v := range p {
			p[v] = math.Max(0, math.Min(1, p[v]/c.rows))
		}
		out = append(out, estimate.CategoryProfile{Shares: p, Noise: sd})
	}
	return out
}

// probabilities returns the probabilities of the values of each column in each component, k x m:
// the counts over the component's rows, shrunk towards those of all rows as far as noise alone
// would have moved them (James and Stein), and projected onto the simplex. A count of missing cells
// that may be noise alone is set to zero.
func (c *counts) probabilities() (out [][][]float64) {
	for a, m := range c.columns {
		all := c.sums(a)
		complete := m > 1 && all[m-1] < quiet/math.Sqrt(c.precision[a])
		for v := range all {
			all[v] /= c.rows
		}
		all = simplex(all, complete)
		var of [][]float64
		for i := range c.weights {
			p, n := slices.Clone(c.of(i, a)), c.rowsOf(i)
			energy := 0.
			for v := range p {
				p[v] = p[v]/n - all[v]
				energy += p[v] * p[v]
			}
			keep := 1.
			if len(c.weights) > 1 && energy > 0 {
				keep = math.Max(0, 1-float64(m-1)*c.noise(i)*c.noise(i)/energy)
			}
			for v := range p {
				p[v] = all[v] + keep*p[v]
			}
			of = append(of, simplex(p, complete))
		}
		c.rake(of, all)
		for i := range of {
			of[i] = floored(of[i], complete, c.noise(i))
		}
		out = append(out, of)
	}
	return out
}

// rake changes the probabilities of components so that together they are those of all rows, which
// projecting each by itself makes larger where they are small.
func (c *counts) rake(of [][]float64, all []float64) {
	const steps = 20
	total := 0.
	for i := range of {
		total += c.rowsOf(i)
	}
	for range steps {
		have := make([]float64, len(all))
		for i, p := range of {
			for v := range p {
				have[v] += c.rowsOf(i) / total * p[v]
			}
		}
		for i, p := range of {
			raked, sum := make([]float64, len(p)), 0.
			for v := range p {
				if have[v] > 0 {
					raked[v] = p[v] * all[v] / have[v]
				}
				sum += raked[v]
			}
			for v := range p {
				if sum > 0 { // else no row has any of its values
					of[i][v] = raked[v] / sum
				}
			}
		}
	}
}

// Utility constants of floored, guesses: a part of the noise, and of all rows.
const (
	floorNoise = .05
	floorRows  = .01
)

// floored returns p with every probability at least a small part of its noise: a value that was
// declared and not seen is rare, and not impossible. complete leaves the last probability as it is.
func floored(p []float64, complete bool, noise float64) []float64 {
	n := len(p)
	if complete {
		n--
	}
	low := math.Min(floorNoise*noise, floorRows/float64(n))
	for v := range n {
		p[v] = low + (1-low*float64(n))*p[v]
	}
	return p
}

// simplex returns the point of the probability simplex that is nearest to p; complete: of those
// whose last entry is 0.
func simplex(p []float64, complete bool) []float64 {
	out, n := make([]float64, len(p)), len(p)
	if complete {
		n--
	}
	sorted := slices.Clone(p[:n])
	slices.SortFunc(sorted, func(x, y float64) int {
		switch {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	sum, shift := 0., 0.
	for i, v := range sorted {
		sum += v
		if s := (sum - 1) / float64(i+1); v > s {
			shift = s
		}
	}
	total := 0.
	for v := range n {
		out[v] = math.Max(0, p[v]-shift)
		total += out[v]
	}
	for v := range n { // but for rounding
		out[v] /= total
	}
	return out
}
