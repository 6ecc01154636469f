package kernel

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/gauze-dp/gauze/kernel/internal/core"
	"github.com/gauze-dp/gauze/kernel/internal/engine"
	"github.com/gauze-dp/gauze/kernel/internal/noise"
)

// A Completion is a mixture of Gaussians, public or released, from which Complete draws missing
// cells: in the coordinates (x - Center)/Scale of some columns of a table.
type Completion struct {
	Columns       []int // each once; at least one
	Center, Scale []float64
	// Rest has a value for every column of the table, with which cells of the other columns are
	// filled.
	Rest       []float64
	LogWeights []float64
	Means      [][]float64
	Covs       [][][]float64
	// Missing are columns of the table, each once. If there are any, the completed table's codes
	// are theirs in place of its own: for each of them 1 in a row that lacks the cell, else 0.
	Missing []int
}

// Complete returns a sub-budget in whose table every row that lacks some of its cells has them
// drawn from the mixture, given the cells that it has and with coins of its own. A row without any
// cell of the mixture's columns stays a null row. It has a's budget, and measurements cost the
// same. Complete takes one pass over the rows, costs nothing and releases nothing.
//
// Theorem. Measurements of the table and of the completed one together satisfy the same guarantee
// as if all were of the table, provided that the mixture is public or released.
//
// Proof. Let neighbours have their common rows' coins in common, as in the proof of Subsample:
// coins are independent of all rows and of each other. Given the coins, a row of the new table is a
// function of the same row of the old one, its own coins and the mixture, which is the same for
// both neighbours given what was released, whatever floating point makes of it; its codes of
// categories are the same, or with Missing a function of the same row. So given the coins the
// tables made of neighbours differ in that one row, by replacing it or by its presence, or not at
// all, and each measurement satisfies the theorem of its own kind, whose proof asks nothing of a
// table but its neighbours. The filter holds their sum. Under replace-one both tables have n rows;
// under add-or-remove-one Rows reports nothing.
func Complete(a *core.SubBudget, by Completion) (completed *core.SubBudget, err error) {
	if err := by.validate(a.Session().Columns()); err != nil {
		return nil, err
	}
	err = core.Secretly(a, func(d *core.Draw) error {
		t, read := d.Rows(), engine.Seen{Table: d.Rows()}.Pieces()
		c := completer{Completion: by, coin: func() float64 { return (float64(noise.Uniform(d.Source(), 1<<52)) + .5) / (1 << 52) }, known: map[string][]conditional{}}
		whole := t.Beside(t.Columns()) // on disk if the table is
		row, gaps, lost := make([]float64, t.Columns()), t.Beside(max(1, len(by.Missing))), make([]float64, len(by.Missing))
		for first := 0; first < t.Len() && d.Context().Err() == nil; first += engine.PieceRows {
			for piece := read(first / engine.PieceRows); len(piece) > 0; piece = piece[t.Columns():] {
				if copy(row, piece); by.Missing != nil {
					for i, j := range by.Missing {
						if lost[i] = 0; math.IsNaN(row[j]) {
							lost[i] = 1
						}
					}
					gaps.Append(lost)
				}
				c.complete(row)
				whole.Append(row)
			}
		}
		if err := cmp.Or(d.Filled(whole), d.Filled(gaps)); err != nil {
			return err
		}
		if whole.TakeCodes(t); by.Missing != nil {
			whole.SetCodes(gaps)
		}
		completed = core.Instead(a, whole, d.Relation(), 0)
		return nil
	})
	return completed, err
}

// validate returns an error for a mixture that does not fit a table of d columns.
func (by Completion) validate(d int) error {
	n, k := len(by.Columns), len(by.LogWeights)
	fits := n > 0 && k > 0 && len(by.Center) == n && len(by.Scale) == n && len(by.Rest) == d && len(by.Means) == k && len(by.Covs) == k
	for _, j := range slices.Concat(by.Columns, by.Missing) {
		fits = fits && 0 <= j && j < d
	}
	for i := 0; fits && i < k; i++ {
		fits = len(by.Means[i]) == n && len(by.Covs[i]) == n
		for a := 0; fits && a < n; a++ {
			fits = len(by.Covs[i][a]) == n
		}
	}
	if !fits {
		return fmt.Errorf("kernel: Complete: want a mixture of columns of a table of %d, got another shape", d)
	}
	return nil
}

// A completer draws missing cells. What it remembers depends on the mixture and on which cells are
// missing alone, so that a row's cells depend on that row and its coins.
type completer struct {
	Completion
	coin  func() float64 // uniform in (0, 1)
	known map[string][]conditional
}

// mostKnown bounds the numbers that are remembered of patterns of missing cells: memory must not
// follow how many of them the rows have.
const mostKnown = 1 << 22

// A conditional is one component given some of its coordinates: with the Cholesky factor of their
// covariance, the regression of the others on them, and the factor of what is left.
type conditional struct {
	seen, lost   []int
	factor       [][]float64
	logDet       float64
	slope, noise [][]float64
}

// complete fills the missing cells of a row, NaN, or makes it a null row.
func (c *completer) complete(row []float64) {
	if !slices.ContainsFunc(row, math.IsNaN) {
		return
	}
	any, pattern := false, make([]byte, len(c.Columns))
	for i, j := range c.Columns {
		if !math.IsNaN(row[j]) {
			any, pattern[i] = true, 1
		}
	}
	if !any {
		for j := range row {
			row[j] = math.NaN()
		}
		return
	}
	of := c.given(string(pattern))
	z := make([]float64, len(c.Columns))
	for i, j := range c.Columns {
		z[i] = (row[j] - c.Center[i]) / c.Scale[i]
	}
	component, from := c.pick(of, z)
	for i, m := range from.lost {
		v := c.Means[component][m]
		for b, s := range from.seen {
			v += from.slope[i][b] * (z[s] - c.Means[component][s])
		}
		z[m] = v
	}
	normal := make([]float64, len(from.lost))
	for i := range normal {
		normal[i] = math.Sqrt2 * math.Erfinv(2*c.coin()-1)
	}
	for i, m := range from.lost {
		for b := 0; b <= i; b++ {
			z[m] += from.noise[i][b] * normal[b]
		}
		row[c.Columns[m]] = c.Center[m] + c.Scale[m]*z[m]
	}
	for j, v := range row {
		if math.IsNaN(v) {
			row[j] = c.Rest[j]
		}
	}
}

// pick draws the component of a row with the coordinates z, by the posterior given those seen.
func (c *completer) pick(of []conditional, z []float64) (int, conditional) {
	logs, most := make([]float64, len(of)), math.Inf(-1)
	for k, g := range of {
		square, y := 0., make([]float64, len(g.seen))
		for a, s := range g.seen {
			y[a] = z[s] - c.Means[k][s]
			for b := range a {
				y[a] -= g.factor[a][b] * y[b]
			}
			y[a] /= g.factor[a][a]
			square += y[a] * y[a]
		}
		logs[k] = c.LogWeights[k] - g.logDet - square/2
		most = math.Max(most, logs[k])
	}
	total := 0.
	for k, l := range logs {
		if logs[k] = math.Exp(l - most); !(logs[k] >= 0) { // all of them infinitely far
			logs[k] = 1
		}
		total += logs[k]
	}
	at := c.coin() * total
	for k, p := range logs {
		if at -= p; at < 0 {
			return k, of[k]
		}
	}
	return 0, of[0]
}

// given returns the components given the coordinates that a pattern marks with 1.
func (c *completer) given(pattern string) (of []conditional) {
	if known, ok := c.known[pattern]; ok {
		return known
	}
	own := conditional{}
	for i := range pattern {
		if pattern[i] == 1 {
			own.seen = append(own.seen, i)
		} else {
			own.lost = append(own.lost, i)
		}
	}
	for _, cov := range c.Covs {
		of = append(of, own.of(cov))
	}
	if n := len(pattern); (len(c.known)+1)*len(of)*n*n <= mostKnown {
		c.known[pattern] = of
	}
	return of
}

// of returns the conditional of a component with this covariance.
func (g conditional) of(cov [][]float64) conditional {
	order := append(append([]int(nil), g.seen...), g.lost...)
	// The factor of the whole, the seen coordinates first: its blocks are the factor of the seen,
	// the regression before it is solved, and the factor of what is left.
	n, s := len(order), len(g.seen)
	l := make([][]float64, n)
	for a := range l {
		l[a] = make([]float64, a+1)
		for b := 0; b <= a; b++ {
			v := cov[order[a]][order[b]]
			for e := range b {
				v -= l[a][e] * l[b][e]
			}
			if a == b {
				l[a][a] = math.Sqrt(math.Max(v, leastPivot*math.Max(cov[order[a]][order[a]], math.SmallestNonzeroFloat64)))
			} else {
				l[a][b] = v / l[b][b]
			}
		}
	}
	g.factor, g.logDet = l[:s], 0
	for a := range s {
		g.logDet += math.Log(l[a][a])
	}
	for a := s; a < n; a++ {
		slope := make([]float64, s) // solves slope · factor = l[a][:s]
		for b := s - 1; b >= 0; b-- {
			v := l[a][b]
			for e := b + 1; e < s; e++ {
				v -= slope[e] * l[e][b]
			}
			slope[b] = v / l[b][b]
		}
		g.slope, g.noise = append(g.slope, slope), append(g.noise, l[a][s:])
	}
	return g
}

// leastPivot keeps what is left of a variance above rounding.
const leastPivot = 1e-10
