package sampling

import (
	"fmt"
	"slices"

	"github.com/gauze-dp/gauze/experiments/engine"
)

func lead(r *results) string {
	return fmt.Sprintf("ε = %g, δ = %g; every family of tables with several columns as a mixture that internal/madeup draws at any number of rows (clusters, pancakes, crossings, skew, tails, "+
		"grids, rounded and coded columns), the number of components open and, where the family is one of mixtures, given too. Both fits see the same rows; %d held rows of the same table judge them. k counts the components of a background too, eight as a rule. "+
		"The total variation is from the true mixture, where the family has one.", r.Options.Budget.Epsilon, r.Options.Budget.Delta, heldRows)
}

// row is what runs say.
func row(runs []engine.Result) []any {
	pair := func(a, b string) string { return engine.Med(runs, a) + ", " + engine.Med(runs, b) }
	gains := engine.Pick(runs, gain)
	return []any{fmt.Sprintf("%d/%d", engine.Count(runs), len(runs)), fmt.Sprintf("%+.5f (%+.5f)", engine.Median(gains), engine.Quantile(gains, .1)),
		pair(withK, withoutK), pair(withTime, withoutTime)}
}

// summary is how all runs compare, and those where the truth is a mixture, by contender.
func summary(p *engine.Page, r *results) {
	t := engine.Table{Head: []string{"runs", "not worse", "gain, nats per row", "worst", "ratio of total variations", "largest", "k with, without", "seconds with, without"}}
	var all []engine.Result
	add := func(name string, runs []engine.Result) {
		gains, ratios := engine.Pick(runs, gain), engine.Pick(runs, ratio)
		if len(gains) == 0 {
			return
		}
		cells := row(runs)
		worst := "-"
		if len(ratios) > 0 {
			worst = fmt.Sprintf("%.2f", slices.Max(ratios))
		}
		t.Add(name, engine.Rate(engine.Count(runs), len(runs)), cells[1], fmt.Sprintf("%+.4f", slices.Min(gains)), fmt.Sprintf("%.3f (%d)", engine.Median(ratios), len(ratios)), worst,
			cells[2], cells[3])
	}
	for _, by := range r.Contenders() {
		var runs []engine.Result
		for _, l := range r.By(by) {
			for _, n := range l.Rows {
				runs = append(runs, l.Results[n]...)
			}
		}
		all = append(all, runs...)
		add(by, runs)
	}
	add("all", all)
	p.Table(t)
}
