package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/gauze-dp/gauze/experiments/harness"
	"github.com/gauze-dp/gauze/internal/problems"
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
					spec: problems.Spec{Columns: l.d, Components: l.k, Gap: gap}})...)
			}
		}
		return out
	},
	repeats: 20, success: meansAndNumber,
	summary: func(p *page, r *results) {
		for _, m := range r.methods {
			p.Heading("Success against separation: " + m)
			for _, n := range r.rows() {
				p.Picture(fmt.Sprintf("separation-%s-%d", fileName(m), n), harness.Picture{Title: fmt.Sprintf("%s, n = %s", m, harness.Rows(n)),
					X: "gap of the closest pair (standard deviations)", Y: "success rate", LogX: true, YMin: -.02, YMax: 1.02,
					Lines: r.lines(m, func(s *series) (float64, float64, float64) { return rate(s.Runs[n]) })})
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
	search: true, repeats: 20, success: means,
	summary: func(p *page, r *results) {
		for _, m := range r.methods {
			p.Heading("Smallest n against ε: " + m)
			lines := r.lines(m, func(s *series) (float64, float64, float64) { return least(s), math.NaN(), math.NaN() })
			t := harness.Table{Head: []string{"problem", "exponent of ε", "theorems"}}
			for _, l := range lines {
				slope, sd := harness.LogLogSlope(l.X, l.Y)
				t.Add(l.Name, harness.Slope(slope, sd), "-1 (private), 0 (sampling)")
			}
			p.Table(t)
			lines = append(lines, guide("slope -1", .25, 5, 30_000, -1))
			p.Picture("eps-"+fileName(m), harness.Picture{Title: m, X: "ε", Y: "smallest n", LogX: true, LogY: true, Lines: lines})
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
			c := cell{name: fmt.Sprintf("%d/%d", d, k), line: fmt.Sprintf("d = %d, k = %d", d, k), rows: rows, spec: problems.Spec{Columns: d, Components: k, Separation: 6}}
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
	repeats: 10, reference: true, success: means,
	summary: func(p *page, r *results) {
		for _, m := range r.methods {
			p.curves(r, m)
		}
	},
}

// curves draws success and error against n, and sets slopes beside the theorems' exponents.
func (p *page) curves(r *results, method string) {
	p.Heading("Against n: " + method)
	var success, errors []harness.Line
	slopes := harness.Table{Head: []string{"problem", "error", "without privacy", "what privacy adds", "theorems: private term", "sampling term"}}
	for _, c := range r.cells {
		s := r.of(c, method)
		up := harness.Line{Name: c.line}
		down := harness.Line{Name: c.line}
		var plain, added []float64
		for _, n := range s.Rows() {
			runs := s.Runs[n]
			y, low, high := rate(runs)
			up.X, up.Y, up.Low, up.High = append(up.X, float64(n)), append(up.Y, y), append(up.Low, low), append(up.High, high)
			if s.Least == 0 || n < s.Least {
				continue // errors of failed runs are distances between components
			}
			v := harness.Pick(runs, worstMean)
			down.X, down.Y = append(down.X, float64(n)), append(down.Y, harness.Median(v))
			down.Low, down.High = append(down.Low, harness.Quantile(v, .1)), append(down.High, harness.Quantile(v, .9))
			plain = append(plain, harness.Median(harness.Pick(runs, referenceMean)))
			last := len(plain) - 1
			// NaN drops out of the slope
			added = append(added, math.Sqrt(down.Y[last]*down.Y[last]-plain[last]*plain[last]))
		}
		success, errors = append(success, up), append(errors, down)
		a, sa := harness.LogLogSlope(down.X, down.Y)
		b, sb := harness.LogLogSlope(down.X, plain)
		e, se := harness.LogLogSlope(down.X, added)
		slopes.Add(c.line, harness.Slope(a, sa), harness.Slope(b, sb), harness.Slope(e, se), "-1", "-0.5")
	}
	p.Text("Exponents of n, over the numbers of rows from the first sufficient one on, of the median over runs of the largest error of a mean. What privacy adds is " +
		"the root of the difference of the squares.")
	p.Table(slopes)
	p.atFixedRows(r, method)
	name := fileName(method)
	p.Picture("curves-success-"+name, harness.Picture{Title: method + ": success", X: "n", Y: "success rate", LogX: true, YMin: -.02, YMax: 1.02, Lines: success})
	errors = append(errors, guide("slope -1", 7000, 150_000, .5, -1), guide("slope -1/2", 7000, 150_000, .1, -.5))
	p.Picture("curves-error-"+name, harness.Picture{Title: method + ": largest error of a mean (median, deciles)", X: "n", Y: "Mahalanobis error", LogX: true, LogY: true, Lines: errors})
}

// atFixedRows is how the error grows with d and with k at the largest numbers of rows.
func (p *page) atFixedRows(r *results, method string) {
	t := harness.Table{Head: []string{"n", "error grows with", "exponent", "Theorem 4.3: private, sampling", "Theorem 3.1: private, sampling"}}
	rows := r.rows()
	for _, n := range rows[max(0, len(rows)-2):] {
		for _, by := range []struct {
			name         string
			fixed        func(problems.Spec) bool
			x            func(problems.Spec) int
			t43, warmUps string
		}{
			{"d at k = 3", func(s problems.Spec) bool { return s.Components == 3 }, func(s problems.Spec) int { return s.Columns }, "2, 1", "1, 0.5"},
			{"k at d = 5", func(s problems.Spec) bool { return s.Columns == 5 }, func(s problems.Spec) int { return s.Components }, "1, 0.5", "1, 0.5"},
		} {
			var x, y []float64
			for _, c := range r.cells {
				if s := r.of(c, method); by.fixed(c.spec) && s.Least > 0 && s.Least <= n && len(s.Runs[n]) > 0 {
					x = append(x, float64(by.x(c.spec)))
					y = append(y, harness.Median(harness.Pick(s.Runs[n], worstMean)))
				}
			}
			if slope, sd := harness.LogLogSlope(x, y); len(x) > 2 {
				t.Add(harness.Rows(n), by.name, harness.Slope(slope, sd), by.t43, by.warmUps)
			}
		}
	}
	if len(t.Rows) > 0 {
		p.Text("At a fixed n the theorems bound the error α by terms like d²k/(nε) and d √(k/n) (Theorem 4.3), dk/(nε) and √(dk/n) (Theorem 3.1).")
		p.Table(t)
	}
}

// numbers sums up how often the number of components is right.
func (p *page) numbers(r *results) {
	p.Heading("The number of components")
	t := harness.Table{Head: []string{"method", "true k", "exact", "fewer", "more", "mean surplus weight of those with more", "all means right"}}
	for _, m := range r.methods {
		for _, k := range []int{2, 3, 5, 10, 0} {
			exact, fewer, more, right, all := 0, 0, 0, 0, 0
			var extra []float64
			for _, c := range r.cells {
				if k != 0 && c.spec.Components != k {
					continue
				}
				for _, runs := range r.of(c, m).Runs {
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
				t.Add(m, name, harness.Rate(exact, all), fewer, more, harness.Number(harness.Mean(extra)), harness.Rate(right, all))
			}
		}
	}
	p.Table(t)
}

// rows are all numbers of rows that were run, rising.
func (r *results) rows() []int {
	var out []int
	for _, c := range r.cells {
		for _, m := range r.methods {
			out = append(out, r.of(c, m).Rows()...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// lines are the lines of a picture over the cells' x: a point with its interval for each cell.
func (r *results) lines(method string, point func(*series) (y, low, high float64)) []harness.Line {
	var out []harness.Line
	for _, c := range r.cells {
		i := slices.IndexFunc(out, func(l harness.Line) bool { return l.Name == c.line })
		if i < 0 {
			i = len(out)
			out = append(out, harness.Line{Name: c.line})
		}
		y, low, high := point(r.of(c, method))
		l := &out[i]
		l.X, l.Y, l.Low, l.High = append(l.X, c.x), append(l.Y, y), append(l.Low, low), append(l.High, high)
	}
	return out
}

// rate is the success rate with Wilson's interval.
func rate(runs []harness.Result) (y, low, high float64) {
	low, high = harness.Wilson(harness.Count(runs), len(runs))
	return float64(harness.Count(runs)) / float64(len(runs)), low, high
}

func least(s *series) float64 {
	if s.Least == 0 {
		return math.NaN()
	}
	return float64(s.Least)
}

// guide is a thin line of a slope through (from, y).
func guide(name string, from, to, y, slope float64) harness.Line {
	return harness.Line{Name: name, X: []float64{from, to}, Y: []float64{y, y * math.Pow(to/from, slope)}, Thin: true}
}

// fileName makes a method's name one of a file.
func fileName(method string) string {
	out := []byte(method)
	for i, c := range out {
		if c == ':' || c == '/' {
			out[i] = '-'
		}
	}
	return string(out)
}
