package query

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/gauze-dp/gauze/kernel/privacy"
)

// BinCounts asks for one histogram per column over a finite, fixed list of bins: bin b of column j
// holds the rows with Edges[j][b-1] <= x_j < Edges[j][b]; the first and the last bin are unbounded,
// so every good row is in one bin per column.
//
// Answer: the histograms of the columns one after another, len(Edges[j])+1 counts each (0 for a
// column without edges). Privacy: a row adds 1 to one bin per column that has edges (a of them):
// sensitivity sqrt(2a) under replace-one, sqrt a under add-or-remove-one. The bins are finite and
// fixed, all of them are noised, so no delta is spent.
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

// OneColumn is the only column with edges; false if there are more.
func (q BinCounts) OneColumn() (int, bool) {
	return slices.IndexFunc(q.Edges, func(e []float64) bool { return len(e) > 0 }), q.active() == 1
}

// OfSorted is the answer, given all good values of the only column with edges in order: the bins up
// to b hold the values below edge b, and these come first.
func (q BinCounts) OfSorted(sorted []float64) (counts []int64) {
	column, _ := q.OneColumn()
	below := 0
	for _, edge := range q.Edges[column] {
		up, _ := slices.BinarySearch(sorted, edge) // the first that is not below
		counts = append(counts, int64(up-below))
		below = up
	}
	return append(counts, int64(len(sorted)-below))
}

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
			sum[at+bin(edges, row[j])]++
			at += len(edges) + 1
		}
	}
}

// bin is the number of edges, of which there is at least one, that v is not below. No branch
// depends on v: the sign of a difference of finite numbers, as -1 or 0, is what is decided by. (It
// is right if the difference overflows, and is not lost to underflow.)
func bin(edges []float64, v float64) (low int) {
	v += 0 // no negative zero: 0 - 0 = 0
	for n := len(edges); n > 0; {
		half := (n + 1) / 2
		below := int(int64(math.Float64bits(v-edges[low+half-1])) >> 63)
		low += half &^ below
		n -= half
	}
	return low
}
