package main

import (
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/gauze-dp/gauze/experiments/harness"
)

// A page is one that knows what to say of results.
type page struct{ harness.Page }

// write writes the page of an experiment to stdout and, if there is a folder, into it.
func (r *results) write() error {
	e, o := r.experiment, r.options
	p := &page{}
	p.Title(e.title)
	p.Text(strings.TrimSpace(fmt.Sprintf("Made by `%s`. %s", o.command(e), e.about)))
	if !e.open {
		p.Text(fmt.Sprintf("ε = %g, δ = %g, %s, unless a cell says otherwise; no bounds are given. Without privacy: EM started at the truth, on the same rows; excess: the total "+
			"variation distance from the truth, less %g times that of EM. %s", o.budget.Epsilon, o.budget.Delta, o.relation, nearRatio, r.successes()))
	}
	if e.summary != nil {
		e.summary(p, r)
		p.Heading("All runs")
	}
	p.Table(r.long())
	p.reasons(r)
	if _, err := o.stdout.Write(p.Bytes()); err != nil || o.out == "" {
		return err
	}
	return p.Save(o.out, e.name)
}

// successes says what the goals of the experiment's cells are.
func (r *results) successes() string {
	var parts []string
	for _, g := range []struct {
		goal goal
		text string
	}{
		{near, fmt.Sprintf("a model is released whose total variation distance from the truth is at most %g times that of EM, and %g more", nearRatio, nearMore)},
		{likely, fmt.Sprintf("where components are not Gaussian, a model is released under which %s fresh rows are at most %g nats less likely on average than under EM's model",
			harness.Rows(heldRows), likelyGap)},
		{clean, fmt.Sprintf("where there are outliers, a model is released within a total variation distance of %g of the mixture without them", cleanDistance)},
		{out, "a model is released"},
		{nothing, "where nothing is to be found, nothing is released, after having looked"},
	} {
		if slices.ContainsFunc(r.lines, func(l line) bool { return l.goal == g.goal }) {
			parts = append(parts, g.text)
		}
	}
	return "A run is a success if " + strings.Join(parts, "; or, ") + "."
}

// command is what repeats an experiment, up to its noise.
func (o options) command(e experiment) string {
	out := fmt.Sprintf("go run ./experiments/reduction -seed %d", o.seed)
	add := func(given bool, flag string, value any) {
		if given {
			out += fmt.Sprintf(" -%s %v", flag, value)
		}
	}
	add(o.runs > 0, "runs", o.runs)
	add(o.methods != nil, "method", strings.Join(o.methods, ","))
	add(o.learners != nil, "learner", strings.Join(o.learners, ","))
	add(o.trim >= 0, "trim", o.trim)
	add(o.rows != nil, "n", strings.Trim(strings.ReplaceAll(fmt.Sprint(o.rows), " ", ","), "[]"))
	add(o.cells != nil, "cells", "'"+strings.Join(o.cells, ",")+"'")
	add(o.custom != nil, "cells", "'"+o.wanted+"'")
	if o.custom == nil {
		out += " " + e.name
	}
	return out
}

// long is the table of all lines and numbers of rows.
func (r *results) long() harness.Table {
	t := harness.Table{Head: []string{"cell", "method", "n", "released", "success", "TV", "worst", "without privacy", "worst excess", "dist_PARAM", "nats lost (worst)", "s per fit"}}
	if r.experiment.open {
		t.Head = []string{"cell", "learner", "n", "found", "success", "dist_PARAM", "worst", "TV", "s"}
	}
	for _, l := range r.lines {
		for _, n := range l.Rows() {
			cells := describe(l.Runs[n])
			if r.experiment.open {
				cells = describeOpen(l.Runs[n])
			}
			t.Add(append([]any{l.name, l.label(), harness.Rows(n)}, cells...)...)
		}
	}
	return t
}

// number is a quantile of a value over the runs that have it.
func number(v []float64, q float64) string { return harness.Number(harness.Quantile(v, q)) }

// counts are the runs that ended in a model, and the successes.
func counts(runs []harness.Result) []any {
	return []any{fmt.Sprintf("%d/%d", released(runs), len(runs)), fmt.Sprintf("%d/%d", harness.Count(runs), len(runs))}
}

// describe sums up runs: medians and worst values over the runs that released a model.
func describe(runs []harness.Result) []any {
	tv, lost := harness.Pick(runs, totalVariation), harness.Pick(runs, gap)
	spread := number(lost, .5)
	if len(lost) > 0 {
		spread += " (" + number(lost, 1) + ")"
	}
	return append(counts(runs), number(tv, .5), number(tv, 1), number(harness.Pick(runs, reference), .5), number(excess(runs), 1),
		number(harness.Pick(runs, parameters), .5), spread, number(seconds(runs), .5))
}

func describeOpen(runs []harness.Result) []any {
	distance := orInfinite(runs, parameters)
	return append(counts(runs), number(distance, .5), number(distance, 1), number(orInfinite(runs, totalVariation), .5), number(seconds(runs), .5))
}

func released(runs []harness.Result) (n int) {
	for _, run := range runs {
		if run.Why == "" {
			n++
		}
	}
	return n
}

func seconds(runs []harness.Result) (out []float64) {
	for _, run := range runs {
		out = append(out, run.Seconds)
	}
	return out
}

// excess is by how much total variations are above their multiple of that without privacy.
func excess(runs []harness.Result) (out []float64) {
	for _, run := range runs {
		if v, ok := run.Values[totalVariation]; ok {
			out = append(out, v-nearRatio*run.Values[reference])
		}
	}
	return out
}

// orInfinite lists a value of all runs, +Inf where there is none.
func orInfinite(runs []harness.Result, name string) (out []float64) {
	for _, run := range runs {
		v, ok := run.Values[name]
		if !ok {
			v = math.Inf(1)
		}
		out = append(out, v)
	}
	return out
}

// bars says of every goal whether it is reached.
func (p *page) bars(r *results) {
	t := harness.Table{Head: []string{"bar", "cell", "measured", "met", "beside EM's median"}}
	names := map[goal]string{near: "released, near EM: 90 %", likely: "released, likelihood near EM's: 90 %", clean: "released, near the clean truth: 90 %"}
	quiet, all := 0, 0
	for _, l := range r.lines {
		for _, n := range l.Rows() {
			runs := l.Runs[n]
			if l.goal == nothing {
				quiet, all = quiet+harness.Count(runs), all+len(runs)
				continue
			}
			beside := ""
			if l.goal == near {
				beside = fmt.Sprintf("%d/%d", nearMedian(runs), len(runs))
			}
			t.Add(names[l.goal], fmt.Sprintf("%s, n = %d", l.name, n), harness.Rate(harness.Count(runs), len(runs)), met(harness.Count(runs), len(runs), passRate), beside)
		}
	}
	if all > 0 {
		t.Add("nothing released: 95 %", "k too large, and noise, together", harness.Rate(quiet, all), met(quiet, all, quietRate))
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
func nearMedian(runs []harness.Result) (n int) {
	bar := nearRatio*harness.Median(harness.Pick(runs, reference)) + nearMore
	for _, v := range harness.Pick(runs, totalVariation) {
		if v <= bar {
			n++
		}
	}
	return n
}

// quietRate is the part of the runs without anything to be found that must end without a release.
const quietRate = .95

// noisyCount is a released number in a reason: it differs between runs.
var noisyCount = regexp.MustCompile(`about [0-9.]+(e[+-]?\d+)?`)

// reasons counts why there was no model.
func (p *page) reasons(r *results) {
	t := harness.Reasons()
	for _, l := range r.lines {
		t.AddReasons(l.name, l.label(), l.Series, noisyCount, "about N")
	}
	if len(t.Rows) > 0 {
		p.Heading("Runs without a model")
		p.Table(t)
	}
}

// printRun writes one run on one line.
func printRun(w io.Writer, r harness.Result) {
	verdict := "fail"
	if r.Success {
		verdict = "ok"
	}
	value := func(name string) string {
		if x, ok := r.Values[name]; ok {
			return harness.Number(x)
		}
		return "-"
	}
	fmt.Fprintf(w, "%-24s %-14s n %-6s seed %d %-4s tv %s (%s)  dist_PARAM %s  lost %s  %.2f s  %s\n", r.Cell, r.Method, harness.Rows(r.N), r.Seed, verdict,
		value(totalVariation), value(reference), value(parameters), value(gap), r.Seconds, r.Why)
}
