package categories

import (
	"math"
	"slices"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
)

// ask measures q, and joins what earlier rounds say of all rows: the sums over components are the
// same in all rounds, so what the last round's differ from the mean of all by precision is noise,
// of all components alike.
func (c *counts) ask(a *kernel.SubBudget, q query.CategoryCounts, mu float64) error {
	answer, err := a.Categories(c.step, q, mu)
	if err != nil {
		return err
	}
	c.values, c.sigma = answer.Values, answer.Sigma
	n := c.cells()
	asked := len(answer.Values) / n // components, or all rows
	if c.all == nil {
		c.all, c.precision = make([]float64, n), make([]float64, len(c.columns))
	}
	for column, values := range c.columns {
		at, sums := c.first(column), make([]float64, values)
		for v := range sums {
			for i := range asked {
				sums[v] += c.values[i*n+at+v]
			}
		}
		c.join(column, sums, sums, 1/(c.sigma*c.sigma*float64(asked)))
	}
	c.rows = c.public
	noise := c.sigma * math.Sqrt(float64(len(c.values))) / float64(len(c.columns))
	if seen := c.seen(); c.public == 0 || seen < c.public-quiet*noise { // null rows are in no cell
		c.rows = math.Max(seen, 1)
	}
	return nil
}

// join takes in a column's counts among all rows, of this precision: what was known of all rows
// becomes the mean by precision, and what it differs from the sums of the last round's counts over
// components is their noise.
func (c *counts) join(column int, seen, sums []float64, precision float64) {
	n, at := c.cells(), c.first(column)
	asked := float64(len(c.values) / n)
	for v, x := range seen {
		all := &c.all[at+v]
		*all = (*all*c.precision[column] + x*precision) / (c.precision[column] + precision)
		for i := at + v; i < len(c.values); i += n {
			c.values[i] += (*all - sums[v]) / asked
		}
	}
	c.precision[column] += precision
}

// given returns the logarithms of the probabilities as a query takes them, of every component.
func (c *counts) given(group []int) (out []float64) {
	const least = 1e-3 // of a value that was not seen, or so seldom that the noise rules: a guess
	probabilities := c.probabilities()
	for _, g := range group {
		for _, of := range probabilities {
			for _, p := range of[g] {
				out = append(out, math.Log(math.Max(p, least)))
			}
		}
	}
	return out
}

// weigh returns how many rows group g has, over what its weight says.
func (c *counts) weigh(g int) float64 { return c.rowsOf(g) / (c.weights[g] * c.rows) }

// weighed has q weigh whose a row is by its values and by the rows of components, too: those of
// weights, which are its Unseen.
func (c *counts) weighed(q *query.CategoryCounts, weights []float64) {
	q.Given, q.Components, q.Unseen = c.given(q.Group), slices.Clone(q.Components), slices.Clone(weights)
	for i, g := range q.Group {
		q.Components[i].LogWeight += math.Log(c.weigh(g))
		q.Unseen[i] *= c.weigh(g)
	}
}

// expand returns the probabilities of the components of all groups.
func (c *counts) expand(group []int) (out [][][]float64) {
	for _, of := range c.probabilities() {
		own := make([][]float64, len(group))
		for i, g := range group {
			own[i] = slices.Clone(of[g])
		}
		out = append(out, own)
	}
	return out
}

// settle says how noisy the probabilities are, and gives the components the weights that their rows
// have once values say whose they are.
func (c *counts) settle(out *estimate.Outcome, group []int) {
	for i := range min(len(group), len(out.Diagnostics.Components)) {
		out.Diagnostics.Components[i].CategoryNoise = c.noise(group[i])
	}
	c.reweigh(out, group)
}

// reweigh gives the components the weights that their rows have by the counts.
func (c *counts) reweigh(out *estimate.Outcome, group []int) {
	if len(c.weights) == 1 {
		return
	}
	m, notes, total := out.Model, out.Diagnostics.Components, 0.
	for i, g := range group {
		change := c.weigh(g)
		m.Weights[i] *= change
		total += m.Weights[i]
		if i < len(notes) {
			notes[i].EffectiveRows *= change
		}
	}
	if total > 0 {
		for i := range m.Weights {
			m.Weights[i] /= total
		}
	}
}
