package kernel

import (
	"fmt"

	"github.com/gauze-dp/gauze/kernel/internal/core"
	"github.com/gauze-dp/gauze/kernel/internal/engine"
)

// Narrow returns a sub-budget that measures only the columns keep, in that order: a row that lacks
// cells in the others only is a whole row there. It has a's budget, and measurements cost the same.
// Narrow takes one pass over the rows, costs nothing and releases nothing.
//
// Theorem. Measurements of the table and of its columns together satisfy the same guarantee as if
// all were of the table.
//
// Proof. A row of the new table is a function of the row of the old one with the same number and of
// keep, its codes of categories the same, and its numbers are null if none of its cells is there.
// So the tables made of neighbours differ in that one row, by replacing it or by its presence, or
// not at all; where keep was chosen by released values it is the same for both given these. Each
// measurement of the new table satisfies the theorem of its own kind, whose proof asks nothing of a
// table but its neighbours, and the filter holds their sum. Under replace-one both tables have n
// rows; under add-or-remove-one Rows reports nothing.
func Narrow(a *core.SubBudget, keep []int) (narrow *core.SubBudget, err error) {
	for _, j := range keep {
		if j < 0 || j >= a.Session().Columns() {
			return nil, fmt.Errorf("kernel: Narrow: want columns of the table, 0 to %d, got %d", a.Session().Columns()-1, j)
		}
	}
	if len(keep) == 0 {
		return nil, fmt.Errorf("kernel: Narrow: want at least one column, got none")
	}
	row := make([]float64, len(keep))
	err = core.Secretly(a, func(d *core.Draw) error {
		t, read := d.Rows(), engine.Seen{Table: d.Rows()}.Pieces()
		kept := t.Beside(len(keep)) // on disk if the table is
		for first := 0; first < t.Len() && d.Context().Err() == nil; first += engine.PieceRows {
			for piece := read(first / engine.PieceRows); len(piece) > 0; piece = piece[t.Columns():] {
				for i, j := range keep {
					row[i] = piece[j]
				}
				kept.Append(row)
			}
		}
		if err := d.Filled(kept); err != nil {
			return err
		}
		kept.TakeCodes(t)
		narrow = core.Instead(a, kept, d.Relation(), 0)
		return nil
	})
	return narrow, err
}
