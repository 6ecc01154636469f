package single

import (
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// shared bounds what groups could gain by sharing a measurement. Under parallel composition each
// group has the whole budget; what all of them shared would be theirs for less than its part of
// mu^2, and never for less than nothing. A fit that is given that part once more, for nothing, is
// therefore as good as one that shares, unless what is shared is better than what it measures
// itself.
var shared = experiment{
	name: "shared", title: "What groups could share",
	about: "One group of n rows (Gaussian, κ = 100, the mean ten largest standard deviations off, add-or-remove-one, as all groups are fitted), by itself and with a part of its μ² given once more for " +
		"nothing: 7 % is what `gaussian` and `heavy-tailed` spend on units (places, whether columns vary, scales), 12 % all but the count that does not depend on how the columns hang together. " +
		"Where a group's own units are good enough for a release, groups that share theirs do no better than that, since what they share has to be paid as well. Success: a covariance within 2× of the non-private rate.",
	cells: func() []cell {
		var out []cell
		relation := privacy.AddRemoveOne
		for _, d := range []int{1, 3, 8} {
			out = append(out, cell{name: fmt.Sprint(d), rows: []int{500, 1000, 2000, 3000}, relation: &relation,
				budget: privacy.Budget{Rho: groupRho}, pop: madeup.Population{Columns: d, Kappa: 100, Offset: 10}})
		}
		return out
	},
	contenders: []contender{
		{name: "gaussian", method: "gaussian"}, {name: "7 % free", method: "gaussian", free: .07}, {name: "12 % free", method: "gaussian", free: .12},
		{name: "heavy-tailed", method: "heavy-tailed"}, {name: "heavy-tailed, 12 % free", method: "heavy-tailed", free: .12},
	},
	runs: 100, success: covarianceLearned,
	summary: func(p *engine.Page, r *results) {
		for _, t := range []struct{ title, value string }{{"Covariance error", covError}, {"Mean error", meanError}} {
			p.Heading(t.title)
			p.Text(fmt.Sprintf("Medians and their standard errors; by the rate 1/√μ² of noise alone an error would fall by %.1f %% and %.1f %%.",
				100*(1-math.Sqrt(1-.07)), 100*(1-math.Sqrt(1-.12))))
			p.Table(beside(r, "", medianWithin(t.value), nil))
		}
	},
}

// groupRho is that of epsilon 1 and delta 1e-6 by Gaussian DP.
const groupRho = .02801

// medianWithin shows a value's median with its standard error, which is that of errors near normal
// with the same quartiles.
func medianWithin(name string) func([]engine.Result) string {
	return func(runs []engine.Result) string {
		v := engine.Pick(runs, name)
		sd := (engine.Quantile(v, .75) - engine.Quantile(v, .25)) / 1.349
		return fmt.Sprintf("%s ± %s%s", three(engine.Median(v)), three(math.Sqrt(math.Pi/2/float64(len(v)))*sd), refusals(runs))
	}
}
