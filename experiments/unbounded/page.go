package main

import (
	"fmt"
	"io"
	"regexp"

	"github.com/gauze-dp/gauze/experiments/harness"
)

// A page is one that knows what to say of results.
type page struct{ harness.Page }

// write writes the page of an experiment to stdout and, if there is a folder, into it.
func (r *results) write() error {
	e, o := r.experiment, r.options
	p := &page{}
	p.Title(e.title)
	p.Text(fmt.Sprintf("Made by `go run ./experiments/unbounded -seed %d %s`. %s", o.seed, e.name, e.about))
	p.Text(fmt.Sprintf("ε = %g, δ = %g, %s, no bounds given. A run is a success if it releases a model whose total variation distance from the truth is "+
		"below %g, all of its components counted. Without privacy: EM started at the truth, on the same rows. Least possible: below what mean total "+
		"variation no method can stay on the worst mixture of so many components (`gauze plan`).", o.budget.Epsilon, o.budget.Delta, o.relation, learned))
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

// long is the table of all cells, methods and numbers of rows.
func (r *results) long() harness.Table {
	t := harness.Table{Head: []string{"cell", "method", "n", "released", "success", "TV (90 %)", "without privacy", "ratio", "least possible", "k", "s per fit"}}
	for _, l := range r.lines {
		for _, n := range l.Rows() {
			t.Add(append([]any{l.name, l.method, harness.Rows(n)}, describe(l.Runs[n], orNone(r.bound(l, n).TotalVariation))...)...)
		}
	}
	return t
}

// orNone writes a number, or that there is none.
func orNone(v float64) string {
	if v == 0 {
		return "-"
	}
	return harness.Number(v)
}

// describe sums up runs: medians, and the ninth decile of the total variation, over the runs that
// released a model; the ratio over all.
func describe(runs []harness.Result, least string) []any {
	tv := harness.Pick(runs, totalVariation)
	ks := harness.Pick(runs, found)
	var seconds []float64
	for _, run := range runs {
		seconds = append(seconds, run.Seconds)
	}
	many := "-"
	if len(ks) > 0 {
		many = fmt.Sprintf("%.0f", harness.Quantile(ks, 0))
		if most := fmt.Sprintf("%.0f", harness.Quantile(ks, 1)); most != many {
			many += " to " + most
		}
	}
	spread := "-"
	if len(tv) > 0 {
		spread = fmt.Sprintf("%s (%s)", harness.Number(harness.Median(tv)), harness.Number(harness.Quantile(tv, .9)))
	}
	return []any{
		fmt.Sprintf("%d/%d", len(tv), len(runs)), fmt.Sprintf("%d/%d", harness.Count(runs), len(runs)), spread,
		harness.Number(harness.Median(harness.Pick(runs, reference))), harness.Number(harness.Median(ratios(runs))), least, many, harness.Number(harness.Median(seconds)),
	}
}

// noisyCount is a released number in a reason: it differs between runs.
var noisyCount = regexp.MustCompile(`about [0-9.]+(e[+-]?\d+)?`)

// reasons counts why there was no model.
func (p *page) reasons(r *results) {
	t := harness.Reasons()
	for _, l := range r.lines {
		t.AddReasons(l.name, l.method, l.Series, noisyCount, "about N")
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
	tv := "-"
	if x, ok := r.Values[totalVariation]; ok {
		tv = harness.Number(x)
	}
	fmt.Fprintf(w, "%-28s %-12s n %-6s seed %d %-4s k %-2.0f tv %s (%s)  %.2f s  %s\n", r.Cell, r.Method, harness.Rows(r.N), r.Seed, verdict, r.Values[found],
		tv, harness.Number(r.Values[reference]), r.Seconds, r.Why)
}
