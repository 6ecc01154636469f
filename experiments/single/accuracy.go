package single

import (
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// A need is a line of the restatement's table: rows for an error within twice the non-private one
// in 85 % of the runs, at (1, 1e-6)-DP, replace-one, for every condition number, as corrected by
// its second implementation.
//
// Source: [TYLERPRESS] Section 7.
type need struct{ d, rows int }

var needs = []need{{1, 1300}, {2, 950}, {5, 2290}, {10, 4700}, {20, 13_500}}

// usualOffset is the distance of the mean from the origin in the table, in the largest standard
// deviation.
const usualOffset = 10

// of is the table's number of rows times a factor.
func (l need) times(factor float64) int { return int(math.Round(factor * float64(l.rows))) }

// kappas are the table's condition numbers.
var kappas = []float64{1, 1e4, 1e8, 1e12}

func kappaName(k float64) string { return fmt.Sprintf("%.0e", k) }

// byKappa are the cells of the table, at some numbers of rows, over condition numbers.
func byKappa(needs []need, kappas []float64, rows func(need) []int) []cell {
	var out []cell
	for _, l := range needs {
		for _, k := range kappas {
			out = append(out, cell{name: fmt.Sprintf("%d/%s", l.d, kappaName(k)), rows: rows(l), row: fmt.Sprint(l.d), column: kappaName(k), x: k,
				pop: madeup.Population{Columns: l.d, Kappa: k, Offset: usualOffset}})
		}
	}
	return out
}

// kappa is the table at 1.1 times its rows, over condition numbers, spectra, offsets and units.
var kappa = experiment{
	name: "kappa", title: "Condition numbers, spectra and offsets at 1.1 times the table",
	about: "The rows are 1.1 times those of the restatement's table (Section 7, as corrected: d = 1: 1300, 2: 950, 5: 2290, 10: 4700, 20: 13 500), at which 85 % of its " +
		"runs were within 2× of the non-private rate. Geometric spectrum from 1/κ to 1 and the mean 10 largest standard deviations off, unless the name says another: " +
		"halves (half of the eigenvalues 1, half 1/κ), one-big, one-small; off: the mean so many largest standard deviations away; units: columns in units of 10^-u to 10^u. " +
		"Success: a covariance within 2×.",
	cells: func() []cell {
		rows := func(l need) []int { return []int{l.times(1.1)} }
		out := byKappa(needs, kappas, rows)
		add := func(l need, kind, what string, pop madeup.Population) {
			pop.Columns = l.d
			if pop.Kappa == 0 {
				pop.Kappa = 1e8
			}
			out = append(out, cell{name: fmt.Sprintf("%d/%s", l.d, what), rows: rows(l), group: kind, row: fmt.Sprint(l.d), column: what, pop: pop})
		}
		for _, l := range needs[1:] {
			for _, s := range madeup.Spectra[1:] {
				for _, k := range []float64{1e4, 1e12} {
					add(l, "spectra", fmt.Sprintf("%v %s", s, kappaName(k)), madeup.Population{Spectrum: s, Kappa: k, Offset: usualOffset})
				}
			}
			for _, off := range []float64{0, 1000, 1e6} {
				add(l, "offsets", fmt.Sprintf("off %g", off), madeup.Population{Offset: off})
			}
			add(l, "offsets", "units 6", madeup.Population{Offset: usualOffset, Units: 6})
			add(l, "offsets", "units 100", madeup.Population{Offset: usualOffset, Units: 100})
		}
		return out
	},
	runs: 100, success: covarianceLearned,
	summary: func(p *engine.Page, r *results) {
		for _, by := range r.Contenders() {
			p.Heading("Within 2×: " + by)
			for _, group := range []struct{ name, corner string }{{"", "d \\ κ"}, {"spectra", "d \\ spectrum, κ"}, {"offsets", "d \\ κ = 1e8"}} {
				p.Table(gridOf(r, group.corner, group.name, by, func(l *line) string {
					runs := l.First()
					return fmt.Sprintf("%s, %s×", engine.Rate(engine.Count(runs), len(runs)), engine.Med(runs, covTimes))
				}))
			}
		}
	},
}

// ample is what privacy costs where there are rows enough.
var ample = experiment{
	name: "ample", title: "What privacy costs at 100 000 rows",
	about: "n = 100 000; the covariance's and the mean's error over those of the sample on the same rows, run by run. Success: a covariance within 2×.",
	cells: func() []cell {
		return byKappa(needs, []float64{1, 1e8}, func(need) []int { return []int{100_000} })
	},
	runs: 40, success: covarianceLearned,
	summary: func(p *engine.Page, r *results) {
		for _, by := range r.Contenders() {
			p.Heading("Private over non-private: " + by)
			p.Text("Root mean square error over all runs, private over non-private, and in brackets the median of the runs' ratios.")
			for _, of := range []struct{ what, private, plain string }{{"covariance", covError, sampleCov}, {"mean", meanError, sampleMean}} {
				p.Table(gridOf(r, of.what+": d \\ κ", "", by, func(l *line) string {
					runs := l.First()
					return fmt.Sprintf("%.2f (%.2f)", rms(engine.Pick(runs, of.private))/rms(engine.Pick(runs, of.plain)), engine.Median(engine.Ratios(runs, of.private, of.plain)))
				}))
			}
		}
	},
}

// rms is the root of the mean square.
func rms(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	return math.Sqrt(sum / float64(len(v)))
}

// smallest looks for the rows that are needed.
var smallest = experiment{
	name: "smallest", title: "How many rows are needed",
	about: "The smallest n of a grid with steps of 2^¼ at which at least 85 of 100 runs have a covariance within 2×; the search starts at the table and goes down as long as a " +
		"grid point passes, or up until one does. Geometric spectrum, the mean 10 largest standard deviations off.",
	cells: func() []cell {
		start := func(l need) []int { return []int{l.times(.8)} }
		out := byKappa(needs, kappas, start)
		addRemove := privacy.AddRemoveOne
		for _, c := range byKappa(needs, []float64{1e8}, start) {
			c.name, c.column, c.relation = c.name+"/add-remove", c.column+", add-or-remove-one", &addRemove
			out = append(out, c)
		}
		return out
	},
	runs: 100, search: true, success: covarianceLearned,
	summary: func(p *engine.Page, r *results) {
		for _, by := range r.Contenders() {
			p.Heading("Smallest n: " + by)
			p.Text("In brackets the part of the restatement's table (Section 7, as corrected; replace-one).")
			p.Table(gridOf(r, "d \\ κ", "", by, func(l *line) string { return leastText(r, l) }))
			t := engine.Table{Head: []string{"κ", "exponent of d", "theory"}}
			for _, column := range r.Distinct(func(l *line) string { return l.Cell.column }) {
				var x, y []float64
				for _, l := range r.By(by) {
					if l.Cell.column == column && l.Least > 0 && l.Cell.pop.Columns >= 2 {
						x, y = append(x, float64(l.Cell.pop.Columns)), append(y, float64(l.Least))
					}
				}
				if slope, sd := engine.LogLogSlope(x, y); len(x) > 2 {
					t.Add(column, engine.Slope(slope, sd), "1.5 to 2")
				}
			}
			p.Text("The preconditioner's noise asks for n ~ d^1.5/μ; that of the release, d²/(nμ), falls below the sampling error d/√n at n ~ d²/μ².")
			p.Table(t)
		}
	},
}

// leastText is the smallest sufficient number of rows beside the table's.
func leastText(r *results, l *line) string {
	text := l.LeastText()
	if l.Least == 0 {
		return text
	}
	if l.Least == l.Ran()[0] && r.Options.Rows != nil {
		text = "≤ " + text
	}
	for _, need := range needs {
		if need.d == l.Cell.pop.Columns {
			text += fmt.Sprintf(" (%.2f)", float64(l.Least)/float64(need.rows))
		}
	}
	return text
}

// privacyLevels looks for the rows that are needed at other budgets.
var privacyLevels = experiment{
	name: "eps", title: "The budget",
	about: "The smallest n of a grid with steps of 2^¼ at which at least 34 of 40 runs (85 %) have a covariance within 2×, for ε from ¼ to 16 at δ = 1e-6, κ = 1e4. " +
		"With μ the budget in Gaussian differential privacy, n·μ should stand still where noise rules, and n fall to what sampling needs as μ grows.",
	cells: func() []cell {
		var out []cell
		for _, l := range []need{needs[1], needs[2], needs[3]} {
			for _, eps := range []float64{.25, .5, 1, 2, 4, 8, 16} {
				b := privacy.Budget{Epsilon: eps, Delta: 1e-6}
				out = append(out, cell{name: fmt.Sprintf("%d/%g", l.d, eps), budget: b, row: fmt.Sprintf("%g", eps), column: fmt.Sprintf("d = %d", l.d), x: muOf(b),
					rows: []int{int(.8 * float64(l.rows) * privacy.MuOf(1, 1e-6) / muOf(b))}, pop: madeup.Population{Columns: l.d, Kappa: 1e4, Offset: usualOffset}})
			}
		}
		return out
	},
	runs: 40, search: true, success: covarianceLearned,
	summary: func(p *engine.Page, r *results) {
		for _, by := range r.Contenders() {
			p.Heading("Smallest n: " + by)
			t := gridOf(r, "ε", "", by, func(l *line) string {
				if l.Least == 0 {
					return "-"
				}
				return fmt.Sprintf("%s (n·μ = %.0f)", engine.Rows(l.Least), float64(l.Least)*l.Cell.x)
			})
			p.Table(t)
			slopes := engine.Table{Head: []string{"d", "exponent of μ", "theory"}}
			var lines []engine.Curve
			for _, column := range r.Distinct(func(l *line) string { return l.Cell.column }) {
				curve := engine.Curve{Name: column}
				for _, l := range r.By(by) {
					if l.Cell.column == column && l.Least > 0 {
						curve.X, curve.Y = append(curve.X, l.Cell.x), append(curve.Y, float64(l.Least))
					}
				}
				lines = append(lines, curve)
				slopes.Add(column, curve.Slope(), "-1 (preconditioner), -2 (release)")
			}
			p.Table(slopes)
			lines = append(lines, engine.Guide("slope -1", .06, 3, 20_000, -1))
			p.Picture("eps-"+by, engine.Picture{Title: by + ": smallest n", X: "μ", Y: "n", LogX: true, LogY: true, Lines: lines})
		}
	},
}

// muOf is what a budget buys.
func muOf(b privacy.Budget) float64 {
	if b.Concentrated() {
		return privacy.MuOfRho(b.Rho)
	}
	return privacy.MuOf(b.Epsilon, b.Delta)
}

// falseOK asks a method for what it cannot do.
var falseOK = experiment{
	name: "false-ok", title: "No model where there are too few rows",
	about: "Half of the restatement's table (Section 7, as corrected): many runs have no model, and none may have one whose covariance error is above 4×. Success: no such model.",
	cells: func() []cell {
		return byKappa(needs[1:4], []float64{1, 1e6, 1e12}, func(l need) []int { return []int{l.times(.5)} })
	},
	runs: 112, success: func(v engine.Values, _ cell) bool { return v[falsely] == 0 },
	summary: func(p *engine.Page, r *results) {
		for _, by := range r.Contenders() {
			p.Heading("False ok: " + by)
			p.Table(gridOf(r, "d \\ κ", "", by, func(l *line) string {
				runs := l.First()
				x := engine.Pick(runs, covTimes)
				return fmt.Sprintf("%d of %d released, %d false, worst %s×", engine.Total(runs, released), len(runs), engine.Total(runs, falsely), engine.Number(engine.Quantile(x, 1)))
			}))
			all, wrong, some := 0, 0, 0
			for _, l := range r.By(by) {
				runs := l.First()
				all, wrong, some = all+len(runs), wrong+engine.Total(runs, falsely), some+engine.Total(runs, released)
			}
			p.Text(fmt.Sprintf("Of %d runs %d released a model, and %s were false.", all, some, engine.Rate(wrong, all)))
		}
	},
}
