package kernel

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/internal/core"
	"github.com/gauze-dp/gauze/kernel/internal/engine"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

var hostileCells = []float64{-math.MaxFloat64, -1, 0, math.Copysign(0, -1), 5e-324, 1, 7, math.MaxFloat64, math.NaN(), math.NaN(), math.Inf(1), math.Inf(-1)}

// narrowed are the rows of some columns of a table, as the new table has them: whole, partial or
// null.
func narrowed(t *testing.T, table [][]float64, r privacy.Relation, keep []int) (out [][]float64, whole int) {
	t.Helper()
	b := core.NewBuilder(3)
	for _, row := range table {
		b.Append(row)
	}
	plan := core.Plan{Method: "test", Steps: []core.Step{{Name: "count", Query: query.Count{}.Kind(), Share: 1, Most: 1, Source: "test"}}}
	s, err := core.Open(context.Background(), b.Protect(r), plan, core.Terms{Relation: r, Budget: privacy.Budget{Rho: 2}})
	if err != nil {
		t.Fatal(err)
	}
	a, err := Narrow(s.SubBudget(), keep)
	if err != nil {
		t.Fatal(err)
	}
	if n, public := a.Session().Rows(); public != (r == privacy.ReplaceOne) || public && n != len(table) || a.Session().Columns() != len(keep) || a.Left() != s.SubBudget().Left() {
		t.Errorf("%v: %d rows, public %v, %d columns, %v left", r, n, public, a.Session().Columns(), a.Left())
	}
	if err := core.Secretly(a, func(d *core.Draw) error {
		seen := engine.Seen{Table: d.Rows()}.Pieces()
		for i := 0; i*engine.PieceRows < d.Rows().Len(); i++ {
			for row := range slices.Chunk(seen(i), len(keep)) {
				out = append(out, slices.Clone(row))
			}
		}
		whole = d.Rows().Good()
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return out, whole
}

func sameCells(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) || x != x && y != y })
}

// TestNarrowOfNeighbours: a row of the new table is that of the old one in the columns that are
// kept, what is not finite being missing, so that the tables of neighbours differ in one row at
// most; rows that lack cells elsewhere are whole.
func TestNarrowOfNeighbours(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 5))
	draw := func() []float64 {
		return []float64{hostileCells[rng.IntN(len(hostileCells))], hostileCells[rng.IntN(len(hostileCells))], hostileCells[rng.IntN(len(hostileCells))]}
	}
	for range 300 {
		var table [][]float64
		for range 1 + rng.IntN(9) {
			table = append(table, draw())
		}
		keep := [][]int{{0}, {2}, {1, 2}, {2, 0}, {0, 1, 2}}[rng.IntN(5)]
		for _, r := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
			x, whole := narrowed(t, table, r, keep)
			good := 0
			for i, row := range table {
				want, all := make([]float64, len(keep)), true
				for k, j := range keep {
					if want[k] = row[j]; row[j]-row[j] != 0 {
						want[k], all = math.NaN(), false
					}
				}
				if all {
					good++
				}
				if !sameCells(x[i], want) {
					t.Fatalf("row %v, columns %v: %v, want %v", row, keep, x[i], want)
				}
			}
			if whole != good {
				t.Errorf("%d whole rows, want %d", whole, good)
			}
			at, other := rng.IntN(len(table)), slices.Clone(table)
			if r == privacy.AddRemoveOne {
				if other = slices.Delete(other, at, at+1); len(other) == 0 {
					continue
				}
				x = slices.Delete(x, at, at+1)
			} else {
				other[at] = draw()
			}
			y, _ := narrowed(t, other, r, keep)
			for i := range y {
				if !sameCells(x[i], y[i]) && !(r == privacy.ReplaceOne && i == at) {
					t.Errorf("row %d differs: %v and %v", i, x[i], y[i])
				}
			}
		}
	}
}

// TestNarrowCancelled: an interrupted fit says so, and not that the program is wrong.
func TestNarrowCancelled(t *testing.T) {
	b := core.NewMixedBuilder(2, 1, nil)
	b.Append([]float64{1, 2, 0})
	plan := core.Plan{Method: "test", Steps: []core.Step{{Name: "count", Query: query.Count{}.Kind(), Share: 1, Most: 1, Source: "test"}}}
	ctx, cancel := context.WithCancel(t.Context())
	s, err := core.Open(ctx, b.Protect(privacy.AddRemoveOne), plan, core.Terms{Relation: privacy.AddRemoveOne, Budget: privacy.Budget{Rho: 2}})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if narrow, err := Narrow(s.SubBudget(), []int{1}); narrow != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, %v, want %v", narrow, err, context.Canceled)
	}
}

// TestNarrowRefused: columns that there are not, or none.
func TestNarrowRefused(t *testing.T) {
	b := core.NewBuilder(1)
	b.Append([]float64{1})
	plan := core.Plan{Method: "test", Steps: []core.Step{{Name: "count", Query: query.Count{}.Kind(), Share: 1, Most: 1, Source: "test"}}}
	s, err := core.Open(context.Background(), b.Protect(privacy.ReplaceOne), plan, core.Terms{Relation: privacy.ReplaceOne, Budget: privacy.Budget{Rho: 2}})
	if err != nil {
		t.Fatal(err)
	}
	for _, keep := range [][]int{nil, {-1}, {1}, {0, 1}} {
		if _, err := Narrow(s.SubBudget(), keep); err == nil {
			t.Errorf("columns %v of one", keep)
		}
	}
}

// TestNarrowKeepsCodes: a row of the new table has the codes of the row that it is made of,
// whatever its numbers are.
func TestNarrowKeepsCodes(t *testing.T) {
	b := core.NewMixedBuilder(2, 1, nil)
	for _, row := range [][]float64{{1, 2, 0}, {math.NaN(), 2, 1}, {math.NaN(), math.NaN(), 2}, {1, math.NaN(), 1}, {3, 4, math.NaN()}} {
		b.Append(row)
	}
	plan := core.Plan{Method: "test", Steps: []core.Step{{Name: "count", Query: query.Count{}.Kind(), Share: 1, Most: 1, Source: "test"}}}
	s, err := core.Open(context.Background(), b.Protect(privacy.ReplaceOne), plan, core.Terms{Relation: privacy.ReplaceOne, Budget: privacy.Budget{Rho: 2}})
	if err != nil {
		t.Fatal(err)
	}
	a, err := Narrow(s.SubBudget(), []int{1})
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{2, 0, 2, 1, math.NaN(), 2, math.NaN(), 1, 4, math.NaN()}
	if err := core.Secretly(a, func(d *core.Draw) error {
		if got := (engine.Mixed{Table: d.Rows()}).Pieces()(0); !sameCells(got, want) {
			t.Errorf("rows with codes %v, want %v", got, want)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
