package sampling

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gauze-dp/gauze/experiments/engine"
)

// largestPasses are what a fit of a mixture may take at ten million rows.
const largestPasses = 40

func largeLead(r *results) string {
	return fmt.Sprintf("ε = %g, δ = %g, replace-one unless the command says otherwise; the number of components is open, and what is drawn last (*overlap*) has that many Gaussians of condition numbers 5 to 10 in units "+
		"that differ by a factor of 900, whose means are Gaussian with so many standard deviations of a component. Fits take turns, one at a time, and times are of the processor (user and system). "+
		"A pass is the whole table read once; reading the sample counts as the part of the rows that it is, and drawing it one pass. %d other rows of the same table judge the models: what they lose is in nats per row below the true mixture, "+
		"where that has given all rows, and *drawing* is what maximum likelihood without privacy loses by drawing so many rows: the number of parameters over 2n. k is without the background.",
		r.Options.Budget.Epsilon, r.Options.Budget.Delta, manyHeld)
}

var largeHead = []string{"columns", "gain (its error by the held rows)", "lost with", "without", "drawing", "TV with", "without", "k", "with", "without", "passes with", "without", "processor s with", "without"}

// largeRow is what runs of a cell say, in medians.
func largeRow(runs []engine.Result) []any {
	small := func(name string) string {
		if v := engine.Pick(runs, name); len(v) > 0 {
			return fmt.Sprintf("%.3g", engine.Median(v))
		}
		return "-"
	}
	out := []any{small(columns), fmt.Sprintf("%+.2g (%s)", engine.Median(engine.Pick(runs, gain)), small(gainNoise))}
	for _, name := range []string{lostWith, lostWithout, lostPlain, tvWith, tvWithout, trueK, withK, withoutK, passesWith, passes, withTime, withoutTime} {
		out = append(out, small(name))
	}
	return out
}

// largeSummary is how all runs compare.
func largeSummary(p *engine.Page, r *results) {
	var all, known []engine.Result
	for _, l := range r.Lines {
		for _, n := range l.Rows {
			all = append(all, l.Results[n]...)
		}
	}
	for _, run := range all {
		if _, ok := run.Values[ratio]; ok {
			known = append(known, run)
		}
	}
	if len(all) == 0 {
		return
	}
	sign := func(ok, n int) string { return fmt.Sprintf("%d of %d (p = %.2g)", ok, n, likely(ok, n)) }
	gains, ratios := engine.Pick(all, gain), engine.Pick(known, ratio)
	t := engine.Table{Head: []string{"with the sample", "is no worse in", "median", "first and last decile", "worst"}}
	t.Add("nats per held row gained", sign(engine.Count(all), len(all)), fmt.Sprintf("%+.2g", engine.Median(gains)), fmt.Sprintf("%+.2g, %+.2g", engine.Quantile(gains, .1), engine.Quantile(gains, .9)), fmt.Sprintf("%+.2g", slices.Min(gains)))
	if len(known) > 0 {
		nearer := 0
		for _, x := range ratios {
			if x <= 1 {
				nearer++
			}
		}
		t.Add("total variation, ratio", sign(nearer, len(known)), fmt.Sprintf("%.3f", engine.Median(ratios)), fmt.Sprintf("%.2f, %.2f", engine.Quantile(ratios, .1), engine.Quantile(ratios, .9)), fmt.Sprintf("%.2f", slices.Max(ratios)))
	}
	more, fewer := 0, 0
	for _, run := range all {
		switch with, without := run.Values[withK], run.Values[withoutK]; {
		case with > without:
			more++
		case with < without:
			fewer++
		}
	}
	p.Table(t)
	of := func(name string) []float64 { return engine.Pick(all, name) }
	over := 0
	for _, x := range of(passesWith) {
		if x > largestPasses {
			over++
		}
	}
	p.Text(strings.Join([]string{
		"p is that of the sign test, of coins as far from even or farther, on either side.",
		fmt.Sprintf("More components were found with the sample in %d of %d, fewer in %d.", more, len(all), fewer),
		fmt.Sprintf("Passes: %.3g in the median with the sample, %.3g at most, more than %d in %d of %d; without %.3g, %.3g at most.", engine.Median(of(passesWith)), slices.Max(of(passesWith)), largestPasses, over, len(all), engine.Median(of(passes)), slices.Max(of(passes))),
		fmt.Sprintf("Processor seconds: %.3g of those without in the median.", engine.Median(engine.Ratios(all, withTime, withoutTime))),
	}, " "))
	if len(known) > 0 {
		excess := func(name string) float64 { return engine.Median(engine.Ratios(known, name, lostPlain)) }
		p.Text(fmt.Sprintf("Over the %d tables of a known mixture a model loses %.3g (with) and %.3g times (without) what drawing alone does, in the median; in nats %.2g and %.2g at most.", len(known),
			excess(lostWith), excess(lostWithout), slices.Max(engine.Pick(known, lostWith)), slices.Max(engine.Pick(known, lostWithout))))
	}
}
