package query

import (
	"fmt"
	"slices"

	"github.com/gauze-dp/gauze/kernel/privacy"
)

// CategoryValues asks which texts columns of categories have: a stability histogram of each column,
// over the unbounded set of texts. It is asked of a table whose rows have a text, or none, in each
// of these columns.
//
// Privacy. Let J be the number of columns. A row is in the cell of its text in each column, or in
// none where it has no text: it adds 1 to at most J counts, all different. Two consequences:
//   - the vector of all counts has L2 sensitivity sqrt J under add-or-remove-one and sqrt(2J) under
//     replace-one (J counts fall by 1 and J others grow by 1; where they meet the change is
//     smaller);
//   - a cell that is not empty on one side and empty on the other holds nothing but the row that
//     differs: its count is 1, and there are at most J such cells on either side.
//
// See kernel.FindValues for how noise and threshold follow. Proof: kernel/stability_proof.md, step
// 6.
//
// Caller must ensure: nothing.
type CategoryValues struct {
	Columns []int // of the table's columns of categories, each once
}

// KindCategoryValues is the kind of CategoryValues.
const KindCategoryValues = "category values"

// Kind returns "category values".
func (CategoryValues) Kind() string { return KindCategoryValues }

// Validate returns an error unless there are columns, each once.
func (q CategoryValues) Validate(int) error {
	if len(q.Columns) == 0 {
		return fmt.Errorf("query: CategoryValues.Columns: want at least one, got none")
	}
	for i, a := range q.Columns {
		if a < 0 || slices.Contains(q.Columns[:i], a) {
			return fmt.Errorf("query: CategoryValues.Columns: want numbers of columns from 0, each once, got %d", a)
		}
	}
	return nil
}

// Histograms returns J, the number of columns.
func (q CategoryValues) Histograms() int { return len(q.Columns) }

// Sensitivity returns sqrt(2J) or sqrt J, rounded up: the L2 sensitivity of all counts together.
func (q CategoryValues) Sensitivity(r privacy.Relation) float64 {
	if r == privacy.AddRemoveOne {
		return privacy.SqrtUp(float64(q.Histograms()))
	}
	return privacy.SqrtUp(2 * float64(q.Histograms()))
}

// Count adds a row to the counts of each column's texts: text returns what it has in a column of
// the table, and whether it has any.
func (q CategoryValues) Count(counts []map[string]int64, text func(column int) (string, bool)) {
	for i, a := range q.Columns {
		if value, ok := text(a); ok {
			counts[i][value]++
		}
	}
}
