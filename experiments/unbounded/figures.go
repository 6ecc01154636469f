package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/expected"
	"github.com/gauze-dp/gauze/experiments/harness"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// panels draws success and total variation against n, a pair of pictures for each panel; and for
// each method, where some were asked for.
func panels(p *page, r *results) {
	title := func(l line) string {
		if l.panel != "" && r.options.methods != nil {
			return l.panel + ": " + l.method
		}
		return l.panel
	}
	var order []string
	for _, l := range r.lines {
		if t := title(l); t != "" && !slices.Contains(order, t) {
			order = append(order, t)
		}
	}
	for _, t := range order {
		var success, errors []harness.Line
		for _, l := range r.lines {
			if title(l) == t {
				up, down := l.against()
				success, errors = append(success, up), append(errors, down)
			}
		}
		name := fileName(r.experiment.name + "-" + t)
		p.Heading("Against n: " + t)
		p.Picture(name+"-success", harness.Picture{Title: "success", X: "n", Y: "success rate", LogX: true, YMin: -.02, YMax: 1.02, Lines: success})
		errors = append(errors, harness.Line{Name: "slope -1", X: []float64{4000, 64_000}, Y: []float64{.04, .0025}, Thin: true})
		p.Picture(name+"-tv", harness.Picture{Title: "total variation (median, deciles)", X: "n", Y: "TV", LogX: true, LogY: true, Lines: errors})
	}
}

// against are the lines of success and of total variation over n.
func (l line) against() (success, tv harness.Line) {
	success, tv = harness.Line{Name: l.line}, harness.Line{Name: l.line}
	for _, n := range l.Rows() {
		runs := l.Runs[n]
		low, high := harness.Wilson(harness.Count(runs), len(runs))
		success.X, success.Y = append(success.X, float64(n)), append(success.Y, float64(harness.Count(runs))/float64(len(runs)))
		success.Low, success.High = append(success.Low, low), append(success.High, high)
		if v := harness.Pick(runs, totalVariation); len(v) > 0 {
			tv.X, tv.Y = append(tv.X, float64(n)), append(tv.Y, harness.Median(v))
			tv.Low, tv.High = append(tv.Low, harness.Quantile(v, .1)), append(tv.High, harness.Quantile(v, .9))
		}
	}
	return success, tv
}

// slopes are the exponents of n.
func (p *page) slopes(r *results) {
	t := harness.Table{Head: []string{"problem", "method", "total variation", "without privacy", "from the fit without privacy"}}
	for _, l := range r.lines {
		if l.panel == "" {
			continue
		}
		var x, y, plain, extra []float64
		for _, n := range l.Rows() {
			if runs := l.Runs[n]; float64(harness.Count(runs)) >= passRate*float64(len(runs)) {
				x, y = append(x, float64(n)), append(y, harness.Median(harness.Pick(runs, totalVariation)))
				plain, extra = append(plain, harness.Median(harness.Pick(runs, reference))), append(extra, harness.Median(harness.Pick(runs, beside)))
			}
		}
		a, sa := harness.LogLogSlope(x, y)
		b, sb := harness.LogLogSlope(x, plain)
		c, sc := harness.LogLogSlope(x, extra)
		t.Add(l.line, l.method, harness.Slope(a, sa), harness.Slope(b, sb), harness.Slope(c, sc))
	}
	p.Heading("Exponents of n")
	p.Text("Log-log slopes by least squares, with their standard errors, over the numbers of rows at which nine of ten runs are successes, of median total " +
		"variations: of the release from the truth, of the fit without privacy from the truth, and of the one from the other on the same rows, which is " +
		"what privacy changes. The theory has -1/2 without privacy and -1 for what privacy changes.")
	p.Table(t)
}

// budgets is how what privacy changes falls with ε.
func (p *page) budgets(r *results) {
	t := harness.Table{Head: []string{"ε", "n", "total variation", "without privacy", "from the fit without privacy"}}
	var x, y []float64
	for _, l := range r.lines {
		if l.panel != "" {
			continue
		}
		for _, n := range l.Rows() {
			runs := l.Runs[n]
			changed := harness.Median(harness.Pick(runs, beside))
			x, y = append(x, l.x), append(y, changed)
			t.Add(l.x, harness.Rows(n), harness.Number(harness.Median(harness.Pick(runs, totalVariation))), harness.Number(harness.Median(harness.Pick(runs, reference))),
				harness.Number(changed))
		}
	}
	if len(x) > 1 {
		slope, sd := harness.LogLogSlope(x, y)
		p.Heading("The budget")
		p.Text(fmt.Sprintf("Two components apart. The exponent of ε in what privacy changes is %s; the theory has -1.", harness.Slope(slope, sd)))
		p.Table(t)
	}
}

// linear fits how the rows needed grow with the number of components.
func (p *page) linear(r *results) {
	t := harness.Table{Head: []string{"k", "method", "n of success .9", "n of median TV .1", "rows per component", "least possible"}}
	var ks, successes, tvs []float64
	for _, l := range r.lines {
		up, down := l.against()
		success, tv := crossing(up.X, up.Y, passRate, false), crossing(down.X, down.Y, .1, true)
		ks, successes, tvs = append(ks, l.x), append(successes, success), append(tvs, tv)
		t.Add(l.x, l.method, harness.Number(success), harness.Number(tv), harness.Number(tv/l.x), harness.Number(r.bound(l, l.Rows()[0]).Rows))
	}
	a, sa := harness.LogLogSlope(ks, successes)
	b, sb := harness.LogLogSlope(ks, tvs)
	p.Text("Numbers of rows at which success passes .9 and at which the median total variation passes .1, by interpolation (∞: not among those tried); and what " +
		"no method can do with fewer, for a mean total variation of .15 on the worst mixture (`gauze plan`).")
	p.Table(t)
	p.Text(fmt.Sprintf("Exponents of k: %s for success, %s for the total variation; linear is 1.", harness.Slope(a, sa), harness.Slope(b, sb)))
}

// crossing is where y, as a function of x, passes a level for good, by interpolation of log x; +Inf
// if it does not, and the first x if it always has.
func crossing(x, y []float64, level float64, falling bool) float64 {
	beyond := func(v float64) bool { return v >= level != falling || v == level }
	i := len(x)
	for i > 0 && beyond(y[i-1]) {
		i--
	}
	switch i {
	case len(x):
		return math.Inf(1)
	case 0:
		return x[0]
	}
	part := (level - y[i-1]) / (y[i] - y[i-1])
	return x[i-1] * math.Pow(x[i]/x[i-1], part)
}

// leasts is the table of a search.
func (p *page) leasts(r *results) {
	t := harness.Table{Head: []string{"problem", "method", "smallest n", "least possible"}}
	for _, l := range r.lines {
		text := harness.Rows(l.Least)
		if rows := l.Rows(); l.Least == 0 && len(rows) > 0 {
			text = "> " + harness.Rows(rows[len(rows)-1])
		}
		t.Add(l.name, l.method, text, harness.Number(r.bound(l, l.Rows()[0]).Rows))
	}
	p.Text("The least possible is what no method can do with fewer, for a mean total variation of .15 on the worst mixture of the kind (`gauze plan`).")
	p.Table(t)
}

// bound is what no method can promise for the line's kind of problem; nothing where bounds are
// stated.
func (r *results) bound(l line, n int) expected.MixtureBound {
	if l.facts != (estimate.Facts{}) {
		return expected.MixtureBound{}
	}
	problem := estimate.Problem{Columns: l.columns(), Relation: r.options.relation}
	if l.aligned() {
		problem.Covariance = estimate.Diagonal
	}
	budget := privacy.Budget{Epsilon: r.options.budget.Epsilon, Delta: r.options.budget.Delta}
	if l.epsilon != 0 {
		budget.Epsilon = l.epsilon
	}
	return expected.LowerBoundMixture(problem, budget, l.trueK(), float64(n))
}

// fileName makes a name one of a file.
func fileName(name string) string {
	out := []byte(name)
	for i, c := range out {
		if c == ':' || c == '/' || c == ' ' {
			out[i] = '-'
		}
	}
	return string(out)
}
