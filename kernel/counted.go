package kernel

import (
	"fmt"
	"slices"

	"github.com/gauze-dp/gauze/kernel/internal/core"
)

// Counted returns a sub-budget of the table in which the columns of numbers with these numbers are
// columns of categories: columns[i] is the one with the number places[i] among all of them, and has
// the values 0, 1 and 2, which stands for any other cell and for none. It has a's budget, and
// measurements cost the same. Counted takes one pass over the rows, costs nothing and releases
// nothing.
//
// Theorem. Measurements of the table and of the new one together satisfy the same guarantee as if
// all were of the table, provided that columns and places are public.
//
// Proof. A row of the new table is a function of the row of the old one with the same number, and
// of columns and places: it has the other numbers, and its codes are the old ones and those of its
// own cells. So the tables made of neighbours differ in that one row, by replacing it or by its
// presence, or not at all. Each measurement of the new table satisfies the theorem of its own kind,
// whose proof asks nothing of a table but its neighbours, and the filter holds their sum. Under
// replace-one both tables have n rows; under add-or-remove-one Rows reports nothing.
func Counted(a *core.SubBudget, columns, places []int) (counted *core.SubBudget, err error) {
	d, c := a.Session().Columns(), a.Session().Categories()+len(columns)
	once := func(of []int, below int) bool {
		sorted := slices.Sorted(slices.Values(of))
		return len(of) > 0 && sorted[0] >= 0 && sorted[len(of)-1] < below && len(slices.Compact(sorted)) == len(of)
	}
	if !once(columns, d) || len(columns) == d || len(places) != len(columns) || !once(places, c) {
		return nil, fmt.Errorf("kernel: Counted: want some of %d columns, each once, and for each its own of %d places, got %v and %v", d, c, columns, places)
	}
	err = core.Secretly(a, func(d *core.Draw) error {
		t := d.Rows().Counted(d.Context(), columns, places)
		if err := d.Filled(t); err != nil {
			return err
		}
		counted = core.Instead(a, t, d.Relation(), 0)
		return nil
	})
	return counted, err
}
