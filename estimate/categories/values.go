package categories

import (
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
)

// StepValues is the step that finds values which no schema declares.
const StepValues = "category values"

// Other is the value that stands for all texts of a column that are too rare to be found.
const Other = "(other)"

// Utility constants of finding values, guesses. The noise of a text's count may be one row in
// clearValue, for a part of mu^2 between leastValues and mostValues; where the number of rows is
// private, it is usualValues. Texts from about six times the noise on are found.
const (
	clearValue              = 600.0
	leastValues, mostValues = .01, .08
	usualValues             = .05
	valueSlack              = .5  // of the slack, if the method has thresholds of its own
	mostFound               = 998 // values of a column: beside Other and missing
)

// Found returns how many columns have values that are to be found.
func Found(values []int) (n int) {
	for _, v := range values {
		if v == 0 {
			n++
		}
	}
	return n
}

// valueShare returns the part of mu^2 that finding values costs; 0 if all are declared.
func valueShare(p estimate.Problem, mu float64) float64 {
	return shareOf(p, mu, Found(p.Categories), clearValue, leastValues, mostValues, usualValues)
}

// find finds the values of the columns that have none declared, with a part of a. It returns a of
// the table in which all columns have codes, the number of values of each column, Other and missing
// among them, and the texts found, with Other, nil for columns with declared values.
func find(a *kernel.SubBudget, values []int, part float64) (recoded *kernel.SubBudget, all []int, found [][]string, err error) {
	q := query.CategoryValues{}
	for column, v := range values {
		if v == 0 {
			q.Columns = append(q.Columns, column)
		}
	}
	released, _, err := kernel.FindValues(a, StepValues, q, math.Sqrt(part*a.Left()))
	if err != nil {
		return nil, nil, nil, err
	}
	all, found = make([]int, len(values)), make([][]string, len(values))
	copy(all, values)
	for _, column := range q.Columns {
		found[column] = []string{}
	}
	for _, f := range released {
		if at := q.Columns[f.Column]; f.Text != Other && len(found[at]) < mostFound {
			found[at] = append(found[at], f.Text)
		}
	}
	if recoded, err = kernel.Recode(a, found); err != nil {
		return nil, nil, nil, err
	}
	for _, column := range q.Columns {
		found[column] = append(found[column], Other)
		all[column] = len(found[column]) + 1
	}
	return recoded, all, found, nil
}
