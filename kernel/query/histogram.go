package query

import (
	"fmt"
	"math"
	"sort"

	"github.com/gauze-dp/gauze/kernel/privacy"
)

// BinCounts asks for one histogram per column over a finite, fixed list of bins: bin b of column j holds the rows with
// Edges[j][b-1] <= x_j < Edges[j][b]; the first and the last bin are unbounded, so every good row is in one bin per column.
//
// Answer: the histograms of the columns one after another, len(Edges[j])+1 counts each (0 for a column without edges).
// Privacy: a row adds 1 to one bin per column that has edges (a of them): sensitivity sqrt(2a) under replace-one, sqrt a under
// add-or-remove-one. The bins are finite and fixed, all of them are noised, so no delta is spent.
//
// Source: [KSSU19] Section A.4 of the restatement (finite universe).
type BinCounts struct {
	Edges [][]float64
}

// Kind is "histogram".
func (BinCounts) Kind() string { return "histogram" }

// Validate reports edges that are not increasing or do not fit d columns.
func (q BinCounts) Validate(d int) error {
	if len(q.Edges) != d {
		return fmt.Errorf("query: BinCounts.Edges: want %d lists, got %d", d, len(q.Edges))
	}
	if q.active() == 0 {
		return fmt.Errorf("query: BinCounts.Edges: want edges for at least one column, got none")
	}
	for _, e := range q.Edges {
		if err := allFinite("BinCounts.Edges", e); err != nil {
			return err
		}
		if !sort.Float64sAreSorted(e) {
			return fmt.Errorf("query: BinCounts.Edges: want increasing numbers, got %v", e)
		}
	}
	return nil
}

func (q BinCounts) active() int {
	a := 0
	for _, e := range q.Edges {
		if len(e) > 0 {
			a++
		}
	}
	return a
}

// Size is the number of bins of all columns.
func (q BinCounts) Size() int {
	n := 0
	for _, e := range q.Edges {
		if len(e) > 0 {
			n += len(e) + 1
		}
	}
	return n
}

// Sensitivity is sqrt(2a) or sqrt a.
func (q BinCounts) Sensitivity(r privacy.Relation) float64 {
	if r == privacy.AddRemoveOne {
		return sqrtUp(float64(q.active()))
	}
	return sqrtUp(2 * float64(q.active()))
}

// Weight is 1.
func (BinCounts) Weight(int) float64 { return 1 }

// Unit is 1.
func (BinCounts) Unit() float64 { return 1 }

// Compile returns the row map.
func (q BinCounts) Compile(d int) RowMap { return &binMap{q: q, d: d} }

type binMap struct {
	q BinCounts
	d int
}

// Add counts every column of every row.
func (m *binMap) Add(sum []int64, rows []float64) {
	for ; len(rows) >= m.d; rows = rows[m.d:] {
		row := rows[:m.d]
		if null(row) {
			continue
		}
		at := 0
		for j, edges := range m.q.Edges {
			if len(edges) == 0 {
				continue
			}
			v := row[j]
			sum[at+sort.Search(len(edges), func(i int) bool { return v < edges[i] })]++
			at += len(edges) + 1
		}
	}
}

// PairOctaves asks, over secret pairs of rows, for one histogram per column of the octave floor(log2 |x_j - y_j|), clamped to
// [Low, High]; equal values fall in a bin of their own.
//
// Answer: per column 1 + (High-Low+1) counts, the zero bin first.
// Privacy: one changed row changes the content of one pair, which leaves one bin and enters another in each of the d columns:
// sensitivity sqrt(2d) under both relations.
//
// Source: [KSSU19] Sections A.3 and E (stage A') of the restatement; pairs by secret buckets.
type PairOctaves struct {
	Columns   int
	Low, High int
}

// Kind is "pair octaves".
func (PairOctaves) Kind() string { return "pair octaves" }

// Validate reports an empty range of octaves or a wrong number of columns.
func (q PairOctaves) Validate(d int) error {
	if q.Columns != d {
		return fmt.Errorf("query: PairOctaves.Columns: want %d, got %d", d, q.Columns)
	}
	const most = 1100 // beyond the exponents of float64
	if q.Low > q.High || q.Low < -most || q.High > most {
		return fmt.Errorf("query: PairOctaves: want %d <= Low <= High <= %d, got %d and %d", -most, most, q.Low, q.High)
	}
	return nil
}

// Bins is the number of bins per column.
func (q PairOctaves) Bins() int { return q.High - q.Low + 2 }

// Size is Columns times Bins.
func (q PairOctaves) Size() int { return q.Columns * q.Bins() }

// PairSensitivity is sqrt(2d).
func (q PairOctaves) PairSensitivity() float64 { return sqrtUp(2 * float64(q.Columns)) }

// AddPair counts one pair in every column. A difference that overflows is in the highest bin; a null row makes a null pair.
func (q PairOctaves) AddPair(sum []int64, x, y []float64) {
	if null(x) || null(y) {
		return
	}
	for j := range x {
		bin := 0
		if diff := math.Abs(x[j] - y[j]); diff > 0 {
			e := q.High
			if finite(diff) {
				_, e = math.Frexp(diff)
				e = min(max(e-1, q.Low), q.High)
			}
			bin = 1 + e - q.Low
		}
		sum[j*q.Bins()+bin]++
	}
}

// CellKeys asks for one stability-based histogram per column over the unbounded grid of cells
// [Offset_j + c Cell_j, Offset_j + (c+1) Cell_j), c any integer.
//
// Privacy: a row is in one cell per column; with noise sd sqrt(2d)/mu (replace-one) or sqrt(d)/mu and the threshold
// 1 + sd PhiInv(1 - s/d) the release is mu-GDP up to total variation slack s: the cells that are empty in one of two
// neighbours have count 1 in the other, at most one per column on either side, and pass with probability at most s/d each.
//
// Source: [KSSU19] Sections A.2 and A.4 of the restatement.
type CellKeys struct {
	Offset, Cell []float64
}

// Kind is "stability histogram".
func (CellKeys) Kind() string { return "stability histogram" }

// Validate reports cells that are not positive numbers.
func (q CellKeys) Validate(d int) error {
	if len(q.Cell) != d || len(q.Offset) != d {
		return fmt.Errorf("query: CellKeys: want %d cells and offsets, got %d and %d", d, len(q.Cell), len(q.Offset))
	}
	for _, c := range q.Cell {
		if !(c > 0) || !finite(c) {
			return fmt.Errorf("query: CellKeys.Cell: want positive numbers, got %v", c)
		}
	}
	return allFinite("CellKeys.Offset", q.Offset)
}

// Histograms is d: how many histograms one row is counted in.
func (q CellKeys) Histograms() int { return len(q.Cell) }

// Key returns the cell of column j that holds the row, as the float64 integer c, and false for a null row or an overflow.
func (q CellKeys) Key(j int, row []float64) (float64, bool) {
	if null(row) {
		return 0, false
	}
	k := math.Floor((row[j] - q.Offset[j]) / q.Cell[j])
	return k + 0, finite(k) // -0 + 0 = +0: one key for zero
}
