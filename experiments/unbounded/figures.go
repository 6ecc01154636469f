package unbounded

import (
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/experiments/engine"
	papers "github.com/gauze-dp/gauze/literal"
)

// panels draws success and total variation against n, a pair of pictures for each panel; and for
// each method, where some were asked for.
func panels(p *engine.Page, r *results) {
	title := func(l *line) string {
		if l.Cell.panel != "" && r.Options.Methods != nil {
			return l.Cell.panel + ": " + l.By
		}
		return l.Cell.panel
	}
	for _, t := range r.Distinct(title) {
		var success, errors []engine.Curve
		for _, l := range r.Lines {
			if title(l) == t {
				up, down := againstRows(l)
				success, errors = append(success, up), append(errors, down)
			}
		}
		name := r.Experiment.Name + "-" + t
		p.Heading("Against n: " + t)
		p.Picture(name+"-success", engine.Picture{Title: "success", X: "n", Y: "success rate", LogX: true, YMin: -.02, YMax: 1.02, Lines: success})
		errors = append(errors, engine.Guide("slope -1", 4000, 64_000, .04, -1))
		p.Picture(name+"-tv", engine.Picture{Title: "total variation (median, deciles)", X: "n", Y: "TV", LogX: true, LogY: true, Lines: errors})
	}
}

// againstRows are the curves of success and of total variation over n.
func againstRows(l *line) (success, tv engine.Curve) {
	success, tv = engine.Curve{Name: l.Cell.line}, engine.Curve{Name: l.Cell.line}
	for _, n := range l.Ran() {
		runs := l.Results[n]
		success.AddRate(float64(n), runs)
		if v := engine.Pick(runs, totalVariation); len(v) > 0 {
			tv.AddMedian(float64(n), v)
		}
	}
	return success, tv
}

// slopes are the exponents of n.
func slopes(p *engine.Page, r *results) {
	t := engine.Table{Head: []string{"problem", "method", "total variation", "without privacy", "from the fit without privacy"}}
	for _, l := range r.Lines {
		if l.Cell.panel == "" {
			continue
		}
		var x, y, plain, extra []float64
		for _, n := range l.Ran() {
			if runs := l.Results[n]; float64(engine.Count(runs)) >= passRate*float64(len(runs)) {
				x, y = append(x, float64(n)), append(y, engine.Median(engine.Pick(runs, totalVariation)))
				plain, extra = append(plain, engine.Median(engine.Pick(runs, reference))), append(extra, engine.Median(engine.Pick(runs, fromReference)))
			}
		}
		a, sa := engine.LogLogSlope(x, y)
		b, sb := engine.LogLogSlope(x, plain)
		c, sc := engine.LogLogSlope(x, extra)
		t.Add(l.Cell.line, l.By, engine.Slope(a, sa), engine.Slope(b, sb), engine.Slope(c, sc))
	}
	p.Heading("Exponents of n")
	p.Text("Log-log slopes by least squares, with their standard errors, over the numbers of rows at which nine of ten runs are successes, of median total " +
		"variations: of the release from the truth, of the fit without privacy from the truth, and of the one from the other on the same rows, which is " +
		"what privacy changes. The theory has -1/2 without privacy and -1 for what privacy changes.")
	p.Table(t)
}

// budgets is how what privacy changes falls with epsilon.
func budgets(p *engine.Page, r *results) {
	t := engine.Table{Head: []string{"ε", "n", "total variation", "without privacy", "from the fit without privacy"}}
	var x, y []float64
	for _, l := range r.Lines {
		if l.Cell.panel != "" {
			continue
		}
		for _, n := range l.Ran() {
			runs := l.Results[n]
			changed := engine.Median(engine.Pick(runs, fromReference))
			x, y = append(x, l.Cell.x), append(y, changed)
			t.Add(l.Cell.x, engine.Rows(n), engine.Med(runs, totalVariation), engine.Med(runs, reference),
				engine.Number(changed))
		}
	}
	if len(x) > 1 {
		slope, sd := engine.LogLogSlope(x, y)
		p.Heading("The budget")
		p.Text(fmt.Sprintf("Two components apart. The exponent of ε in what privacy changes is %s; the theory has -1.", engine.Slope(slope, sd)))
		p.Table(t)
	}
}

// linear fits how the rows needed grow with the number of components.
func linear(p *engine.Page, r *results) {
	t := engine.Table{Head: []string{"k", "method", "n of success .9", "n of median TV .1", "rows per component", "least possible"}}
	var ks, successes, tvs []float64
	for _, l := range r.Lines {
		up, down := againstRows(l)
		success, tv := crossing(up.X, up.Y, passRate, false), crossing(down.X, down.Y, .1, true)
		ks, successes, tvs = append(ks, l.Cell.x), append(successes, success), append(tvs, tv)
		t.Add(l.Cell.x, l.By, engine.Number(success), engine.Number(tv), engine.Number(tv/l.Cell.x), engine.Number(bound(r, l, l.Ran()[0]).Rows))
	}
	a, sa := engine.LogLogSlope(ks, successes)
	b, sb := engine.LogLogSlope(ks, tvs)
	p.Text("Numbers of rows at which success passes .9 and at which the median total variation passes .1, by interpolation (∞: not among those tried); and what " +
		"no method can do with fewer, for a mean total variation of .15 on the worst mixture (`gauze plan`).")
	p.Table(t)
	p.Text(fmt.Sprintf("Exponents of k: %s for success, %s for the total variation; linear is 1.", engine.Slope(a, sa), engine.Slope(b, sb)))
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
func leasts(p *engine.Page, r *results) {
	t := engine.Table{Head: []string{"problem", "method", "smallest n", "least possible"}}
	for _, l := range r.Lines {
		t.Add(l.Name, l.By, l.LeastText(), engine.Number(bound(r, l, l.Ran()[0]).Rows))
	}
	p.Text("The least possible is what no method can do with fewer, for a mean total variation of .15 on the worst mixture of the kind (`gauze plan`).")
	p.Table(t)
}

// bound is what no method can promise for the line's kind of problem; nothing where bounds are
// stated.
func bound(r *results, l *line, n int) papers.MixtureBound {
	c := l.Cell
	if c.facts != (estimate.Facts{}) {
		return papers.MixtureBound{}
	}
	asked := estimate.Problem{Columns: c.columns(), Relation: r.Options.Relation}
	if c.aligned() {
		asked.Covariance = estimate.Diagonal
	}
	budget := r.Options.Budget
	if c.epsilon != 0 {
		budget.Epsilon = c.epsilon
	}
	return papers.MixtureBoundOf(asked, budget, c.trueK(), float64(n))
}
