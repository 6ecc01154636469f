package reduction

import (
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/experiments/engine"
)

// number is a quantile of a value over the runs that have it.
func number(v []float64, q float64) string { return engine.Number(engine.Quantile(v, q)) }

// describe sums up runs: medians and worst values over the runs that released a model.
func describe(r *results, l *line, n int) []any {
	runs := l.Results[n]
	models := 0
	for _, run := range runs {
		if run.Why == "" {
			models++
		}
	}
	counts := []any{fmt.Sprintf("%d/%d", models, len(runs)), fmt.Sprintf("%d/%d", engine.Count(runs), len(runs))}
	if opened(r) {
		distance := orInfinite(runs, parameters)
		return append(counts, number(distance, .5), number(distance, 1), number(orInfinite(runs, totalVariation), .5), engine.Seconds(runs))
	}
	tv, lost := engine.Pick(runs, totalVariation), engine.Pick(runs, gap)
	spread := number(lost, .5)
	if len(lost) > 0 {
		spread += " (" + number(lost, 1) + ")"
	}
	return append(counts, number(tv, .5), number(tv, 1), engine.Med(runs, reference), number(excess(runs), 1), engine.Med(runs, parameters), spread, engine.Seconds(runs))
}

// excess is by how much total variations are above their multiple of that without privacy.
func excess(runs []engine.Result) (out []float64) {
	for _, run := range runs {
		if v, ok := run.Values[totalVariation]; ok {
			out = append(out, v-nearRatio*run.Values[reference])
		}
	}
	return out
}

// orInfinite lists a value of all runs, +Inf where there is none.
func orInfinite(runs []engine.Result, name string) (out []float64) {
	for _, run := range runs {
		v, ok := run.Values[name]
		if !ok {
			v = math.Inf(1)
		}
		out = append(out, v)
	}
	return out
}

// writeBars says of every goal whether it is reached.
func writeBars(p *engine.Page, r *results) {
	t := engine.Table{Head: []string{"bar", "cell", "measured", "met", "beside EM's median"}}
	names := map[goal]string{near: "released, near EM: 90 %", likely: "released, likelihood near EM's: 90 %", clean: "released, near the clean truth: 90 %"}
	quiet, all := 0, 0
	for _, l := range r.Lines {
		for _, n := range l.Ran() {
			runs, goal := l.Results[n], l.Cell.goal
			if goal == nothing {
				quiet, all = quiet+engine.Count(runs), all+len(runs)
				continue
			}
			beside := ""
			if goal == near {
				beside = fmt.Sprintf("%d/%d", nearMedian(runs), len(runs))
			}
			t.Add(names[goal], fmt.Sprintf("%s, n = %d", l.Name, n), engine.Rate(engine.Count(runs), len(runs)), met(engine.Count(runs), len(runs), passRate), beside)
		}
	}
	if all > 0 {
		t.Add("nothing released: 95 %", "k too large, and noise, together", engine.Rate(quiet, all), met(quiet, all, quietRate))
	}
	p.Text("In brackets the interval of the rate. EM's distance is that of the same run, which on some tables is much smaller than on others; the last column has how many " +
		"runs are near EM's median distance instead.")
	p.Table(t)
}

func met(successes, runs int, rate float64) string {
	if float64(successes) >= rate*float64(runs) {
		return "yes"
	}
	return "no"
}

// nearMedian counts the runs that are near what EM ends at on most tables, rather than on the same
// one.
func nearMedian(runs []engine.Result) (n int) {
	bar := nearRatio*engine.Median(engine.Pick(runs, reference)) + nearMore
	for _, v := range engine.Pick(runs, totalVariation) {
		if v <= bar {
			n++
		}
	}
	return n
}

// quietRate is the part of the runs without anything to be found that must end without a release.
const quietRate = .95
