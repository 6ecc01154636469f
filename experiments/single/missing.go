package single

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// What a contender gets of a row that has lost cells.
const (
	keepCells = "cells" // the others
	dropRows  = "rows"  // nothing
)

// A loss is how cells are lost.
type loss struct {
	share float64 // of the cells
	// high: a cell is lost if its value is above the column's mean, with twice the share.
	high bool
}

// lose returns rows that have lost cells, as a contender gets them.
func (l loss) lose(rows *mat.Dense, seed uint64, keep string) *mat.Dense {
	n, d := rows.Dims()
	out, rng := mat.DenseCopyOf(rows), rand.New(rand.NewPCG(seed, 14))
	for j := range d {
		mean := stat.Mean(mat.Col(nil, j, rows), nil)
		for i := range n {
			lost := rng.Float64()
			if l.high {
				lost /= 2
			}
			if lost < l.share && !(l.high && rows.At(i, j) <= mean) {
				out.Set(i, j, math.NaN())
			}
		}
	}
	for i := range n {
		if row := out.RawRowView(i); keep == dropRows && math.IsNaN(mat.Sum(mat.NewVecDense(d, row))) {
			for j := range row {
				row[j] = math.NaN()
			}
		}
	}
	return out
}

// missing has rows that lack cells.
var missing = experiment{
	name: "missing", title: "Missing cells",
	about: "Gaussian rows of d columns, κ = 10, the mean one largest standard deviation off; cells are lost independently with probability 5, 10 or 20 %, or, in the cells named high, if they are above their " +
		"column's mean, with twice that. \"as they are\" hands them over to `gaussian`, which uses them where half of the rows or more lack a cell; \"dropped\" hands over null rows in place of rows that " +
		"lack one; \"complete\" is the same rows before cells were lost. Success: a covariance within 2× of what all rows allow.",
	cells: func() []cell {
		var out []cell
		for _, relation := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
			add := func(name string, d int, l loss, rows ...int) {
				out = append(out, cell{name: fmt.Sprintf("%d/%s/%v", d, name, relation), rows: rows, relation: &relation, lost: l, pop: madeup.Population{Columns: d, Kappa: 10, Offset: 1}})
			}
			for _, d := range []int{5, 10} {
				for _, share := range []float64{.05, .1, .2} {
					add(fmt.Sprintf("%.0f %%", 100*share), d, loss{share: share}, 5000, 20_000)
				}
			}
			add("10 % high", 5, loss{.1, true}, 20_000)
		}
		return out
	},
	contenders: []contender{
		{name: "as they are", method: "gaussian", keep: keepCells}, {name: "dropped", method: "gaussian", keep: dropRows}, {name: "complete", method: "gaussian"},
	},
	runs: 20, success: covarianceLearned,
	summary: func(p *engine.Page, r *results) {
		whole := func(c cell, _ int, _ []engine.Result) []any {
			return []any{fmt.Sprintf("%.0f %%", 100*math.Pow(1-c.lost.share, float64(c.pop.Columns)))}
		}
		for _, t := range []struct{ title, value string }{{"Covariance error", covError}, {"Mean error", meanError}} {
			p.Heading(t.title)
			p.Text("Medians; the last column is the share of rows that have all cells.")
			p.Table(beside(r, "", medianOf(t.value), whole, "whole rows"))
		}
	},
}
