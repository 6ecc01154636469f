package engine

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
)

// TestTable: what goes in comes out by Row and by Chunks, copied; a row that is not finite is
// null, and so is nil.
func TestTable(t *testing.T) {
	table := NewTable(2)
	row := []float64{0, 0}
	const n = 2*ChunkRows + 3
	for i := range n {
		row[0], row[1] = float64(i), -float64(i)
		table.Append(row)
	}
	row[0] = math.Inf(1)
	bad := [][]float64{row, {math.NaN(), 1}, nil}
	for _, r := range bad {
		table.Append(r)
	}
	if table.Len() != n+len(bad) || table.Columns() != 2 {
		t.Fatal(table.Len(), table.Columns())
	}
	i := 0
	for _, c := range table.chunks {
		for ; len(c) > 0; c = c[2:] {
			if r := table.Row(i); i < n && (c[0] != float64(i) || r[0] != c[0] || r[1] != c[1]) || i >= n && (c[0] == c[0] || r[1] == r[1]) {
				t.Fatalf("row %d is %v and %v", i, r, c[:2])
			}
			i++
		}
	}
	if i != table.Len() {
		t.Errorf("chunks hold %d rows", i)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%d", "%x", "%s"} {
		if s := fmt.Sprintf(verb, table); s != "[protected]" {
			t.Errorf("%s prints %.60s", verb, s)
		}
	}
}

// FuzzAppend: any row keeps the invariant that a stored row is finite or null throughout.
func FuzzAppend(f *testing.F) {
	f.Add(1.0, 2.0)
	f.Add(math.NaN(), 1e308)
	f.Add(5e-324, math.Inf(-1))
	f.Fuzz(func(t *testing.T, a, b float64) {
		table := NewTable(2)
		table.Append([]float64{a, b})
		r := table.Row(0)
		if null := r[0] != r[0]; null != (r[1] != r[1]) || !null && (r[0] != a || r[1] != b || math.IsInf(a, 0) || math.IsInf(b, 0)) {
			t.Errorf("(%v, %v) is stored as %v", a, b, r)
		}
	})
}

// TestRecall: what was put in order last is kept for the same cut and column, whoever asks, and
// made anew for others, after those, after a row came in, and where some rows were not read;
// whoever only looks gets nothing then.
func TestRecall(t *testing.T) {
	type cut struct{ Edges []float64 }
	table, made := NewTable(1), 0
	put := func(all bool) func() (any, bool) {
		return func() (any, bool) { made++; return made, all }
	}
	for i, ask := range []struct {
		cut    any
		column int
		all    bool
		made   int
	}{
		{nil, 0, false, 1}, {nil, 0, true, 2}, {nil, 0, true, 2}, {nil, 0, false, 2}, {nil, 1, false, 3}, {nil, 0, true, 4}, {nil, 1, true, 5}, {nil, 0, true, 6},
		{cut{[]float64{1}}, 0, true, 7}, {cut{[]float64{1}}, 0, true, 7}, {cut{[]float64{2}}, 0, true, 8}, {cut{[]float64{1}}, 0, true, 9}, {nil, 0, true, 10},
		{cut{[]float64{math.NaN()}}, 0, true, 11}, {cut{[]float64{math.NaN()}}, 0, true, 12},
	} {
		if got := table.Recall(Sorted{ask.cut, ask.column}, put(ask.all)); got != ask.made {
			t.Errorf("question %d has the answer made for %v, want %d", i, got, ask.made)
		}
	}
	if got := table.Recall(Sorted{nil, 0}, nil); got != nil {
		t.Errorf("of another cut: %v", got)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if got := table.Recall(Sorted{nil, 0}, put(true)); got != 13 {
				t.Errorf("made again: %v", got)
			}
		})
	}
	wg.Wait()
	table.Append([]float64{7})
	if got := table.Recall(Sorted{nil, 0}, put(true)); got != 14 {
		t.Errorf("a row that came later is missing: %v", got)
	}
}

// TestSeen: a partial row is null in the table, and in a view what the view says, wherever pieces
// end, and whether the pieces before have any; a null row stays null.
func TestSeen(t *testing.T) {
	table, nan := NewTable(2), math.NaN()
	const n = 2*ChunkRows + 3
	kind := func(i int) int {
		if i/PieceRows%3 == 1 { // a piece without partial rows
			return 3
		}
		return i % 7
	}
	for i := range n {
		switch v := float64(i); kind(i) {
		case 0:
			table.Append([]float64{v, nan})
		case 1:
			table.Append([]float64{math.Inf(1), v})
		case 2:
			table.Append([]float64{nan, math.Inf(-1)})
		default:
			table.Append([]float64{v, -v})
		}
	}
	plain := table.Pieces()
	for name, s := range map[string]Seen{"cells": {Table: table}, "filled": {Table: table, Fill: []float64{.5, .25}}} {
		read := s.Pieces()
		for _, p := range []int{8, 0, 3, 4, 8, 5} { // in any order
			piece := slices.Clone(read(p))
			if len(piece) != len(plain(p)) {
				t.Fatalf("%s: piece %d has %d numbers, want %d", name, p, len(piece), len(plain(p)))
			}
			for k := 0; k < len(piece); k += 2 {
				i := p*PieceRows + k/2
				v := float64(i)
				var want [2]float64
				switch kind(i) {
				case 0:
					want = map[string][2]float64{"cells": {v, nan}, "filled": {v, .25}}[name]
				case 1:
					want = map[string][2]float64{"cells": {nan, v}, "filled": {.5, v}}[name]
				case 2:
					want = [2]float64{nan, nan}
				default:
					want = map[string][2]float64{"cells": {v, -v}, "filled": {v, -v}}[name]
				}
				row, null := table.Row(i), kind(i) < 3
				for j := range want {
					if got := piece[k+j]; got != want[j] && (got == got || want[j] == want[j]) || null != (row[j] != row[j]) {
						t.Fatalf("%s: row %d is %v, want %v; in the table %v", name, i, piece[k:k+2], want, row)
					}
				}
			}
		}
	}
}

// TestMarks: partial rows alone are marked, in order, over several pieces and whatever their cells
// hold, and good rows are counted; null rows are neither.
func TestMarks(t *testing.T) {
	table, good, nan := NewTable(2), 0, math.NaN()
	var want []float64
	for i := range 5*PieceRows + 3 {
		switch i % 5 {
		case 0:
			table.Append([]float64{nan, math.Inf(1)})
		case 1:
			table.Append(nil)
		case 2:
			table.Append([]float64{0, nan})
			want = append(want, 1, 0)
		case 3:
			table.Append([]float64{math.Inf(-1), 1e308})
			want = append(want, 0, 1)
		default:
			table.Append([]float64{5e-324, -1e308})
			good++
		}
	}
	m, got := Marks{table}, []float64(nil)
	for i := range (m.Len() + PieceRows - 1) / PieceRows {
		got = append(got, m.Pieces()(i)...)
	}
	if !slices.Equal(got, want) || m.Columns() != 2 || 2*m.Len() != len(want) || table.Good() != good {
		t.Errorf("%d marks, want %d; %d good rows, want %d", len(got), len(want), table.Good(), good)
	}
}
