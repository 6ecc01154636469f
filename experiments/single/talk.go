package single

import (
	"fmt"
	"math"
	"slices"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/literal/bdku20"
	"github.com/gauze-dp/gauze/literal/km21"
	"github.com/gauze-dp/gauze/literal/kmssu22"
	"github.com/gauze-dp/gauze/literal/kv18"
)

const (
	// talkAlpha is the error of the covariance that counts as learned there.
	talkAlpha = .5
	talkDelta = 1e-6
	talkKappa = 100
	// asPrinted is what the name of a contender with printed constants ends in.
	asPrinted = " (printed)"
)

// talkStarts is where searches start at epsilon 10 and d = 2 or 1, about where one from 400 on
// ended; they go up or down from there.
var talkStarts = map[string]float64{
	practical.name: 80, literalOne: 200, literalOne + asPrinted: 40_000, literalHeavy: 70_000, literalHeavy + asPrinted: 30_000,
	literalGaussian: 5000, literalGaussian + asPrinted: 900_000, literalCoinpress: 250, literalCoinpress + asPrinted: 250,
}

// A theorem of the talk's sources, and what it says of the number of rows.
type theorem struct {
	method    string
	estimator estimate.Published
	statement string
	rate      string
	// proved are the exponents of 1/epsilon and of d, where noise rules.
	epsilon, columns string
}

var theorems = []theorem{
	{literalHeavy, km21.New(km21.Practical()), "KM21, Algorithm 3 (k = 2)", "d²/α² + d^2.5/(√ρ α²) + d^1.5 polylog(u)/√ρ", "1", "1.5 to 2.5"},
	{literalGaussian, kmssu22.New(kmssu22.Practical()), "KMSSU22, Theorems 3.1, 5.1 and 5.2", "d²/α² + d²/(αε) + d^2.5/ε", "1", "1.5 to 2.5"},
	{literalCoinpress, bdku20.New(bdku20.Practical()), "BDKU20, Section 2", "d²/α² + d²/(α√ρ) + d^1.5 √(ln κ)/√ρ", "1", "1.5 to 2"},
	{literalOne, kv18.New(kv18.Practical()), "KV18, Section 3 (d = 1)", "1/α² + 1/(αε) + ln(1/δ)/ε", "1", ""},
}

// talk looks for the rows that the theorems of the talk's sources are about.
var talk = experiment{
	name: "talk", title: "The theorems of the talk",
	about: "Cells are d/ε; δ = 1e-6, κ = 100, geometric spectrum, the mean at the origin. `heavy-tailed:paper` and `gaussian:coinpress` are given bounds that hold: the mean, eigenvalues " +
		"between 1/400 and 4, moments up to the fourth. The smallest n of a grid with steps of 2^¼ at which at least 9 of 10 runs have a covariance with the error ½ at most, in the norm of the talk; " +
		"up to two million. \"(printed)\" has the constants that the source prints.",
	cells: func() []cell {
		var out []cell
		add := func(d int, epsilon float64, only []string) {
			for _, by := range only {
				start := talkStarts[by] * 10 / epsilon * math.Max(1, float64(d)/2)
				out = append(out, cell{name: fmt.Sprintf("%d/%g", d, epsilon), rows: []int{int(start)}, only: []string{by}, column: fmt.Sprint(d), row: fmt.Sprint(epsilon), x: epsilon,
					budget: privacy.Budget{Epsilon: epsilon, Delta: talkDelta}, bounds: estimate.Facts{KnowsMean: true, Eigenvalues: [2]float64{.25 / talkKappa, 4}, Moments: 4},
					pop: madeup.Population{Columns: d, Kappa: talkKappa}})
			}
		}
		in := func(one bool) (names []string) {
			for _, t := range theorems {
				if one == (t.method == literalOne) {
					names = append(names, t.method, t.method+asPrinted)
				}
			}
			return append(names, practical.name)
		}
		for _, epsilon := range []float64{1, 3, 10} {
			add(1, epsilon, in(true))
			add(2, epsilon, in(false))
		}
		for _, d := range []int{3, 5, 8} {
			add(d, 10, in(false))
		}
		return out
	},
	contenders: talkers(), runs: 10, search: true,
	success: func(v engine.Values, _ cell) bool { return v[released] == 1 && v[covError] <= talkAlpha },
	summary: func(p *engine.Page, r *results) {
		p.Heading("Theorem by theorem")
		p.Text("Exponents of 1/ε (ε from 1 to 10, at d = 2 or 1) and of d (2 to 8, at ε = 10) by least squares, with their standard errors; rows at ε = 10 and d = 2 (d = 1 for KV18). " +
			"\"The analysis\" is what the method with practical constants says that it needs, for an error of twice the non-private one or, if none is, to release.")
		t := engine.Table{Head: []string{"theorem", "rows, up to logarithms", "1/ε, proved", "measured", "d, proved", "measured", "rows: the analysis", "printed constants", "practical ones", "`gaussian`"}}
		for _, of := range theorems {
			d := 2
			if of.method == literalOne {
				d = 1
			}
			t.Add(of.statement, of.rate, of.epsilon, slopeOf(r, of.method, func(c cell) (float64, bool) { return 1 / c.x, c.pop.Columns == d }),
				of.columns, slopeOf(r, of.method, func(c cell) (float64, bool) { return float64(c.pop.Columns), c.x == 10 && d > 1 }),
				engine.Rows(int(estimate.AboutRows(of.analysis(d)))), leastOf(r, of.method+asPrinted, d), leastOf(r, of.method, d), leastOf(r, practical.name, d))
		}
		p.Table(t)
		p.Heading("Rows")
		for _, by := range r.Contenders() {
			p.Table(gridOf(r, by+": ε \\ d", "", by, func(l *line) string { return l.LeastText() }))
		}
	},
}

// talkers are the contenders.
func talkers() []contender {
	out := []contender{practical}
	for _, t := range theorems {
		out = append(out, contender{name: t.method, method: t.method, told: t.bounded()},
			contender{name: t.method + asPrinted, method: t.method, estimator: t.estimator.Printed(), told: t.bounded()})
	}
	return out
}

// bounded says that the theorem is one for known bounds.
func (t theorem) bounded() bool { return t.method == literalHeavy || t.method == literalCoinpress }

// analysis is how many rows the method says that it needs.
func (t theorem) analysis(d int) float64 {
	b := privacy.Budget{Epsilon: 10, Delta: talkDelta}
	p := estimate.Problem{Columns: d, Relation: privacy.ReplaceOne, Mu: muOf(b), Budget: b, Components: 1}
	if t.bounded() {
		p.Facts = estimate.Facts{KnowsMean: true, Eigenvalues: [2]float64{.25 / talkKappa, 4}, Moments: 4}
	}
	return t.estimator.Expect(p).RowsNeeded
}

// leastOf is the smallest sufficient number of rows of a contender at epsilon 10.
func leastOf(r *results, by string, d int) string {
	lines := r.By(by)
	i := slices.IndexFunc(lines, func(l *line) bool { return l.Cell.x == 10 && l.Cell.pop.Columns == d })
	if i < 0 {
		return "-"
	}
	return lines[i].LeastText()
}

// slopeOf is the exponent of the rows that a contender needs along an axis.
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
