package main

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/gauze-dp/gauze/experiments/harness"
	"github.com/gauze-dp/gauze/internal/problems"
)

// A page is one that knows what to say of results.
type page struct{ harness.Page }

// write writes the page of an experiment to stdout and, if there is a folder, into it.
func (r *results) write() error {
	e, o := r.experiment, r.options
	p := &page{}
	command := "go run ./experiments/separated -run " + e.name
	if o.placement != problems.Scattered {
		command += " -placement " + problems.Placements[o.placement]
	}
	p.Title(e.title)
	p.Text(fmt.Sprintf("Made by `%s`. %s", command, e.about))
	p.Text(fmt.Sprintf("ε = %g, δ = %g, %s, no bounds given; one standard deviation is 37 units, the origin 300 of them away in every column. ",
		o.budget.Epsilon, o.budget.Delta, o.relation) + []string{"Means are Gaussian", "Means are uniform in a ball", "Means are packed into a ball"}[o.placement] +
		", scaled so that the closest pair lies exactly at the separation.")
	if r.note != "" {
		p.Text(r.note)
	}
	if len(r.methods) > 0 {
		if e.summary != nil {
			e.summary(p, r)
		}
		p.Heading("All runs")
		p.Text("Rates with Wilson's 95 % intervals; medians over the runs that released a model, and in brackets the ninth decile; an error is the largest of " +
			"all components. A search stops a number of rows as soon as too many runs have failed.")
		p.Table(r.long())
		p.reasons(r)
	}
	if _, err := o.stdout.Write(p.Bytes()); err != nil || o.out == "" {
		return err
	}
	return p.Save(o.out, e.name)
}

// long is the table of all cells, methods and numbers of rows.
func (r *results) long() harness.Table {
	t := harness.Table{Head: []string{"cell", "method", "n", "success", "worst mean", "TV bound", "TV", "weight error", "k exact", "k", "surplus weight", "s per fit"}}
	reference := r.experiment.reference || r.options.nonPrivate
	if reference {
		t.Head = append(t.Head, "worst mean without privacy", "ratio")
	}
	for _, c := range r.cells {
		for _, m := range r.methods {
			s := r.of(c, m)
			for _, n := range s.Rows() {
				row := describe(s.Runs[n], c)
				if reference {
					ref := harness.Pick(s.Runs[n], referenceMean)
					row = append(row, harness.Number(harness.Median(ref)), spread(ratios(s.Runs[n])))
				}
				t.Add(append([]any{c.name, m, harness.Rows(n)}, row...)...)
			}
		}
	}
	return t
}

// describe sums up runs.
func describe(runs []harness.Result, c cell) []any {
	ks := harness.Pick(runs, found)
	exact := 0
	for _, k := range ks {
		if int(k) == c.spec.Components {
			exact++
		}
	}
	var seconds []float64
	for _, run := range runs {
		seconds = append(seconds, run.Seconds)
	}
	many := fmt.Sprintf("%.0f", harness.Quantile(ks, 0))
	if most := fmt.Sprintf("%.0f", harness.Quantile(ks, 1)); most != many {
		many += " to " + most
	}
	return []any{
		harness.Rate(harness.Count(runs), len(runs)), spread(harness.Pick(runs, worstMean)), harness.Number(harness.Median(harness.Pick(runs, tvBound))),
		harness.Number(harness.Median(harness.Pick(runs, tvMonteCarlo))), harness.Number(harness.Median(harness.Pick(runs, worstWeight))),
		fmt.Sprintf("%d/%d", exact, len(ks)), many, harness.Number(harness.Mean(harness.Pick(runs, surplus))), harness.Number(harness.Median(seconds)),
	}
}

// spread is the median and the ninth decile.
func spread(v []float64) string {
	if len(v) == 0 {
		return "-"
	}
	return fmt.Sprintf("%s (%s)", harness.Number(harness.Median(v)), harness.Number(harness.Quantile(v, .9)))
}

// ratios are the private errors over the non-private ones, run by run.
func ratios(runs []harness.Result) []float64 {
	var out []float64
	for _, r := range runs {
		private, ok := r.Values[worstMean]
		if plain := r.Values[referenceMean]; ok && plain > 0 {
			out = append(out, private/plain)
		}
	}
	return out
}

// noisyCount is a released number in a reason: it differs between runs.
var noisyCount = regexp.MustCompile(`about \d+`)

// reasons counts why there was no model.
func (p *page) reasons(r *results) {
	t := harness.Reasons()
	for _, c := range r.cells {
		for _, m := range r.methods {
			s := r.of(c, m)
			t.AddReasons(c.name, m, s, noisyCount, "about N")
		}
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
	var parts []string
	for _, v := range []struct{ label, name string }{{"mean", worstMean}, {"tv", tvBound}, {"mc", tvMonteCarlo}, {"weight", worstWeight}, {"surplus", surplus}, {"reference", referenceMean}} {
		if x, ok := r.Values[v.name]; ok {
			parts = append(parts, v.label+" "+harness.Number(x))
		}
	}
	fmt.Fprintf(w, "%-14s %-10s n %-6s seed %-3d %-4s k %-2.0f %s  %.2f s  %s\n", r.Cell, r.Method, harness.Rows(r.N), r.Seed, verdict, r.Values[found],
		strings.Join(parts, " "), r.Seconds, r.Why)
}
