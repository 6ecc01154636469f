package single

import (
	"fmt"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/internal/madeup"
)

// heavyContenders are what a table of unknown law can be given to.
var heavyContenders = []contender{
	practical,
	{name: "heavy-tailed", method: "heavy-tailed"},
	{name: naiveName, method: naiveName, estimator: naive{}, told: true},
}

// heavyBars are what is promised of the covariance error of the best method, by cell and n.
var heavyBars = map[string]map[int]string{
	"t5/5":   {10_000: ".145", 100_000: "bar .05; .047"},
	"t5/10":  {20_000: ".247", 100_000: ".099"},
	"t10/5":  {10_000: ".094"},
	"t10/10": {20_000: ".156", 100_000: "bar .06; .055"},
	"t5/2":   {5000: ".141"},
}

// heavy has laws that are no Gaussians.
var heavy = experiment{
	name: "heavy", title: "Heavy tails and other laws",
	about: "κ = 1e6, the mean 10 largest standard deviations off, n as named. Multivariate t with 3, 5 and 10 degrees of freedom; independent Laplace, exponential, lognormal, uniform entries. " +
		"The covariance is that of the law. Naive truncation (one release of all of the rows within bounds) is told that the mean is within 10 and that the eigenvalues " +
		"lie within ¼e-6 and 4. Success: a covariance within 2× of the Gaussian rate.",
	cells: func() []cell {
		var out []cell
		add := func(law string, d int, rows ...int) {
			out = append(out, cell{name: fmt.Sprintf("%s/%d", law, d), rows: rows, row: law, column: fmt.Sprint(d), pop: madeup.Population{Columns: d, Kappa: 1e6, Offset: usualOffset, Law: law},
				bounds: estimate.Facts{KnowsMean: true, MeanWithin: usualOffset, Eigenvalues: [2]float64{.25e-6, 4}}})
		}
		add("t5", 2, 5000)
		for _, law := range []string{"gaussian", "t3", "t5", "t10", "laplace", "exponential", "lognormal", "uniform"} {
			add(law, 5, 10_000, 100_000)
		}
		for _, law := range []string{"t5", "t10"} {
			add(law, 10, 20_000, 100_000)
		}
		return out
	},
	contenders: heavyContenders,
	runs:       40, success: covarianceLearned,
	summary: func(p *engine.Page, r *results) {
		more := func(c cell, n int, runs []engine.Result) []any {
			return []any{engine.Med(runs, sampleCov), heavyBars[c.name][n]}
		}
		p.Heading("Covariance error")
		p.Text("Medians. The last column has the bars and what the restatement measured (Section 3).")
		p.Table(beside(r, "", medianOf(covError), more, "without privacy", "restatement"))
		p.Heading("Mean error")
		p.Table(beside(r, "", medianOf(meanError), func(_ cell, _ int, runs []engine.Result) []any {
			return []any{engine.Med(runs, sampleMean)}
		}, "without privacy"))
	},
}

// atomsTable is what the restatement measured in its table of atoms: the covariance error in rates,
// or that nothing was released.
//
// Source: [TYLERPRESS] Section 4.5.
var atomsTable = map[string]string{
	"zeros50/5": ".9", "zeros80/5": "1.9", "zeros90/5": "refused", "lognormal80/5": "refused", "atom25/5": ".81", "atom40/5": "1.0", "atom60/5": "refused",
	"column90/5": "refused 9 of 10 (else 9)", "stray5x1000/5": "refused", "zeros50/2": "1.4", "zeros80/2": "refused", "zeros90/2": "refused", "atom60/2": "refused",
	"atom40/2": "1.8", "atom25/2": ".8", "stray2x1000/10": "error .35", "stray5x1000/10": "error 1.29", "stray10x1000/10": "breaks (18.6)", "stray10x10/10": "error 4.0",
	"gaussian/10": "error .105",
}

// atoms has points that many rows share, and rows far out.
var atoms = experiment{
	name: "atoms", title: "Atoms and stray rows",
	about: "The laws of Section 4.5 of the restatement, on the columns' own axes: zerosP: each entry is 0 with P %, else N(5, 1); lognormal80: lognormal entries, 80 % zeros; atomP: P % of the rows are one " +
		"point; column90: one column is 0 in 90 % of the rows; strayPxF: P % of the rows are F times as far out, and the truth is that of the others. n = 20 000 at d = 5, 8000 at d = 2, " +
		"10 000 at d = 10. Success: a covariance within 2×.",
	cells: func() []cell {
		var out []cell
		add := func(law string, d, n int) {
			out = append(out, cell{name: fmt.Sprintf("%s/%d", law, d), rows: []int{n}, row: law, pop: madeup.Population{Columns: d, Offset: 1, Axes: true, Law: law}})
		}
		for _, law := range []string{"zeros50", "zeros80", "zeros90", "lognormal80", "atom25", "atom40", "atom60", "column90", "stray5x1000"} {
			add(law, 5, 20_000)
		}
		for _, law := range []string{"zeros50", "zeros80", "zeros90", "atom25", "atom40", "atom60"} {
			add(law, 2, 8000)
		}
		for _, law := range []string{"gaussian", "stray2x1000", "stray5x1000", "stray10x1000", "stray10x10"} {
			add(law, 10, 10_000)
		}
		return out
	},
	contenders: heavyContenders[:2],
	runs:       40,
	success:    func(v engine.Values, c cell) bool { return v[covTimes] <= goodBar },
	summary: func(p *engine.Page, r *results) {
		p.Heading("Covariance error in non-private rates")
		p.Text("Medians; of stray rows the error itself in brackets. The last column is the restatement's, whose method releases.")
		p.Table(beside(r, "", func(runs []engine.Result) string {
			text := fmt.Sprintf("%s× (%s)%s", engine.Med(runs, covTimes), engine.Med(runs, covError), refusals(runs))
			if n := engine.Total(runs, falsely); n > 0 {
				text += fmt.Sprintf(" (false ok: %d)", n)
			}
			return text
		}, func(c cell, _ int, _ []engine.Result) []any { return []any{atomsTable[c.name]} }, "restatement"))
	},
}
