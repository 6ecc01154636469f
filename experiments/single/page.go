package main

import (
	"fmt"
	"io"
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
	p.Text(fmt.Sprintf("Made by `go run ./experiments/single %s`. %s", e.name, e.about))
	p.Text(fmt.Sprintf("Where nothing else is said: ε = %g, δ = %g, %s, no bounds given, axes random, the mean unknown. The error of a covariance is "+
		"|A⁻¹ Σ̂ A⁻ᵀ - I| in the Frobenius norm for the truth AAᵀ, that of a mean its Mahalanobis distance; × is an error over the non-private rate, "+
		"√(d(d+1)/n) and √(d/n); \"without privacy\" is the sample's own error on the same rows. A false ok is a model with a covariance error above %d×. "+
		"Every run has a distribution, rows and noise of its own.", o.budget.Epsilon, o.budget.Delta, o.relation, falseBar))
	if note := r.note(); note != "" {
		p.Text(note)
	}
	if e.summary != nil && !o.quick {
		e.summary(p, r)
	}
	p.Heading("All runs")
	p.Text("Rates with Wilson's 95 % intervals; medians over the runs that released a model, and in brackets the ninth decile.")
	p.Table(r.long())
	p.reasons(r)
	if _, err := o.stdout.Write(p.Bytes()); err != nil || o.out == "" {
		return err
	}
	return p.Save(o.out, e.name)
}

// long is the table of all cells, contenders and numbers of rows.
func (r *results) long() harness.Table {
	t := harness.Table{Head: []string{"cell", "method", "n", "released", "success", "false ok", "covariance", "×", "without privacy", "mean", "×", "without privacy", "s per fit"}}
	for _, c := range r.cells {
		for _, by := range r.contenders {
			s := r.of(c, by.name)
			if s == nil {
				continue
			}
			for _, n := range s.Rows() {
				t.Add(append([]any{c.name, by.name, harness.Rows(n)}, describe(s.Runs[n])...)...)
			}
		}
	}
	return t
}

// describe sums up runs.
func describe(runs []harness.Result) []any {
	var seconds []float64
	for _, run := range runs {
		seconds = append(seconds, run.Seconds)
	}
	median := func(name string) string { return harness.Number(harness.Median(harness.Pick(runs, name))) }
	return []any{
		fmt.Sprintf("%d/%d", total(runs, released), len(runs)), harness.Rate(harness.Count(runs), len(runs)), total(runs, falsely),
		spread(harness.Pick(runs, covError)), median(covTimes), median(sampleCov),
		spread(harness.Pick(runs, meanError)), median(meanTimes), median(sampleMean), harness.Number(harness.Median(seconds)),
	}
}

// total sums a value that is 0 or 1.
func total(runs []harness.Result, name string) int {
	n := 0.
	for _, v := range harness.Pick(runs, name) {
		n += v
	}
	return int(n)
}

// spread is the median and the ninth decile.
func spread(v []float64) string {
	if len(v) == 0 {
		return "-"
	}
	return fmt.Sprintf("%s (%s)", harness.Number(harness.Median(v)), harness.Number(harness.Quantile(v, .9)))
}

// labels lists what get returns of the cells, in their order, each once.
func (r *results) labels(get func(cell) string) []string {
	var out []string
	for _, c := range r.cells {
		if l := get(c); l != "" && !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	return out
}

func rowOf(c cell) string    { return c.row }
func columnOf(c cell) string { return c.column }

// find is the cell at a place, if there is one.
func (r *results) find(group, row, column string) (cell, bool) {
	for _, c := range r.cells {
		if c.group == group && c.row == row && c.column == column {
			return c, true
		}
	}
	return cell{}, false
}

// grid is a table of one group and one contender over the cells' rows and columns.
func (r *results) grid(corner, group, name string, show func(cell, *harness.Series) string) harness.Table {
	columns := r.labels(func(c cell) string {
		if c.group != group {
			return ""
		}
		return c.column
	})
	t := harness.Table{Head: append([]string{corner}, columns...)}
	for _, row := range r.labels(rowOf) {
		line, some := []any{row}, false
		for _, column := range columns {
			text := ""
			if c, ok := r.find(group, row, column); ok {
				if s := r.of(c, name); s != nil {
					text, some = show(c, s), true
				}
			}
			line = append(line, text)
		}
		if some {
			t.Add(line...)
		}
	}
	return t
}

// beside is a table of a group with a line for each cell and number of rows, and a column for each
// contender.
func (r *results) beside(group string, show func(cell, []harness.Result) string, more func(cell, int, []harness.Result) []any, moreHead ...string) harness.Table {
	t := harness.Table{Head: []string{"cell", "n"}}
	for _, by := range r.contenders {
		t.Head = append(t.Head, by.name)
	}
	t.Head = append(t.Head, moreHead...)
	for _, c := range r.cells {
		if c.group != group {
			continue
		}
		for _, n := range c.rows {
			line := []any{c.name, harness.Rows(n)}
			var last []harness.Result
			for _, by := range r.contenders {
				text := ""
				if s := r.of(c, by.name); s != nil && len(s.Runs[n]) > 0 {
					text, last = show(c, s.Runs[n]), s.Runs[n]
				}
				line = append(line, text)
			}
			if more != nil {
				line = append(line, more(c, n, last)...)
			}
			t.Add(line...)
		}
	}
	return t
}

// only is the results of a series at its only, or first, number of rows.
func only(s *harness.Series) []harness.Result {
	if rows := s.Rows(); len(rows) > 0 {
		return s.Runs[rows[0]]
	}
	return nil
}

// medianOf shows a value's median, and how many runs there are no models of.
func medianOf(name string) func(cell, []harness.Result) string {
	return func(_ cell, runs []harness.Result) string {
		return harness.Number(harness.Median(harness.Pick(runs, name))) + refusals(runs)
	}
}

// refusals says how many runs released nothing.
func refusals(runs []harness.Result) string {
	if n := len(runs) - total(runs, released); n > 0 {
		return fmt.Sprintf(" (no release: %d of %d)", n, len(runs))
	}
	return ""
}

// trimmed is the mean of the middle 80 %, as the experiments of CoinPress report errors.
func trimmed(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	cut := len(v) / 10
	return harness.Mean(v[cut : len(v)-cut])
}

// trimmedOf shows a value's trimmed mean.
func trimmedOf(name string) func(cell, []harness.Result) string {
	return func(_ cell, runs []harness.Result) string {
		return three(trimmed(harness.Pick(runs, name))) + refusals(runs)
	}
}

// three writes an error with three digits, where the bars it is compared with have three.
func three(v float64) string {
	if v > 0 && v < 10 {
		return fmt.Sprintf("%.3f", v)
	}
	return harness.Number(v)
}

// number is a released number in a reason: it differs between runs.
var number = regexp.MustCompile(`\d[\d.e+-]*`)

// reasons counts why there was no model.
func (p *page) reasons(r *results) {
	t := harness.Reasons()
	for _, c := range r.cells {
		for _, by := range r.contenders {
			s := r.of(c, by.name)
			if s == nil {
				continue
			}
			t.AddReasons(c.name, by.name, s, number, "N")
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
	for _, v := range []struct{ label, name string }{{"cov", covError}, {"x", covTimes}, {"sample", sampleCov}, {"mean", meanError}, {"x", meanTimes},
		{"sample", sampleMean}, {"rank", rankFound}, {"null", nullSpread}} {
		if x, ok := r.Values[v.name]; ok {
			parts = append(parts, v.label+" "+harness.Number(x))
		}
	}
	fmt.Fprintf(w, "%-20s %-24s n %-6s seed %-3d %-4s %s  %.2f s  %s\n", r.Cell, r.Method, harness.Rows(r.N), r.Seed, verdict, strings.Join(parts, " "), r.Seconds, r.Why)
}
