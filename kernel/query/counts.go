package query

import (
	"fmt"
	"math"
	"slices"

	"github.com/gauze-dp/gauze/kernel/internal/rowkernels"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// Count asks for the number of good rows.
//
// Privacy: one row changes it by at most 1 under both relations (replace-one: a good row may become
// a null row).
// Source: [TYLERPRESS] Section 0.3.
type Count struct{}

// Kind returns "count".
func (Count) Kind() string { return "count" }

// Validate always succeeds.
func (Count) Validate(int) error { return nil }

// Size returns 1.
func (Count) Size() int { return 1 }

// Sensitivity returns 1.
func (Count) Sensitivity(privacy.Relation) float64 { return 1 }

// Weight returns 1.
func (Count) Weight(int) float64 { return 1 }

// Unit returns 1.
func (Count) Unit() float64 { return 1 }

// Compile returns the row map.
func (Count) Compile(d int) RowMap { return &lengthMap{View: rowkernels.NewView(nil, nil, nil, d)} }

// Counts asks how many values of the rows lie on each side of given edges, or between them.
//
//	kind             values of a row                      counted
//	histogram        x_j, one per column                  Bins
//	column counts    x_j, or |x_j - Center_j|, likewise   Above, or Balance: one edge per column
//	distance counts  |W(x-m)|, with Map                 Bins
//	tail counts      |W(x-m)|^2, with Map               Above
//
// A value whose difference or image overflows is larger than every edge. Answer: the counts of the
// first list of edges, of the second, ..: one more than there are edges for Bins (none for a column
// without edges), as many for the others.
//
// Privacy. A row is in one bin of each of the a lists that have edges, and above or not above each
// of the T edges that are numbers. So replacing it changes 2a Bins by 1, or T counts by 1 (Above)
// or 2 (Balance), and adding it a Bins or T counts by 1: the L2 sensitivity is sqrt(2a), sqrt T or
// 2 sqrt T under replace-one, sqrt a or sqrt T under add-or-remove-one, and the L1 sensitivity is
// the sum of these changes. The edges are public, and all of their counts get noise, empty ones
// too, so no delta is spent.
//
// Source: [KSSU19] Section A.4 of the restatement (finite universe); [KSSU19] Sections C.1 (stage
// R) and C.6 (stage Q) of the restatement; [TYLERPRESS] Section 1 (Stage 0, noisy bisection);
// [TYLERPRESS] Section 4.5 (a).
type Counts struct {
	Map      Affine      // used if it has rows
	Center   []float64   // one per column for distances; nil for the values
	Edges    [][]float64 // one list per value; increasing for Bins
	As       Report
	SkipZero bool // for column counts: values that are 0 count on neither side
}

// Report says which counts Counts returns for a list of edges.
type Report int

const (
	// Bins: the number of rows with their value in [edge, next edge); the first and the last bin
	// are unbounded.
	Bins Report = iota
	// Above: for each edge, the number of rows with their value above it. No value is above an edge
	// that is NaN, so NaN leaves a column out.
	Above
	// Balance: the number of rows not above the edge, minus the number above.
	Balance
)

// The kinds of Counts.
const (
	Histogram      = "histogram"
	ColumnCounts   = "column counts"
	DistanceCounts = "distance counts"
	TailCounts     = "tail counts"
)

// Kind returns one of the four kinds above.
func (q Counts) Kind() string {
	switch {
	case q.Map.W == nil && q.As == Bins:
		return Histogram
	case q.Map.W == nil:
		return ColumnCounts
	case q.As == Bins:
		return DistanceCounts
	}
	return TailCounts
}

// Each returns one list per edge, as column counts need.
func Each(edges []float64) [][]float64 { return slices.Collect(slices.Chunk(edges, 1)) }

// Validate reports a frame or edges that cannot be used.
func (q Counts) Validate(d int) error {
	kind, values := q.Kind(), d
	if q.Map.W != nil {
		values = 1
		if err := q.Map.Validate(d); err != nil {
			return err
		}
	}
	if len(q.Edges) != values || q.Size() == 0 || q.Size() > MaxCells {
		return fmt.Errorf("query: Counts.Edges: want %d lists for %s, with edges and at most %d counts, got %d lists and %d counts", values, kind, MaxCells, len(q.Edges), q.Size())
	}
	for _, e := range q.Edges {
		if kind == ColumnCounts {
			if len(e) != 1 {
				return fmt.Errorf("query: Counts.Edges: want one edge per column for %s, got %d", kind, len(e))
			}
			continue
		}
		if err := AllFinite("Counts.Edges", e); err != nil {
			return err
		}
		if q.As == Bins && (!slices.IsSorted(e) || kind == DistanceCounts && e[0] < 0) {
			return fmt.Errorf("query: Counts.Edges: want increasing numbers, from 0 on for distances, got %v", e)
		}
	}
	if q.As < Bins || q.As > Balance || kind == TailCounts && q.As != Above || kind != ColumnCounts && (q.SkipZero || q.Center != nil) {
		return fmt.Errorf("query: Counts: want Bins, Above or Balance, and SkipZero, Center and Balance for column counts only, got %d for %s", q.As, kind)
	}
	if q.Center != nil && len(q.Center) != d {
		return fmt.Errorf("query: Counts.Center: want %d values, got %d", d, len(q.Center))
	}
	return AllFinite("Counts.Center", q.Center)
}

// Size returns the number of counts.
func (q Counts) Size() (n int) {
	for _, e := range q.Edges {
		n += len(e)
		if q.As == Bins && len(e) > 0 {
			n++
		}
	}
	return n
}

// Changes returns how many counts one row can change, and by how much each. Without an active
// column it answers as for one, so that no sensitivity is zero.
func (q Counts) Changes(r privacy.Relation) (counts, by float64) {
	for _, e := range q.Edges {
		for i, v := range e {
			if q.As == Bins && i == 0 || q.As != Bins && v == v {
				counts++
			}
		}
	}
	counts, by = max(counts, 1), 1
	switch {
	case r == privacy.AddRemoveOne:
	case q.As == Bins:
		counts *= 2
	case q.As == Balance:
		by = 2
	}
	return counts, by
}

// Sensitivity returns the L2 sensitivity of the type's comment, rounded up.
func (q Counts) Sensitivity(r privacy.Relation) float64 {
	counts, by := q.Changes(r)
	return by * privacy.SqrtUp(counts)
}

// Weight returns 1.
func (Counts) Weight(int) float64 { return 1 }

// Unit returns 1.
func (Counts) Unit() float64 { return 1 }

// Cut returns (nil, column, true) for a histogram of one column over all good rows; for other
// queries its last result is false.
func (q Counts) Cut() (cut any, column int, one bool) {
	edges := func(e []float64) bool { return len(e) > 0 }
	column = slices.IndexFunc(q.Edges, edges)
	return nil, column, q.Kind() == Histogram && !slices.ContainsFunc(q.Edges[column+1:], edges)
}

// OfSorted returns the answer of a histogram of one column, given that column's good values in
// increasing order as sorted[0]: the bins up to b hold the values below edge b, and these come
// first.
func (q Counts) OfSorted(sorted [][]float64) (counts []int64) {
	_, column, _ := q.Cut()
	below := 0
	for _, edge := range q.Edges[column] {
		up, _ := slices.BinarySearch(sorted[0], edge) // the first that is not below
		counts = append(counts, int64(up-below))
		below = up
	}
	return append(counts, int64(len(sorted[0])-below))
}

// Compile returns the row map.
func (q Counts) Compile(d int) RowMap {
	switch q.Kind() {
	case Histogram:
		return &binMap{rowkernels.NewView(nil, nil, nil, d), q.Edges}
	case ColumnCounts:
		ranks := q.Ranks(1).Compile(d).(*rankMap)
		return &columnMap{ranks, q, make([]int64, ranks.Size())}
	}
	m := &lengthMap{View: q.Map.View(d), as: q.As, edges: slices.Clone(q.Edges[0])}
	for i, e := range m.edges {
		if q.As == Bins {
			m.edges[i] = e * e // +Inf for edges beyond 1e154, so that only overflow lies above them
		}
	}
	return m
}

// lengthMap counts by |z|^2.
type lengthMap struct {
	*rowkernels.View
	as    Report
	edges []float64
}

// Add counts every row in its bin, or above each edge that it exceeds.
func (m *lengthMap) Add(sum []int64, rows []float64) {
	m.Each(rows, func(int) {
		for r, n2 := range &m.Norm2 {
			if n2 != n2 && !m.Null(r) { // overflow: beyond every edge
				m.Norm2[r] = math.Inf(1)
			}
		}
		if m.as == Bins {
			var bins [rowkernels.Rows]int
			rowkernels.Bins(&bins, m.edges, &m.Norm2)
			rowkernels.Tally(sum, &bins, &m.Norm2)
			return
		}
		for i, e := range m.edges {
			for _, n2 := range &m.Norm2 {
				if n2 > e {
					sum[i]++
				}
			}
		}
	})
}

type binMap struct {
	*rowkernels.View
	edges [][]float64
}

// Add counts every column of every row: missing cells and null rows fall in no bin.
func (m *binMap) Add(sum []int64, rows []float64) {
	m.Each(rows, func(int) {
		var bins [rowkernels.Rows]int
		at := 0
		for j, edges := range m.edges {
			if len(edges) > 0 {
				rowkernels.Bins(&bins, edges, &m.X[j])
				rowkernels.Tally(sum[at:at+len(edges)+1], &bins, &m.X[j])
				at += len(edges) + 1
			}
		}
	})
}
