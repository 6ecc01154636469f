package separated

import (
	"fmt"
	"math"
	"slices"

	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/internal/madeup"
)

// separation moves the components together.
var separation = experiment{
	name: "separation", title: "Separation",
	about: "Spheres of equal weight whose closest means are a number of standard deviations apart. " + bothAbout +
		" Theorem 4.3 asks for a separation that grows like √(k log n); below about 4 standard deviations the components overlap.",
	cells: func() []cell {
		var out []cell
		for _, l := range []struct{ d, k int }{{2, 3}, {5, 3}, {20, 7}} {
			for _, gap := range []float64{2.5, 3, 4, 5, 6, 8, 12, 16, 24} {
				out = append(out, both(cell{name: fmt.Sprintf("%d/%d/%g", l.d, l.k, gap), rows: []int{10_000, 30_000}, line: fmt.Sprintf("d = %d, k = %d", l.d, l.k), x: gap,
					spec: madeup.Spec{Columns: l.d, Components: l.k, Gap: gap}})...)
			}
		}
		return out
	},
	runs: 20, success: meansAndNumber,
	summary: func(p *engine.Page, r *results) {
		for _, m := range r.Contenders() {
			p.Heading("Success against separation: " + m)
			for _, n := range rowsOf(r) {
				p.Picture(fmt.Sprintf("separation-%s-%d", m, n), engine.Picture{Title: fmt.Sprintf("%s, n = %s", m, engine.Rows(n)),
					X: "gap of the closest pair (standard deviations)", Y: "success rate", LogX: true, YMin: -.02, YMax: 1.02,
					Lines: curvesOf(r, m, func(c *engine.Curve, l *line) { c.AddRate(l.Cell.x, l.Results[n]) })})
			}
		}
	},
}

// epsilon changes the budget.
var epsilon = experiment{
	name: "eps", title: "The budget",
	about: "The smallest n of the grid at which at least 18 of 20 runs have all means within 0.5 Mahalanobis, the number of components given, for budgets from ε = .25 to 5. " +
		"The private terms of both theorems grow like 1/ε.",
	cells: func() []cell {
		var out []cell
		for _, l := range []struct{ d, k, setting, n int }{{2, 3, 0, 2000}, {5, 3, 0, 3000}, {10, 5, 3, 10_000}} {
			s := settings[l.setting]
			for _, e := range []float64{.25, .5, 1, 2, 3, 5} {
				name := fmt.Sprintf("%d/%d/%s", l.d, l.k, s.name)
				out = append(out, cell{name: fmt.Sprintf("%s/%g", name, e), line: name, x: e, epsilon: e, spec: s.spec(l.d, l.k), rows: []int{int(float64(l.n) / e)}})
			}
		}
		return out
	},
	search: true, runs: 20, success: means,
	summary: func(p *engine.Page, r *results) {
		for _, m := range r.Contenders() {
			p.Heading("Smallest n against ε: " + m)
			lines := curvesOf(r, m, func(c *engine.Curve, l *line) {
				if l.Least > 0 {
					c.Add(l.Cell.x, float64(l.Least), math.NaN(), math.NaN())
				}
			})
			t := engine.Table{Head: []string{"problem", "exponent of ε", "theorems"}}
			for _, l := range lines {
				t.Add(l.Name, l.Slope(), "-1 (private), 0 (sampling)")
			}
			p.Table(t)
			lines = append(lines, engine.Guide("slope -1", .25, 5, 30_000, -1))
			p.Picture("eps-"+m, engine.Picture{Title: m, X: "ε", Y: "smallest n", LogX: true, LogY: true, Lines: lines})
		}
	},
}

// curves follows the error as n grows.
var curves = experiment{
	name: "curves", title: "Error and success against n",
	about: "Spheres of equal weight, the closest means 6 √k standard deviations apart, the number of components given; the reference without privacy is EM started at " +
		"the truth. Success: all means within 0.5 Mahalanobis.",
	cells: func() []cell {
		rows := []int{1500, 3000, 7000, 15_000, 30_000, 70_000, 150_000}
		var out []cell
		seen := map[string]bool{}
		add := func(d, k int) {
			c := cell{name: fmt.Sprintf("%d/%d", d, k), line: fmt.Sprintf("d = %d, k = %d", d, k), rows: rows, spec: madeup.Spec{Columns: d, Components: k, Separation: 6}}
			if !seen[c.name] {
				out = append(out, c)
			}
			seen[c.name] = true
		}
		for _, d := range []int{2, 5, 10, 20} {
			add(d, 3)
		}
		for _, k := range []int{2, 3, 5, 8} {
			add(5, k)
		}
		return out
	},
	runs: 10, reference: true, success: means,
	summary: func(p *engine.Page, r *results) {
		for _, m := range r.Contenders() {
			against(p, r, m)
		}
	},
}

// against draws success and error against n, and sets slopes beside the theorems' exponents.
func against(p *engine.Page, r *results, method string) {
	p.Heading("Against n: " + method)
	var success, errors []engine.Curve
	slopes := engine.Table{Head: []string{"problem", "error", "without privacy", "what privacy adds", "theorems: private term", "sampling term"}}
	for _, l := range r.By(method) {
		up, down := engine.Curve{Name: l.Cell.line}, engine.Curve{Name: l.Cell.line}
		var plain, added engine.Curve
		for _, n := range l.Ran() {
			runs, x := l.Results[n], float64(n)
			up.AddRate(x, runs)
			if l.Least == 0 || n < l.Least {
				continue // errors of failed runs are distances between components
			}
			v := engine.Pick(runs, worstMean)
			down.AddMedian(x, v)
			without := engine.Median(engine.Pick(runs, referenceMean))
			plain.X, plain.Y = append(plain.X, x), append(plain.Y, without)
			private := engine.Median(v)
			// NaN drops out of the slope
			added.X, added.Y = append(added.X, x), append(added.Y, math.Sqrt(private*private-without*without))
		}
		success, errors = append(success, up), append(errors, down)
		slopes.Add(l.Cell.line, down.Slope(), plain.Slope(), added.Slope(), "-1", "-0.5")
	}
	p.Text("Exponents of n, over the numbers of rows from the first sufficient one on, of the median over runs of the largest error of a mean. What privacy adds is " +
		"the root of the difference of the squares.")
	p.Table(slopes)
	atFixedRows(p, r, method)
	p.Picture("curves-success-"+method, engine.Picture{Title: method + ": success", X: "n", Y: "success rate", LogX: true, YMin: -.02, YMax: 1.02, Lines: success})
	errors = append(errors, engine.Guide("slope -1", 7000, 150_000, .5, -1), engine.Guide("slope -1/2", 7000, 150_000, .1, -.5))
	p.Picture("curves-error-"+method, engine.Picture{Title: method + ": largest error of a mean (median, deciles)", X: "n", Y: "Mahalanobis error", LogX: true, LogY: true, Lines: errors})
}

// atFixedRows is how the error grows with d and with k at the largest numbers of rows.
func atFixedRows(p *engine.Page, r *results, method string) {
	t := engine.Table{Head: []string{"n", "error grows with", "exponent", "Theorem 4.3: private, sampling", "Theorem 3.1: private, sampling"}}
	rows := rowsOf(r)
	for _, n := range rows[max(0, len(rows)-2):] {
		for _, by := range []struct {
			name         string
			fixed        func(madeup.Spec) bool
			x            func(madeup.Spec) int
			t43, warmUps string
		}{
			{"d at k = 3", func(s madeup.Spec) bool { return s.Components == 3 }, func(s madeup.Spec) int { return s.Columns }, "2, 1", "1, 0.5"},
			{"k at d = 5", func(s madeup.Spec) bool { return s.Columns == 5 }, func(s madeup.Spec) int { return s.Components }, "1, 0.5", "1, 0.5"},
		} {
			var x, y []float64
			for _, l := range r.By(method) {
				if by.fixed(l.Cell.spec) && l.Least > 0 && l.Least <= n && len(l.Results[n]) > 0 {
					x = append(x, float64(by.x(l.Cell.spec)))
					y = append(y, engine.Median(engine.Pick(l.Results[n], worstMean)))
				}
			}
			if slope, sd := engine.LogLogSlope(x, y); len(x) > 2 {
				t.Add(engine.Rows(n), by.name, engine.Slope(slope, sd), by.t43, by.warmUps)
			}
		}
	}
	if len(t.Rows) > 0 {
		p.Text("At a fixed n the theorems bound the error α by terms like d²k/(nε) and d √(k/n) (Theorem 4.3), dk/(nε) and √(dk/n) (Theorem 3.1).")
		p.Table(t)
	}
}

// numbers sums up how often the number of components is right.
func numbers(p *engine.Page, r *results) {
	p.Heading("The number of components")
	t := engine.Table{Head: []string{"method", "true k", "exact", "fewer", "more", "mean surplus weight of those with more", "all means right"}}
	for _, m := range r.Contenders() {
		for _, k := range []int{2, 3, 5, 10, 0} {
			exact, fewer, more, right, all := 0, 0, 0, 0, 0
			var extra []float64
			for _, l := range r.By(m) {
				c := l.Cell
				if k != 0 && c.spec.Components != k {
					continue
				}
				for _, runs := range l.Results {
					for _, run := range runs {
						all++
						switch got := int(run.Values[found]); {
						case got == c.spec.Components:
							exact++
						case got < c.spec.Components:
							fewer++
						default:
							more++
							extra = append(extra, run.Values[surplus])
						}
						if v, ok := run.Values[worstMean]; ok && v < meanBar {
							right++
						}
					}
				}
			}
			name := fmt.Sprint(k)
			if k == 0 {
				name = "all"
			}
			if all > 0 {
				t.Add(m, name, engine.Rate(exact, all), fewer, more, engine.Number(engine.Mean(extra)), engine.Rate(right, all))
			}
		}
	}
	p.Table(t)
}

// rowsOf are all numbers of rows that were run, rising.
func rowsOf(r *results) []int {
	var out []int
	for _, l := range r.Lines {
		out = append(out, l.Ran()...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// curvesOf are the curves of a picture: add adds a line's point to the curve that it belongs to.
func curvesOf(r *results, method string, add func(*engine.Curve, *line)) []engine.Curve {
	var out []engine.Curve
	for _, l := range r.By(method) {
		i := slices.IndexFunc(out, func(c engine.Curve) bool { return c.Name == l.Cell.line })
		if i < 0 {
			i = len(out)
			out = append(out, engine.Curve{Name: l.Cell.line})
		}
		add(&out[i], l)
	}
	return out
}
