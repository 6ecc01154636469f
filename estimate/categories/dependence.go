package categories

import (
	"cmp"
	"math"
	"slices"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
)

// Steps of the dependence of columns of categories on each other within components: all pairs are
// counted, and then those of the spanning tree of the largest dependence (Chow and Liu 1968).
const (
	StepPairs = "category pairs"
	StepTree  = "category tree"
)

// Utility constants of the dependence, guesses, tried on one public table.
const (
	// The part of mu^2: such that the noise of a pair's count is pairNoise of all rows, within
	// leastPairs and mostPairs; none where it would be more than pairNoisy.
	leastPairs, mostPairs, pairNoise, pairNoisy = .03, .06, .006, .02
	// choosing is the part of that for all pairs; the rest is the tree's.
	choosing = 1. / 3
	// Where that would be too noisy, the pairs with the last column alone are counted, once, for
	// starPart of what the counts of columns would have had: numbers do not pay for them. The noise
	// may be starNoisy of all rows. Chosen of .15, .3, .4 and .5, and of .05 and .07, on three
	// public tables of 800 and 1,000 rows, 2026-11-30: with .15 a classifier of the last column had
	// nothing, and with .07 columns of categories lost more than it had. .5 was no better on four
	// other tables.
	starPart, starNoisy = .3, .05
	// Pairs of more cells are left out: what is released of each is k times as many numbers.
	mostPairCells = 4096
	// A cell that is so many sds of noise and chance from what its components say is taken as it
	// is, and others are drawn towards that; an edge that is not so many above them is dropped. Of
	// pairs with the last column none is that is above them at all: many weak ones predict it
	// together. Areas under the ROC curve of four tables of 700 and 800 rows were .83, .60, .79 and
	// .63 in the place of .80, .55, .79 and .63 (12 splits, epsilon 3).
	clearCell, clearEdge = 2.5, 2.0
	// least is the least part of what its components say that a cell is taken to have.
	leastCell = 1e-3
)

// pairsOf returns the pairs of columns with so many values that are counted: as many as one query
// has room for.
func pairsOf(values []int) (pairs []query.CategoryPair) {
	room := query.MaxCells
	for a := range values {
		for b := range a {
			if cells := values[a] * values[b]; cells <= min(mostPairCells, room) {
				pairs, room = append(pairs, query.CategoryPair{A: b, B: a}), room-cells
			}
		}
	}
	return pairs
}

// starOf returns those of pairsOf that have the last column: of a table with an outcome usually
// this one, so that it depends on the others where rows are too few to look for what depends on
// what.
func starOf(values []int) []query.CategoryPair {
	return slices.DeleteFunc(pairsOf(values), func(p query.CategoryPair) bool { return p.A != len(values)-1 && p.B != len(values)-1 })
}

// first returns the part of the dependence's budget for the pairs that are counted first.
func (s Shares) first() float64 {
	if s.Star {
		return 1
	}
	return choosing
}

// clear returns how many sds above what the components say an edge has to be.
func (s Shares) clear() float64 {
	if s.Star {
		return 0
	}
	return clearEdge
}

// counted returns the pairs that are counted first.
func (s Shares) counted(values []int) []query.CategoryPair {
	if s.Star {
		return starOf(values)
	}
	return pairsOf(values)
}

// Lists returns how many pairs of columns with so many values each step of the dependence counts.
func (s Shares) Lists(values []int) map[string]int {
	var all []*edge
	for _, pair := range s.counted(values) {
		all = append(all, &edge{CategoryPair: pair})
	}
	return map[string]int{StepPairs: len(all), StepTree: len(spanning(all, len(values)))}
}

// depend adds what the dependence of columns on each other costs, of which the counts of columns
// would have s.All.
func (s *Shares) depend(p estimate.Problem, mu float64) {
	pairs := float64(len(pairsOf(p.Categories)))
	switch {
	case pairs == 0:
		return
	case p.Rows == 0:
		s.Pairs = mostPairs
		s.All += s.Pairs
		return
	}
	one := program.Factor(p.Relation) / (float64(p.Rows) * mu)
	if noise := one * math.Sqrt(pairs/(choosing*mostPairs)); noise <= pairNoisy {
		s.Pairs = math.Max(leastPairs, math.Min(mostPairs*noise*noise/(pairNoise*pairNoise), mostPairs))
		s.All += s.Pairs
		return
	}
	if own := len(starOf(p.Categories)); own > 0 && one*math.Sqrt(float64(own)/(starPart*s.All)) <= starNoisy {
		s.Pairs, s.Star = starPart*s.All, true
	}
}

// An edge is a pair of columns: noisy counts of its cells, what the components say of them, and how
// far the counts are from that.
type edge struct {
	query.CategoryPair
	counts, expected, apart []float64
	variances               []float64 // of apart, by noise and chance
	sigma, free             float64   // free is the part of the cells that margins leave free
}

// gain returns by how much the counts differ from what the components say beyond noise and chance,
// and the standard deviation of that, in rows.
func (e *edge) gain() (gain, sd float64) {
	square := 0.
	for v, x := range e.apart {
		gain += math.Abs(x) - math.Sqrt(2/math.Pi*e.variances[v])
		square += (1 - 2/math.Pi) * e.variances[v]
	}
	return gain, math.Sqrt(square / e.free)
}

// expect states what the components say of the cells, as k probabilities of each column's values,
// rows of components and of all. Sums over a column's values are known apart from the pair, so that
// what the counts add is how far cells are from that beyond such sums: the differences without
// their means by rows and columns of the table, which leaves part of the noise out.
func (e *edge) expect(pa, pb [][]float64, weights []float64, all float64) {
	m := len(pb[0])
	e.expected, e.apart, e.variances = make([]float64, len(e.counts)), make([]float64, len(e.counts)), make([]float64, len(e.counts))
	for i, w := range weights {
		for v := range e.expected {
			e.expected[v] += all * w * pa[i][v/m] * pb[i][v%m]
		}
	}
	rows, columns, sum := margins(e.expected, m)
	var own []float64 // of values that some have
	r, k := 0., 0.
	for v, x := range e.expected {
		if rows[v/m] > 0 && columns[v%m] > 0 {
			own = append(own, e.counts[v]-x)
		}
	}
	for _, x := range rows {
		if x > 0 {
			r++
		}
	}
	for _, x := range columns {
		if x > 0 {
			k++
		}
	}
	if len(own) == 0 { // components of no rows: no edge
		return
	}
	byRow, byColumn, whole := margins(own, int(k))
	e.free = (1 - 1/r) * (1 - 1/k)
	at := 0
	for v, x := range e.expected {
		if rows[v/m] > 0 && columns[v%m] > 0 {
			e.apart[v] = own[at] - byRow[at/int(k)]/k - byColumn[at%int(k)]/r + whole/(r*k)
			e.variances[v] = e.sigma*e.sigma*e.free + x*(1-rows[v/m]/sum)*(1-columns[v%m]/sum)
			at++
		}
	}
}

// ask measures the counts of edges, joins them to those that they have, by their precision, and
// their sums over a column's values to what is known of the other.
func (c *counts) pairs(a *kernel.SubBudget, step string, edges []*edge, mu float64) error {
	q := query.CategoryCounts{Values: c.columns}
	for _, e := range edges {
		q.Pairs = append(q.Pairs, e.CategoryPair)
	}
	answer, err := a.Categories(step, q, mu)
	if err != nil {
		return err
	}
	at, precision := 0, 1/(answer.Sigma*answer.Sigma)
	for _, e := range edges {
		n, m := c.columns[e.A], c.columns[e.B]
		own := answer.Values[at : at+n*m]
		at += n * m
		rows, columns, _ := margins(own, m)
		c.join(e.A, rows, c.sums(e.A), precision/float64(m))
		c.join(e.B, columns, c.sums(e.B), precision/float64(n))
		if e.counts == nil {
			e.counts, e.sigma = slices.Clone(own), answer.Sigma
			continue
		}
		first := 1 / (e.sigma * e.sigma)
		for v, x := range own {
			if e.counts[v] = (first*e.counts[v] + precision*x) / (first + precision); answer.Sigma == 0 {
				e.counts[v] = x
			}
		}
		e.sigma = math.Sqrt(1 / (first + precision))
	}
	return nil
}

// dependence measures how columns depend on each other beyond their components, of a budget mu2,
// and says it in out: of each column which other one it depends on, and its probabilities given
// that one's values, which stay those of shares on the whole.
func (c *counts) dependence(a *kernel.SubBudget, s Shares, mu2 float64, out *estimate.Outcome, group []int) error {
	var all []*edge
	for _, pair := range s.counted(c.columns) {
		all = append(all, &edge{CategoryPair: pair})
	}
	var p [][][]float64
	var weights []float64
	expect := func(edges []*edge) {
		p, weights = c.probabilities(), nil
		total := 0.
		for i := range c.weights {
			weights = append(weights, c.rowsOf(i))
			total += weights[i]
		}
		for i := range weights {
			weights[i] /= total
		}
		for _, e := range edges {
			e.expect(p[e.A], p[e.B], weights, c.rows)
		}
	}
	first := s.first()
	if err := c.pairs(a, StepPairs, all, math.Sqrt(first*mu2)); err != nil {
		return err
	}
	expect(all)
	tree := spanning(all, len(c.columns))
	if first < 1 {
		if err := c.pairs(a, StepTree, tree, math.Sqrt((1-first)*mu2)); err != nil {
			return err
		}
		expect(tree)
	}
	tree = slices.DeleteFunc(tree, func(e *edge) bool { gain, sd := e.gain(); return !(gain > s.clear()*sd) })
	out.CategoryOf, out.CategoryGiven = make([]int, len(c.columns)), make([][][][]float64, len(c.columns))
	reached := make([]bool, len(c.columns))
	for root := range c.columns {
		if !reached[root] {
			out.CategoryOf[root] = -1
			c.grow(root, tree, reached, p, weights, out, group)
		}
	}
	return nil
}

// grow has the columns that edges join to one depend on it, and those joined to them on them.
func (c *counts) grow(from int, tree []*edge, reached []bool, p [][][]float64, weights []float64, out *estimate.Outcome, group []int) {
	reached[from] = true
	for _, e := range tree {
		to := e.B
		if e.A != from {
			if to = e.A; e.B != from {
				continue
			}
		}
		if reached[to] {
			continue
		}
		joint := e.within(p[e.A], p[e.B], weights)
		out.CategoryOf[to] = from
		for _, g := range group {
			out.CategoryGiven[to] = append(out.CategoryGiven[to], given(joint[g], p[from][g], p[to][g], to == e.B))
		}
		c.grow(to, tree, reached, p, weights, out, group)
	}
}

// spanning returns the forest of the largest gains over n columns.
func spanning(all []*edge, n int) (tree []*edge) {
	sorted, part := slices.Clone(all), make([]int, n)
	slices.SortStableFunc(sorted, func(e, f *edge) int {
		x, _ := e.gain()
		y, _ := f.gain()
		return cmp.Compare(y, x)
	})
	for a := range part {
		part[a] = a
	}
	for _, e := range sorted {
		if from, to := part[e.A], part[e.B]; from != to {
			tree = append(tree, e)
			for a := range part {
				if part[a] == to {
					part[a] = from
				}
			}
		}
	}
	return tree
}

// target returns the counts, drawn towards what the components say as far as noise and chance would
// have moved them, and none below a small part of that.
func (e *edge) target() []float64 {
	energy, square := 0., 0.
	for v, x := range e.apart {
		energy += x*x - e.variances[v]
		square += e.expected[v] * e.expected[v]
	}
	out := make([]float64, len(e.counts))
	for v, x := range e.apart {
		noise := e.variances[v]
		keep, prior := 1., math.Max(0, energy)/square*e.expected[v]*e.expected[v]
		if math.Abs(x) <= clearCell*math.Sqrt(noise) {
			if keep = 0; prior+noise > 0 {
				keep = prior / (prior + noise)
			}
		}
		out[v] = math.Max(e.expected[v]+keep*x, leastCell*e.expected[v])
	}
	return out
}

// within returns the joint probabilities of an edge's cells in each component: those of one table
// of odds ratios for all components, with each component's own margins, that together have the
// counts.
func (e *edge) within(pa, pb [][]float64, weights []float64) (joint [][]float64) {
	const steps, rakes, power = 30, 15, .7
	rows, columns, sum := margins(e.expected, len(pb[0]))
	target := e.target()
	rake(target, rows, columns, 50)
	odds := slices.Repeat([]float64{1}, len(target))
	joint = make([][]float64, len(weights))
	for range steps {
		have := make([]float64, len(target))
		for i, w := range weights {
			own := slices.Clone(odds)
			for x, px := range pa[i] {
				for y, py := range pb[i] {
					own[x*len(pb[i])+y] *= px * py
				}
			}
			rake(own, pa[i], pb[i], rakes)
			for v := range own {
				have[v] += sum * w * own[v]
			}
			joint[i] = own
		}
		for v, t := range target {
			if have[v] > 0 && t > 0 {
				odds[v] *= math.Pow(math.Max(.2, math.Min(t/have[v], 5)), power)
			}
		}
	}
	return joint
}

// margins returns the sums of a table's rows and columns, and of all.
func margins(table []float64, m int) (rows, columns []float64, sum float64) {
	rows, columns = make([]float64, len(table)/m), make([]float64, m)
	for v, x := range table {
		rows[v/m], columns[v%m], sum = rows[v/m]+x, columns[v%m]+x, sum+x
	}
	return rows, columns, sum
}

// rake scales the rows and columns of a table so many times, so that it has these margins.
func rake(table, rows, columns []float64, times int) {
	m := len(columns)
	for range times {
		have, _, _ := margins(table, m)
		for v := range table {
			if have[v/m] > 0 {
				table[v] *= rows[v/m] / have[v/m]
			}
		}
		_, have, _ = margins(table, m)
		for v := range table {
			if have[v%m] > 0 {
				table[v] *= columns[v%m] / have[v%m]
			}
		}
	}
}

// given returns the probabilities of one column's values given each of the other's, of a joint
// table whose columns are the one's if second is set.
func given(joint, parent, child []float64, second bool) (out [][]float64) {
	for x := range parent {
		p, sum := make([]float64, len(child)), 0.
		for y := range child {
			if p[y] = joint[x*len(child)+y]; !second {
				p[y] = joint[y*len(parent)+x]
			}
			sum += p[y]
		}
		for y := range p {
			if p[y] /= sum; !(sum > 0) || p[y] != p[y] { // of a value that nobody has
				p = slices.Clone(child)
				break
			}
		}
		out = append(out, p)
	}
	return out
}
