package kernel

import (
	"github.com/gauze-dp/gauze/kernel/internal/core"
	"github.com/gauze-dp/gauze/kernel/internal/engine"
	"github.com/gauze-dp/gauze/kernel/internal/noise"
)

// Subsample returns a sub-budget that measures a secret sample of the rows: each is in it with
// probability 1/inverseRate by a coin of its own, inverseRate being public or released. It has a's
// budget, and measurements cost the same. Drawing takes one pass over the rows, costs nothing and
// releases nothing. A row that lacks cells is a null row of the sample, in every view.
//
// Theorem. Measurements of the table and of the sample together satisfy the same guarantee as if
// all were of the table: no amplification is claimed.
//
// Proof. Let neighbours have their common rows' coins in common: coins are independent of all rows
// and of each other, so this changes the law of neither. A row that is replaced has one coin, and
// one that comes or goes has one that nothing else depends on. Given the coins the samples differ
// as the tables do, in that one row, or not at all; for equal tables every bound on a sensitivity
// holds too. So given the coins each measurement of the sample satisfies the theorem of its own
// kind, whose proof asks nothing of a table but its neighbours, and the filter holds their sum.
// What holds given every value of something that is as likely for one neighbour as for the other
// holds without it, as it may be released first at no loss. Under replace-one n is public, so that
// the sample's size, which Session().Rows reports, depends on coins alone; under add-or-remove-one
// Rows reports nothing.
func Subsample(a *core.SubBudget, inverseRate uint64) (s *core.SubBudget, err error) {
	drawn := engine.NewTable(a.Session().Columns())
	err = core.Secretly(a, func(d *core.Draw) error {
		t, read := d.Rows(), d.Rows().Pieces()
		for first := 0; first < t.Len() && d.Context().Err() == nil; first += engine.PieceRows {
			for piece := read(first / engine.PieceRows); len(piece) > 0; piece = piece[t.Columns():] {
				if noise.Uniform(d.Source(), inverseRate) == 0 {
					drawn.Append(piece[:t.Columns()])
				}
			}
		}
		s = core.Instead(a, drawn, d.Relation(), 0) // all rows: a prefix of them depends on more than coins
		return d.Context().Err()
	})
	return s, err
}
