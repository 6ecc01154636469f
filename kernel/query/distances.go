package query

import (
	"fmt"
	"sort"

	"github.com/gauze-dp/gauze/kernel/privacy"
)

// DistanceCounts asks for the histogram of |W(x-m)| over a finite, fixed list of bins: bin b holds
// the rows with Edges[b-1] <= |W(x-m)| < Edges[b]; the last bin is unbounded and holds rows whose
// image overflows as well.
//
// Answer: len(Edges)+1 counts. Privacy: a row is in at most one bin: sensitivity sqrt2 under
// replace-one, 1 under add-or-remove-one. All bins are noised, so no delta is spent.
//
// Source: [KSSU19] Sections C.1 (stage R) and C.6 (stage Q) of the restatement.
type DistanceCounts struct {
	Frame Affine
	Edges []float64 // increasing
}

// Kind is "distance counts".
func (DistanceCounts) Kind() string { return "distance counts" }

// Validate reports a frame or edges that cannot be used.
func (q DistanceCounts) Validate(d int) error {
	if len(q.Edges) == 0 || len(q.Edges) >= maxCells {
		return fmt.Errorf("query: DistanceCounts.Edges: want 1 to %d edges, got %d", maxCells, len(q.Edges))
	}
	if err := allFinite("DistanceCounts.Edges", q.Edges); err != nil {
		return err
	}
	if !sort.Float64sAreSorted(q.Edges) || q.Edges[0] < 0 {
		return fmt.Errorf("query: DistanceCounts.Edges: want increasing numbers from 0 on, got %v", q.Edges)
	}
	return q.Frame.Validate(d)
}

// Size is the number of bins.
func (q DistanceCounts) Size() int { return len(q.Edges) + 1 }

// Sensitivity is sqrt2 or 1.
func (DistanceCounts) Sensitivity(r privacy.Relation) float64 { return replaceFactor(r) }

// Weight is 1.
func (DistanceCounts) Weight(int) float64 { return 1 }

// Unit is 1.
func (DistanceCounts) Unit() float64 { return 1 }

// Compile returns the row map.
func (q DistanceCounts) Compile(d int) RowMap {
	m := &distanceMap{x: make([]column, d), z: make([]column, q.Frame.Out()), squares: make([]float64, len(q.Edges))}
	m.frame = q.Frame.compile(m.x, true)
	for i, e := range q.Edges {
		m.squares[i] = e * e
	}
	return m
}

type distanceMap struct {
	frame *affine
	x, z  []column
	// of the edges; +Inf for edges beyond 1e154, so that only overflow lies above them
	squares []float64
}

// Add counts every row in its bin.
func (m *distanceMap) Add(sum []int64, rows []float64) {
	var norm2 column
	for d := len(m.x); len(rows) >= d; {
		n := load(m.x, rows, m.frame.shift)
		rows = rows[n*d:]
		m.frame.apply(m.z, &norm2, m.x)
		for r := range n {
			if m.x[0][r] != m.x[0][r] { // the null row
				continue
			}
			n2 := norm2[r]
			// NaN: the last bin
			sum[sort.Search(len(m.squares), func(i int) bool { return n2 < m.squares[i] })]++
		}
	}
}
