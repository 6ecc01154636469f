package studies

import (
	"fmt"
	"math"
	"slices"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// goodBar is the error that counts as learned, in non-private rates.
const goodBar = 2

// single is one distribution: rows needed, and the theorems of the talk.
var single = &study{
	Name: "single", About: "one distribution: the rows that are needed, and what the theorems of the talk say of them",
	Seed: 1, PassRate: .85, Grid: engine.GeometricGrid(50, 2e6, fine),
	Experiments: []experiment{
		{Name: "smallest", Title: "How many rows are needed", Runs: 100, Search: true, Lines: lines(smallestOfOne, distribution(covarianceWithin)), Summary: smallestSummary,
			About: "The smallest n of a grid with steps of 2^¼ at which at least 85 of 100 runs have a covariance within 2×; the search goes down as long as a grid point passes, " +
				"or up until one does. Geometric spectrum from 1/κ to 1, the mean 10 largest standard deviations off."},
		{Name: "talk", Title: "The theorems of the talk", Runs: 10, Search: true, Lines: lines(talkCells, distribution(talkLearned)), Summary: talkSummary,
			About: "Cells are d/ε; δ = 1e-6, κ = 100, geometric spectrum, the mean at the origin. `heavy-tailed:paper` and `gaussian:coinpress` are given bounds that hold: the mean, eigenvalues " +
				"between 1/400 and 4, moments up to the fourth. The smallest n of a grid with steps of 2^¼ at which at least 9 of 10 runs have a covariance with the error ½ at most, in the norm of the talk; " +
				"up to two million. \"(printed)\" has the constants that the source prints."},
	},
	Lead: func(r *results) string {
		return setting(r) + "The error of a covariance is |A⁻¹ Σ̂ A⁻ᵀ - I| in the Frobenius norm for the truth AAᵀ, that of a mean its Mahalanobis distance; × is an error over the non-private " +
			"rate, √(d(d+1)/n) and √(d/n); \"without privacy\" is the sample's own error on the same rows. Every run has a distribution, rows and noise of its own."
	},
	Legend: "Rates with Wilson's 95 % intervals; medians over the runs that released a model, and in brackets the ninth decile.",
	Columns: []engine.Column{models, succeeded, spread("covariance", covError), median("×", covTimes), median("without privacy", sampleCov), spread("mean", meanError),
		median("×", meanTimes), median("without privacy", sampleMean), seconds},
	Noisy:   noisy,
	Printed: []string{covError, covTimes, sampleCov, meanError, meanTimes, sampleMean},
}

func covarianceWithin(v engine.Values, _ cell) bool { return v[covTimes] <= goodBar }

// population returns a cell of a distribution.
func population(name string, p madeup.Population, rows int) cell {
	return cell{name: name, law: p, draw: func(seed uint64, n int) (table, error) { return ofOne(p.Draw(seed, n)) }, rows: []int{rows},
		by: by("gaussian"), d: p.Columns, k: 1, ask: gauze.Request{Components: 1}}
}

// neededAbout are the rows at which a search starts, by columns.
var neededAbout = [][2]int{{1, 950}, {2, 800}, {5, 1130}, {10, 2000}, {20, 5400}}

func smallestOfOne() (out []cell) {
	for _, l := range neededAbout {
		for _, kappa := range []float64{1, 1e4, 1e8, 1e12} {
			c := population(fmt.Sprintf("%d/%.0e", l[0], kappa), madeup.Population{Columns: l[0], Kappa: kappa, Offset: 10}, l[1])
			c.row, c.column = fmt.Sprint(l[0]), fmt.Sprintf("%.0e", kappa)
			out = append(out, c)
		}
	}
	return out
}

func smallestSummary(p *engine.Page, r *results) {
	for _, by := range r.Contenders() {
		p.Heading("Smallest n: " + by)
		p.Table(gridOf(r, "d \\ κ", by, func(l *line) string { return l.LeastText() }))
	}
}

const (
	// talkAlpha is the error of the covariance that counts as learned in the talk.
	talkAlpha = .5
	talkDelta = 1e-6
	talkKappa = 100
	// asPrinted is what the name of a contender with printed constants ends in.
	asPrinted = " (printed)"
)

func talkLearned(v engine.Values, _ cell) bool { return v[covError] <= talkAlpha }

// A theorem is one of the talk's sources, and its statement about the number of rows.
type theorem struct {
	method, statement, rate string
	// epsilon and columns are the exponents of 1/epsilon and of d, where noise rules.
	epsilon, columns string
	// start and printedStart are where searches start at epsilon 10 and d = 2 or 1.
	start, printedStart float64
}

var theorems = []theorem{
	{"heavy-tailed:paper", "KM21, Algorithm 3 (k = 2)", "d²/α² + d^2.5/(√ρ α²) + d^1.5 polylog(u)/√ρ", "1", "1.5 to 2.5", 70_000, 30_000},
	{"gaussian:kmssu22", "KMSSU22, Theorems 3.1, 5.1 and 5.2", "d²/α² + d²/(αε) + d^2.5/ε", "1", "1.5 to 2.5", 5000, 900_000},
	{"gaussian:coinpress", "BDKU20, Section 2", "d²/α² + d²/(α√ρ) + d^1.5 √(ln κ)/√ρ", "1", "1.5 to 2", 250, 250},
	{"univariate:kv18", "KV18, Section 3 (d = 1)", "1/α² + 1/(αε) + ln(1/δ)/ε", "1", "", 200, 40_000},
}

// columnsOf returns the number of columns of the theorem's first cells.
func (t theorem) columnsOf() int {
	if t.columns == "" {
		return 1
	}
	return 2
}

// talkFacts are bounds that hold for the cells of the talk.
var talkFacts = estimate.Facts{KnowsMean: true, Eigenvalues: [2]float64{.25 / talkKappa, 4}, Moments: 4}

func talkCells() (out []cell) {
	add := func(d int, epsilon float64, who contender, start float64) {
		c := population(fmt.Sprintf("%d/%g", d, epsilon), madeup.Population{Columns: d, Kappa: talkKappa}, int(start*10/epsilon*math.Max(1, float64(d)/2)))
		c.ask.Budget, c.ask.Facts, c.by = privacy.Budget{Epsilon: epsilon, Delta: talkDelta}, talkFacts, []contender{who}
		c.x, c.row, c.column = epsilon, fmt.Sprint(epsilon), fmt.Sprint(d)
		out = append(out, c)
	}
	ours := contender{name: "gaussian", method: "gaussian"}
	all := func(d int, epsilon float64) {
		for _, t := range theorems {
			if (d == 1) == (t.columnsOf() == 1) {
				add(d, epsilon, contender{name: t.method, method: t.method, told: t.bounded()}, t.start)
				add(d, epsilon, contender{name: t.method + asPrinted, method: t.method, printed: true, told: t.bounded()}, t.printedStart)
			}
		}
		add(d, epsilon, ours, 80)
	}
	for _, epsilon := range []float64{1, 3, 10} {
		all(1, epsilon)
		all(2, epsilon)
	}
	for _, d := range []int{3, 5, 8} {
		all(d, 10)
	}
	return out
}

// bounded says that the theorem is one for known bounds.
func (t theorem) bounded() bool {
	return t.method == "heavy-tailed:paper" || t.method == "gaussian:coinpress"
}

func talkSummary(p *engine.Page, r *results) {
	p.Heading("Theorem by theorem")
	p.Text("Exponents of 1/ε (ε from 1 to 10, at d = 2 or 1) and of d (2 to 8, at ε = 10) by least squares, with their standard errors; rows at ε = 10 and d = 2 (d = 1 for KV18).")
	t := engine.Table{Head: []string{"theorem", "rows, up to logarithms", "1/ε, proved", "measured", "d, proved", "measured", "rows: printed constants", "practical ones", "`gaussian`"}}
	for _, of := range theorems {
		d := of.columnsOf()
		t.Add(of.statement, of.rate, of.epsilon, slopeOf(r, of.method, func(c cell) (float64, bool) { return 1 / c.x, c.d == d }),
			of.columns, slopeOf(r, of.method, func(c cell) (float64, bool) { return float64(c.d), c.x == 10 && d > 1 }),
			leastOf(r, of.method+asPrinted, d), leastOf(r, of.method, d), leastOf(r, "gaussian", d))
	}
	p.Table(t)
	p.Heading("Rows")
	for _, by := range r.Contenders() {
		p.Table(gridOf(r, by+": ε \\ d", by, func(l *line) string { return l.LeastText() }))
	}
}

// leastOf returns the smallest sufficient number of rows of a contender at epsilon 10.
func leastOf(r *results, by string, d int) string {
	lines := r.By(by)
	i := slices.IndexFunc(lines, func(l *line) bool { return l.Cell.x == 10 && l.Cell.d == d })
	if i < 0 {
		return "-"
	}
	return lines[i].LeastText()
}

// slopeOf returns the exponent of the rows that a contender needs along an axis.
func slopeOf(r *results, by string, axis func(cell) (x float64, on bool)) string {
	var x, y []float64
	for _, l := range r.By(by) {
		if at, on := axis(l.Cell); on && l.Least > 0 {
			x, y = append(x, at), append(y, float64(l.Least))
		}
	}
	if len(x) < 3 {
		return "-"
	}
	return engine.Slope(engine.LogLogSlope(x, y))
}
