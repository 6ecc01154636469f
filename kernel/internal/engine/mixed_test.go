package engine

import (
	"math"
	"testing"
)

// TestMixed: numbers are as in a table without codes, and the mixed view has both of every row.
func TestMixed(t *testing.T) {
	nan := math.NaN()
	for _, n := range []int{0, 1, 5, PieceRows, 2*ChunkRows + 7} {
		mixed, plain := NewMixed(2, 3, nil), NewTable(2)
		var want [][]float64
		for i := range n {
			row := []float64{float64(i), -1, float64(i % 3), 0, 2}
			switch i % 9 {
			case 3: // a partial row of numbers
				row[1] = nan
			case 4: // a null row of numbers
				row[0], row[1] = nan, math.Inf(1)
			case 5: // codes that are none
				row[3] = nan
			}
			if i%9 == 6 {
				mixed.Append(nil)
				plain.Append(nil)
				want = append(want, []float64{nan, nan, nan, nan, nan})
				continue
			}
			mixed.Append(row)
			plain.Append(row[:2])
			if i%9 == 3 || i%9 == 4 {
				row[0], row[1] = nan, nan
			}
			if i%9 == 5 {
				row[2], row[3], row[4] = nan, nan, nan
			}
			want = append(want, row)
		}
		if mixed.Columns() != 2 || mixed.Codes() != 3 || mixed.Len() != n || mixed.Good() != plain.Good() {
			t.Fatalf("%d rows: %d columns, %d codes, %d rows, %d good", n, mixed.Columns(), mixed.Codes(), mixed.Len(), mixed.Good())
		}
		view := Mixed{mixed}
		read, numbers, seen, both := mixed.Pieces(), plain.Pieces(), Seen{Table: mixed}.Pieces(), view.Pieces()
		seenPlain := Seen{Table: plain}.Pieces()
		for i := 0; i*PieceRows < n; i++ {
			same(t, read(i), numbers(i))
			same(t, seen(i), seenPlain(i))
			piece := both(i)
			for r := range len(piece) / view.Columns() {
				same(t, piece[r*5:(r+1)*5], want[i*PieceRows+r])
			}
		}
	}
	if NewTable(2).Codes() != 0 || (Mixed{NewTable(2)}).Columns() != 2 {
		t.Error("a table without codes has some")
	}
}

func same(t *testing.T, x, y []float64) {
	t.Helper()
	if len(x) != len(y) {
		t.Fatalf("%d values, want %d", len(x), len(y))
	}
	for i := range x {
		if math.Float64bits(x[i]) != math.Float64bits(y[i]) && (x[i] == x[i] || y[i] == y[i]) {
			t.Fatalf("value %d is %v, want %v", i, x[i], y[i])
		}
	}
}
