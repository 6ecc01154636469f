package single

import (
	"fmt"
	"slices"

	"github.com/gauze-dp/gauze/experiments/engine"
)

// gridOf is a table of one group and one contender over the cells' rows and columns.
func gridOf(r *results, corner, group, by string, show func(*line) string) engine.Table {
	columns := r.Distinct(func(l *line) string {
		if l.Cell.group != group {
			return ""
		}
		return l.Cell.column
	})
	t := engine.Table{Head: append([]string{corner}, columns...)}
	for _, row := range r.Distinct(func(l *line) string { return l.Cell.row }) {
		cells, some := []any{row}, false
		for _, column := range columns {
			text := ""
			for _, l := range r.By(by) {
				if l.Cell.group == group && l.Cell.row == row && l.Cell.column == column {
					text, some = show(l), true
				}
			}
			cells = append(cells, text)
		}
		if some {
			t.Add(cells...)
		}
	}
	return t
}

// beside is a table of a group with a line for each cell and number of rows, and a column for each
// contender.
func beside(r *results, group string, show func([]engine.Result) string, more func(cell, int, []engine.Result) []any, moreHead ...string) engine.Table {
	by := r.Contenders()
	t := engine.Table{Head: slices.Concat([]string{"cell", "n"}, by, moreHead)}
	for _, name := range r.Distinct(func(l *line) string { return l.Name }) {
		var some *line
		for _, l := range r.Lines {
			if l.Name == name {
				some = l
			}
		}
		if some.Cell.group != group {
			continue
		}
		for _, n := range some.Ran() {
			row := []any{name, engine.Rows(n)}
			var last []engine.Result
			for _, b := range by {
				text := ""
				if l := r.Of(name, b); l != nil && len(l.Results[n]) > 0 {
					text, last = show(l.Results[n]), l.Results[n]
				}
				row = append(row, text)
			}
			if more != nil {
				row = append(row, more(some.Cell, n, last)...)
			}
			t.Add(row...)
		}
	}
	return t
}

// medianOf shows a value's median, and how many runs there are no models of.
func medianOf(name string) func([]engine.Result) string {
	return func(runs []engine.Result) string { return engine.Med(runs, name) + refusals(runs) }
}

// trimmedOf shows a value's trimmed mean.
func trimmedOf(name string) func([]engine.Result) string {
	return func(runs []engine.Result) string { return three(trimmed(engine.Pick(runs, name))) + refusals(runs) }
}

// refusals says how many runs released nothing.
func refusals(runs []engine.Result) string {
	if n := len(runs) - engine.Total(runs, released); n > 0 {
		return fmt.Sprintf(" (no release: %d of %d)", n, len(runs))
	}
	return ""
}

// trimmed is the mean of the middle 80 %, as the experiments of CoinPress report errors.
func trimmed(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	cut := len(v) / 10
	return engine.Mean(v[cut : len(v)-cut])
}

// three writes an error with three digits, where the bars it is compared with have three.
func three(v float64) string {
	if v > 0 && v < 10 {
		return fmt.Sprintf("%.3f", v)
	}
	return engine.Number(v)
}
