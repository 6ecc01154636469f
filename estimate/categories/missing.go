package categories

import (
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
)

// firstMissing is the part of mu^2 for the first of two counts of missing cells, if there are
// several components: a guess.
const firstMissing = .3

// Missing measures how large a part of each component's rows lacks the cell of a column, with all
// that is left in out.Missing: of the columns that the profile shows to lack some, or of all.
// Missing and present are the two values of a category here, so these are measurements of counts of
// categories, whose rows are completed by the model. There is none without a spread in any column.
//
// Of several components it is counted twice, since which cells a row lacks says whose it is too: by
// the cells of rows that have some, and then by what that has shown of each component, with the
// rows that have none. The second says how many rows components have, too.
//
// The L2 sensitivity of c columns is sqrt(2c) under replace-one, sqrt(c) under add-or-remove-one;
// loss and proof are those of query.CategoryCounts, and of kernel.Complete, which completes a row
// from that row alone.
func Missing(p estimate.Problem, out *estimate.Outcome) error {
	m := out.Model
	if spaceOf(m).Columns == nil {
		return nil
	}
	by := completion(m)
	by.Missing = gapped(out, m.Dim())
	a, err := kernel.Complete(out.Missing, by)
	if err != nil {
		return err
	}
	c := counts{step: program.StepMissing, public: float64(p.Rows)}
	for range by.Missing {
		c.columns = append(c.columns, 2)
	}
	noise := program.Factor(p.Relation) * math.Sqrt(float64(len(by.Missing))) / a.LeftMu()
	q := query.CategoryCounts{Values: c.columns, Components: densities(m), Unseen: m.Weights}
	if c.weights, q.Group = together(m.Weights, leastRows*noise/rowsOf(p, out)); len(c.weights) > 1 {
		first, whole := c, q
		whole.Unseen = make([]float64, len(m.Weights)) // rows without any cell count for none
		if err := first.ask(a, whole, math.Sqrt(firstMissing*a.Left())); err != nil {
			return err
		}
		first.weighed(&q, m.Weights)
	}
	if err := c.ask(a, q, a.LeftMu()); err != nil {
		return err
	}
	for column, of := range c.probabilities() {
		for i, g := range q.Group {
			note := &out.Diagnostics.Components[i]
			if note.Missing == nil {
				note.Missing = map[int]float64{}
			}
			note.Missing[by.Missing[column]], note.MissingNoise = of[g][1], math.Min(1, c.noise(g))
		}
	}
	c.reweigh(out, q.Group)
	return nil
}

// gapped returns the columns of a model of d columns whose missing cells are counted.
func gapped(out *estimate.Outcome, d int) (columns []int) {
	var all []int
	for j := range d {
		all = append(all, j)
		if out.Profile == nil {
			continue
		}
		of := j
		if out.Kept != nil {
			of = out.Kept[j]
		}
		if c := out.Profile.Columns[of]; 1-c.Cells > quiet*c.CellsNoise {
			columns = append(columns, j)
		}
	}
	if columns == nil {
		return all
	}
	return columns
}
