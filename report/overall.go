package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/report/overall"
)

// An overallTable is the content of overall.html.
type overallTable struct {
	Levels       []string
	Columns      []columnRow
	Correlations [][]cell // nil for one column, or too many
	Note         string
}

// mostCorrelated is the largest number of columns of a table of correlations: readers cannot follow
// more.
const mostCorrelated = 12

func newOverall(r *release.Release, t overall.Table) *overallTable {
	out := &overallTable{}
	for _, level := range overall.Levels {
		name := strconv.FormatFloat(100*level, 'f', -1, 64) + " %"
		if level == .5 {
			name = "median"
		}
		out.Levels = append(out.Levels, name)
	}
	for j, c := range t.Columns {
		public := r.Column(j)
		mean, sd := figureOf(c.Mean, c.SD.Value), figureOf(c.SD, c.SD.Value)
		mean.Value = written(public, c.Mean.Value, digitsFor(c.Mean.Value, c.SD.Value))
		row := columnRow{Name: columnName(tabled(public), j), Cells: []cell{mean, sd}}
		for _, q := range c.Quantiles {
			row.Cells = append(row.Cells, cell{written(public, q.Value, digitsFor(q.Value, c.SD.Value)), offOf(q)})
		}
		out.Columns = append(out.Columns, row)
	}
	switch d := len(t.Columns); {
	case d > mostCorrelated:
		out.Note = fmt.Sprintf("Correlations of %d columns are in the release.", d)
	case d > 1:
		for i, line := range t.Correlations {
			cells := make([]cell, len(line))
			for j, a := range line {
				if cells[j] = (cell{Value: "1"}); i != j {
					cells[j] = cell{withMinus(strconv.FormatFloat(math.Round(100*a.Value)/100, 'f', 2, 64)), offOf(a)}
				}
			}
			out.Correlations = append(out.Correlations, cells)
		}
	}
	return out
}

// figureOf returns a figure of a column whose standard deviation is sd.
func figureOf(a overall.Amount, sd float64) cell {
	return cell{withMinus(number(a.Value, digitsFor(a.Value, sd))), offOf(a)}
}

// offOf returns the possible error of a figure; nothing for one that is exact, or whose error is
// unknown.
func offOf(a overall.Amount) string {
	if math.IsNaN(a.Noise) && math.IsNaN(a.Sampling) || a.Noise == 0 && a.Sampling == 0 {
		return ""
	}
	said := make([]string, 2)
	for i, x := range []float64{a.Noise, a.Sampling} {
		if said[i] = "–"; !math.IsNaN(x) {
			said[i] = number(x, 2)
		}
	}
	return "± " + strings.Join(said, " | ")
}
