package engine

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Table is written as Markdown.
type Table struct {
	Head []string
	Rows [][]string // as Add makes them
}

// Add adds a row of cells, each written by fmt.Sprint.
func (t *Table) Add(cells ...any) {
	var row []string
	for _, c := range cells {
		row = append(row, escaped(fmt.Sprint(c)))
	}
	t.Rows = append(t.Rows, row)
}

func escaped(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

// Write writes the table with its columns aligned and a blank line after it.
func (t *Table) Write(w io.Writer) error {
	var head []string
	for _, h := range t.Head {
		head = append(head, escaped(h))
	}
	wide := make([]int, len(head))
	for _, row := range append([][]string{head}, t.Rows...) {
		for j, c := range row {
			if j < len(wide) {
				wide[j] = max(wide[j], utf8.RuneCountInString(c))
			}
		}
	}
	var b strings.Builder
	line := func(cell func(j int) string) {
		for j, n := range wide {
			c := cell(j)
			b.WriteString("| " + c + strings.Repeat(" ", n-utf8.RuneCountInString(c)) + " ")
		}
		b.WriteString("|\n")
	}
	line(func(j int) string { return head[j] })
	b.WriteString(strings.Repeat("|---", len(wide)) + "|\n")
	for _, row := range t.Rows {
		line(func(j int) string {
			if j < len(row) {
				return row[j]
			}
			return ""
		})
	}
	b.WriteString("\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// Rows writes a number of rows: "4.5k", "200k"; "-" for 0.
func Rows(n int) string {
	switch {
	case n == 0:
		return "-"
	case n < 1000:
		return strconv.Itoa(n)
	case n >= 1_000_000:
		return strconv.FormatFloat(float64(n)/1e6, 'g', 4, 64) + "M"
	}
	return strconv.FormatFloat(float64(n)/1000, 'g', 6, 64) + "k"
}

// Number writes a measurement with two digits; "-" for none.
func Number(v float64) string {
	switch {
	case math.IsNaN(v):
		return "-"
	case math.IsInf(v, 1):
		return "∞"
	case v != 0 && (math.Abs(v) < .001 || math.Abs(v) >= 1e5):
		return strconv.FormatFloat(v, 'e', 1, 64)
	case math.Abs(v) >= 10:
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	s := strconv.FormatFloat(v, 'g', 2, 64)
	if math.Abs(v) < 1 {
		return s
	}
	return strconv.FormatFloat(v, 'f', 1, 64)
}

// Rate writes successes of runs with Wilson's interval in percent: "18/20 (70-97 %)".
func Rate(successes, runs int) string {
	low, high := wilson(successes, runs)
	return fmt.Sprintf("%d/%d (%.0f-%.0f %%)", successes, runs, 100*low, 100*high)
}

// Slope writes a slope with its standard error.
func Slope(slope, sd float64) string {
	if math.IsNaN(slope) {
		return "-"
	}
	if sd == 0 {
		return fmt.Sprintf("%.2f", slope)
	}
	return fmt.Sprintf("%.2f ± %.2f", slope, sd)
}

// Spread writes the median and the ninth decile.
func Spread(v []float64) string {
	if len(v) == 0 {
		return "-"
	}
	return fmt.Sprintf("%s (%s)", Number(Median(v)), Number(Quantile(v, .9)))
}

// Med writes the median of a value over the runs that have it.
func Med(runs []Result, name string) string { return Number(Median(Pick(runs, name))) }

// Seconds writes the median time of a fit.
func Seconds(runs []Result) string {
	var v []float64
	for _, run := range runs {
		v = append(v, run.Seconds)
	}
	return Number(Median(v))
}

// Range writes the least and the largest of some whole numbers.
func Range(v []float64) string {
	if len(v) == 0 {
		return "-"
	}
	text := fmt.Sprintf("%.0f", Quantile(v, 0))
	if most := fmt.Sprintf("%.0f", Quantile(v, 1)); most != text {
		text += " to " + most
	}
	return text
}
