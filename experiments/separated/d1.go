package separated

import (
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/internal/madeup"
)

// A setting is a column of table D.1.
type setting struct {
	name string
	C    float64
	ell  bool // ellipsoids of uneven weights
}

var settings = []setting{{"C6sph", 6, false}, {"C4sph", 4, false}, {"C10sph", 10, false}, {"C6ell", 6, true}, {"C4ell", 4, true}}

// A tabled line is one of table D.1: the smallest number of rows in thousands for each setting; 0
// where the prototype failed.
type tabled struct {
	d, k int
	rows [5]float64
}

// table is what the prototype needed.
//
// Source: [KSSU19] Section D.1 of the restatement.
var table = []tabled{
	{2, 2, [5]float64{2, 3, 2, 4.5, 4.5}},
	{2, 3, [5]float64{2, 1.5, 2, 2, 2}},
	{2, 5, [5]float64{3, 3, 3, 4.5, 4.5}},
	{2, 10, [5]float64{7, 7, 7, 10, 15}},
	{5, 2, [5]float64{2, 2, 2, 10, 10}},
	{5, 3, [5]float64{3, 4.5, 4.5, 4.5, 4.5}},
	{5, 5, [5]float64{7, 7, 7, 7, 10}},
	{5, 10, [5]float64{20, 45, 30, 70, 45}},
	{10, 2, [5]float64{2, 2, 2, 15, 15}},
	{10, 3, [5]float64{4.5, 4.5, 4.5, 7, 7}},
	{10, 5, [5]float64{7, 7, 7, 10, 10}},
	{10, 10, [5]float64{45, 0, 30, 70, 45}},
	{50, 2, [5]float64{10, 10, 10, 45, 45}},
	{50, 3, [5]float64{10, 10, 10, 30, 20}},
	{50, 5, [5]float64{20, 20, 20, 30, 30}},
	{50, 10, [5]float64{0, 0, 100, 0, 0}},
}

// untabled is where a search starts that the table does not help.
const untabled = 70_000

func (t tabled) n(i int) int { return int(1000 * t.rows[i]) }

// spec is the problem of a setting.
func (s setting) spec(d, k int) madeup.Spec {
	p := madeup.Spec{Columns: d, Components: k, Separation: s.C}
	if s.ell {
		p.Covariance, p.Uneven = madeup.Ellipsoid, true
	}
	return p
}

// tableCells are the cells of D.1, with the tabulated number of rows times a factor; those without
// one get the start of a search.
func tableCells(factor float64) []cell {
	var out []cell
	for _, t := range table {
		for i, s := range settings {
			n := t.n(i)
			if n == 0 {
				n = untabled
			}
			out = append(out, cell{name: fmt.Sprintf("%d/%d/%s", t.d, t.k, s.name), spec: s.spec(t.d, t.k), rows: []int{int(factor*float64(n) + .5)}})
		}
	}
	return out
}

// cellOf finds a line of the table.
func cellOf(r *results, d, k int, s setting, method string) *line {
	return r.Of(fmt.Sprintf("%d/%d/%s", d, k, s.name), method)
}

// d1 is the table of the smallest numbers of rows.
var d1 = experiment{
	name: "d1", title: "How many rows are needed",
	about: "The smallest n on the grid 1, 1.5, 2, 3, 4.5, 7, 10, .. thousand at which at least 18 of 20 runs have all means within 0.5 Mahalanobis; " +
		"the number of components is given. C6sph: spheres of equal weight, the closest means 6 √k standard deviations apart; C6ell: random ellipsoids " +
		"with eigenvalues log-uniform in [.05, 1] and weights down to .1. In brackets what the prototype of the restatement (D.1) needed.",
	cells: func() []cell { return tableCells(1) }, search: true, runs: 20, success: means,
	summary: func(p *engine.Page, r *results) {
		for _, m := range r.Contenders() {
			d1Table(p, r, m)
		}
		for _, m := range r.Contenders() {
			slopes(p, r, m)
		}
	},
}

// d1Table is table D.1 for one method.
func d1Table(p *engine.Page, r *results, method string) {
	p.Heading("Smallest n: " + method)
	t := engine.Table{Head: []string{"d", "k"}}
	for _, s := range settings {
		t.Head = append(t.Head, s.name)
	}
	t.Head = append(t.Head, "s per fit")
	within, of := 0, 0
	for _, line := range table {
		row := []any{line.d, line.k}
		var seconds []float64
		some := false
		for i, s := range settings {
			got := cellOf(r, line.d, line.k, s, method)
			if got == nil {
				row = append(row, "")
				continue
			}
			some = true
			row = append(row, fmt.Sprintf("%s (%s)", leastText(r, got), engine.Rows(line.n(i))))
			for _, runs := range got.Results {
				for _, run := range runs {
					seconds = append(seconds, run.Seconds)
				}
			}
			if line.n(i) > 0 {
				of++
				if got.Least > 0 && got.Least <= oneStepAbove(line.n(i)) {
					within++
				}
			}
		}
		if some {
			t.Add(append(row, engine.Number(engine.Median(seconds)))...)
		}
	}
	p.Table(t)
	p.Text(fmt.Sprintf("At most one grid step above the prototype in %d of %d cells.", within, of))
}

// leastText is the smallest sufficient number of rows, or how far it was looked for.
func leastText(r *results, l *line) string {
	if n := l.Ran(); l.Least > 0 && l.Least == n[0] && (n[0] > engine.Grid[0] || r.Options.Rows != nil) {
		return "≤ " + engine.Rows(l.Least)
	}
	return l.LeastText()
}

func oneStepAbove(n int) int {
	for _, g := range engine.Grid {
		if g > n {
			return g
		}
	}
	return n
}

// slopes sets the growth of the smallest n beside the exponents of the theorems.
func slopes(p *engine.Page, r *results, method string) {
	t := engine.Table{Head: []string{"setting", "held fixed", "grows with", "measured exponent", "Theorem 4.3", "Theorem 3.1 (spheres)"}}
	add := func(s setting, held, grows, theorem, warmUp string, x, y []float64) {
		if slope, sd := engine.LogLogSlope(x, y); len(x) > 2 && !math.IsNaN(slope) {
			t.Add(s.name, held, grows, engine.Slope(slope, sd), theorem, warmUp)
		}
	}
	for _, s := range settings {
		for _, k := range []int{2, 3, 5, 10} {
			var x, y []float64
			for _, d := range []int{2, 5, 10, 50} {
				if l := cellOf(r, d, k, s, method); l != nil && l.Least > 0 {
					x, y = append(x, float64(d)), append(y, float64(l.Least))
				}
			}
			add(s, fmt.Sprintf("k = %d", k), "d", "1.5 to 2", "1 to 1.5", x, y)
		}
		for _, d := range []int{2, 5, 10, 50} {
			var x, y []float64
			for _, k := range []int{2, 3, 5, 10} {
				if l := cellOf(r, d, k, s, method); l != nil && l.Least > 0 {
					x, y = append(x, float64(k)), append(y, float64(l.Least))
				}
			}
			add(s, fmt.Sprintf("d = %d", d), "k", "1 to 10.06", "1 to 3", x, y)
		}
	}
	if len(t.Rows) == 0 {
		return
	}
	p.Heading("Exponents: " + method)
	p.Text("Log-log slopes of the smallest n by least squares, with their standard errors. The theorems bound n from above by a sum of terms, with " +
		"w = 1/k; the exponents are the least and the largest of the terms d²/(α²w), d²/(αwε), k^9.06 d^1.5/(wε) (Theorem 4.3) and dk/α², d^1.5 k³/ε, dk/(αε) " +
		"(Theorem 3.1). Weights down to .1 make the growth with k in the settings \"ell\" one of 1/w as well.")
	p.Table(t)
}
