package single

import (
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/literal/bdku20"
)

// coinpressBudget is that of the published experiments with CoinPress.
var coinpressBudget = privacy.Budget{Rho: .5}

// coinpressName is CoinPress as a method of gauze fit.
const coinpressName = "gaussian:coinpress"

// coinpressAbout says what both experiments share.
func coinpressAbout(what string) string {
	return "The budget is ρ = .5 (zCDP), as in the experiments published with CoinPress (Biswas, Dong, Kamath and Ullman 2020); errors are means of the middle 80 % of the runs, as " +
		"there. `gaussian` is given no bounds; `gaussian:coinpress` is given them, and spends its " +
		"budget on " + what + "; t = 2, .. is the same with the published constants and so many steps, the Gaussian noise of the right variance. "
}

// inSteps are CoinPress with the constants of its experiments, in so many steps.
func inSteps(steps ...int) []contender {
	var out []contender
	for _, t := range steps {
		out = append(out, contender{name: fmt.Sprintf("t = %d", t), method: coinpressName, estimator: bdku20.New(bdku20.Printed(t)), told: true})
	}
	return out
}

// published are errors of the experiments with CoinPress, by cell and number of rows: the best of
// its own numbers of steps.
var published = map[string]map[int]float64{
	"mean/50/tight":      {1000: .281, 2636: .149, 10_000: .073},
	"covariance/10/flat": {3000: .306, 4364: .211, 8000: .133},
	"covariance/2/flat":  {1000: .083, 3000: .043},
	// t = 3
	"covariance/100/flat": {80_000: .902},
}

// bars are what this project promises there, without bounds.
var bars = map[string]map[int]float64{
	"mean/50/tight":      {1000: .285},
	"covariance/10/flat": {3000: .225},
}

// publishedAnd is the last two columns of a table.
func publishedAnd(c cell, n int, runs []engine.Result) []any {
	show := func(v float64) string {
		if v == 0 {
			return ""
		}
		return fmt.Sprintf("%.3f", v)
	}
	sample := sampleCov
	if c.group == "mean" || c.group == "loose mean" {
		sample = sampleMean
	}
	return []any{three(trimmed(engine.Pick(runs, sample))), show(published[c.name][n]), show(bars[c.name][n])}
}

var publishedHead = []string{"without privacy", "published", "bar for gaussian"}

// coinpressMean is the mean of a Gaussian whose covariance is the identity.
var coinpressMean = experiment{
	name: "coinpress-mean", title: "A mean, beside CoinPress with bounds",
	about: coinpressAbout("the mean") + "Rows are N(m, I) at d = 50. CoinPress knows that the covariance is I and that m lies within r of the origin: r = 10√d (tight) and looser ones up to " +
		"7e4. `gaussian --covariance spherical` and the full covariance are without either. Success: a mean within 2×.",
	cells: func() []cell {
		var out []cell
		add := func(group, name string, radius, x float64, rows ...int) {
			const d = 50
			out = append(out, cell{name: name, group: group, rows: rows, budget: coinpressBudget, x: x, pop: madeup.Population{Columns: d, Offset: usualOffset},
				bounds: estimate.Facts{KnowsMean: true, MeanWithin: radius, Eigenvalues: [2]float64{1, 1}}})
		}
		add("mean", "mean/50/tight", 10*math.Sqrt(50), 0, 1000, 2000, 2636, 5000, 10_000)
		for _, r := range []float64{100, 700, 7e3, 7e4} {
			add("loose mean", fmt.Sprintf("mean/50/%.0e", r), r, r, 1000)
		}
		return out
	},
	contenders: append([]contender{
		{name: "gaussian spherical", method: "gaussian", covariance: estimate.Spherical},
		practical,
		{name: coinpressName, method: coinpressName, told: true},
	}, inSteps(2, 3, 4, 10)...),
	runs: 100, success: meanLearned,
	summary: func(p *engine.Page, r *results) {
		p.Heading("Error of the mean")
		p.Table(beside(r, "mean", trimmedOf(meanError), publishedAnd, publishedHead...))
		p.Picture("coinpress-mean", engine.Picture{Title: "Error of the mean, d = 50, ρ = .5", X: "n", Y: "Mahalanobis error", LogX: true, LogY: true,
			Lines: append(trimmedCurves(r, "mean/50/tight", meanError), sampleCurve(r, "mean/50/tight", sampleMean))})
		p.Heading("Loose bounds at n = 1000")
		p.Table(beside(r, "loose mean", trimmedOf(meanError), publishedAnd, publishedHead...))
	},
}

// coinpressCovariance is the covariance of a Gaussian whose mean is known to be the origin.
var coinpressCovariance = experiment{
	name: "coinpress-covariance", title: "A covariance, beside CoinPress with bounds",
	about: coinpressAbout("the covariance") + "Rows are N(0, Σ); CoinPress knows that the mean is the origin and that the eigenvalues lie between those of Σ divided by 10 and u. Σ = I (flat), half of " +
		"the eigenvalues 1 and half 1/10 (halves), or geometric from 1/100 to 1. Success: a covariance within 2×.",
	cells: func() []cell {
		var out []cell
		add := func(group, shape string, pop madeup.Population, top float64, rows ...int) {
			out = append(out, cell{name: fmt.Sprintf("%s/%d/%s", group, pop.Columns, shape), group: group, rows: rows, budget: coinpressBudget, pop: pop, x: top,
				bounds: estimate.Facts{KnowsMean: true, Eigenvalues: [2]float64{.1 / max(1, pop.Kappa), top}}})
		}
		shapes := func(d int, rows ...int) {
			top := 10 * math.Sqrt(float64(d))
			add("covariance", "flat", madeup.Population{Columns: d}, top, rows...)
			add("covariance", "halves", madeup.Population{Columns: d, Spectrum: madeup.Halves, Kappa: 10}, top, rows...)
			add("covariance", "geometric", madeup.Population{Columns: d, Kappa: 100}, top, rows...)
		}
		shapes(2, 1000, 3000)
		shapes(10, 3000, 4364, 8000)
		add("covariance", "flat", madeup.Population{Columns: 100}, 100, 80_000)
		out[len(out)-1].runs = 12
		for _, u := range []float64{10 * math.Sqrt(10), 190, 1500, 1.1e4, 7e4} {
			add("loose", fmt.Sprintf("u=%.0e", u), madeup.Population{Columns: 10}, u, 7000)
		}
		return out
	},
	contenders: append([]contender{practical, {name: coinpressName, method: coinpressName, told: true}}, inSteps(2, 3, 4, 5)...),
	runs:       50, success: covarianceLearned,
	summary: func(p *engine.Page, r *results) {
		p.Heading("Error of the covariance")
		p.Table(beside(r, "covariance", trimmedOf(covError), publishedAnd, publishedHead...))
		p.Heading("Looser bounds at d = 10, n = 7000")
		p.Text("Published at u of about 3e4: 8.7 with three steps, 1.09 with four.")
		p.Table(beside(r, "loose", trimmedOf(covError), publishedAnd, publishedHead...))
		var lines []engine.Curve
		for _, by := range r.Contenders() {
			curve := engine.Curve{Name: by}
			for _, l := range r.By(by) {
				if l.Cell.group == "loose" {
					curve.X, curve.Y = append(curve.X, l.Cell.x), append(curve.Y, trimmed(engine.Pick(l.First(), covError)))
				}
			}
			lines = append(lines, curve)
		}
		p.Picture("coinpress-loose", engine.Picture{Title: "Error of the covariance against the bound, d = 10, n = 7000", X: "u", Y: "Frobenius error", LogX: true, LogY: true, Lines: lines})
	},
}

// trimmedCurves are those of a cell's trimmed errors against n, one for each contender.
func trimmedCurves(r *results, cell, value string) []engine.Curve {
	var out []engine.Curve
	for _, by := range r.Contenders() {
		out = append(out, engine.Curve{Name: by})
		if l := r.Of(cell, by); l != nil {
			addTrimmed(&out[len(out)-1], l, value)
		}
	}
	return out
}

// sampleCurve is that of what the rows allow.
func sampleCurve(r *results, cell, value string) engine.Curve {
	out := engine.Curve{Name: "without privacy"}
	for _, l := range r.Lines {
		if l.Name == cell && len(l.Results) > len(out.X) {
			out.X, out.Y = nil, nil
			addTrimmed(&out, l, value)
		}
	}
	return out
}

func addTrimmed(c *engine.Curve, l *line, value string) {
	for _, n := range l.Ran() {
		c.X, c.Y = append(c.X, float64(n)), append(c.Y, trimmed(engine.Pick(l.Results[n], value)))
	}
}
