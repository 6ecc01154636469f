package kernel

import (
	"context"
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

// counted returns the rows, numbers and then codes, of a table of three columns of numbers and c of
// codes in which the numbers columns are codes.
func counted(t *testing.T, table [][]float64, c int, r privacy.Relation, columns, places []int) (numbers, codes [][]float64) {
	t.Helper()
	b := core.NewMixedBuilder(3, c, nil)
	for _, row := range table {
		b.Append(row[:3+c])
	}
	plan := core.Plan{Method: "test", Steps: []core.Step{{Name: "count", Query: query.Count{}.Kind(), Share: 1, Most: 1, Source: "test"}}}
	s, err := core.Open(context.Background(), b.Protect(r), plan, core.Terms{Relation: r, Budget: privacy.Budget{Rho: 2}})
	if err != nil {
		t.Fatal(err)
	}
	a, err := Counted(s.SubBudget(), columns, places)
	if err != nil {
		t.Fatal(err)
	}
	if n, public := a.Session().Rows(); public != (r == privacy.ReplaceOne) || public && n != len(table) || a.Session().Columns() != 3-len(columns) || a.Session().Categories() != c+len(columns) || a.Left() != s.SubBudget().Left() {
		t.Errorf("%v: %d rows, public %v, %d and %d columns, %v left", r, n, public, a.Session().Columns(), a.Session().Categories(), a.Left())
	}
	read := func(pieces func(int) []float64, d int, d2 *core.Draw) (out [][]float64) {
		for i := 0; i*engine.PieceRows < d2.Rows().Len(); i++ {
			for row := range slices.Chunk(pieces(i), d) {
				out = append(out, slices.Clone(row))
			}
		}
		return out
	}
	if err := core.Secretly(a, func(d *core.Draw) error {
		numbers = read(engine.Seen{Table: d.Rows()}.Pieces(), 3-len(columns), d)
		for _, row := range read(engine.Mixed{Table: d.Rows()}.Pieces(), 3+c, d) {
			codes = append(codes, row[3-len(columns):])
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return numbers, codes
}

// TestCountedOfNeighbours: a row of the new table is a function of the old row alone, so that the
// tables of neighbours differ in one row at most: its other numbers, and codes of which 0 and 1 are
// themselves and all else is 2; without its own codes, or without any cell, it has none.
func TestCountedOfNeighbours(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 15))
	cell := func() float64 { return hostileCells[rng.IntN(len(hostileCells))] }
	for range 300 {
		draw := func() []float64 {
			return []float64{cell(), cell(), cell(), float64(rng.IntN(4)), []float64{0, 1, math.NaN()}[rng.IntN(3)]}
		}
		var table [][]float64
		for range 1 + rng.IntN(9) {
			table = append(table, draw())
		}
		c, columns := rng.IntN(3), [][]int{{0}, {2}, {1, 2}, {2, 0}}[rng.IntN(4)]
		places := rng.Perm(c + len(columns))[:len(columns)]
		for _, r := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
			x, codes := counted(t, table, c, r, columns, places)
			for i, row := range table {
				var rest, own []float64
				for j, v := range row[:3] {
					if v-v != 0 {
						v = math.NaN()
					}
					if !slices.Contains(columns, j) {
						rest = append(rest, v+0)
					}
				}
				old := row[3 : 3+c]
				none := slices.ContainsFunc(old, math.IsNaN) || c == 0 && !slices.ContainsFunc(row[:3], func(v float64) bool { return v-v == 0 })
				for a := range c + len(columns) {
					v := 2.
					if k := slices.Index(places, a); k < 0 {
						v, old = old[0], old[1:]
					} else if cell := row[columns[k]]; cell == 0 || cell == 1 {
						v = cell + 0
					}
					if none {
						v = math.NaN()
					}
					own = append(own, v)
				}
				if !slices.EqualFunc(x[i], rest, func(a, b float64) bool { return a == b || a != a && b != b }) || !sameCells(codes[i], own) {
					t.Fatalf("row %v, %d codes, columns %v at %v: %v and %v, want %v and %v", row, c, columns, places, x[i], codes[i], rest, own)
				}
			}
			at, other := rng.IntN(len(table)), slices.Clone(table)
			other[at] = draw()
			y, otherCodes := counted(t, other, c, r, columns, places)
			for i := range y {
				if i != at && (!sameCells(x[i], y[i]) || !sameCells(codes[i], otherCodes[i])) {
					t.Errorf("row %d differs: %v %v and %v %v", i, x[i], codes[i], y[i], otherCodes[i])
				}
			}
		}
	}
}

// TestCountedRefused: columns and places that there are not, or twice, or all columns.
func TestCountedRefused(t *testing.T) {
	b := core.NewMixedBuilder(2, 1, nil)
	b.Append([]float64{1, 2, 0})
	plan := core.Plan{Method: "test", Steps: []core.Step{{Name: "count", Query: query.Count{}.Kind(), Share: 1, Most: 1, Source: "test"}}}
	s, err := core.Open(context.Background(), b.Protect(privacy.ReplaceOne), plan, core.Terms{Relation: privacy.ReplaceOne, Budget: privacy.Budget{Rho: 2}})
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range [][2][]int{{nil, nil}, {{2}, {0}}, {{-1}, {0}}, {{0}, {2}}, {{0}, {-1}}, {{0}, nil}, {{0, 1}, {0, 1}}, {{0, 0}, {0, 1}}} {
		if _, err := Counted(s.SubBudget(), of[0], of[1]); err == nil {
			t.Errorf("columns %v at %v", of[0], of[1])
		}
	}
}
