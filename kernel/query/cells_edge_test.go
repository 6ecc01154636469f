package query

import (
	"math"
	"slices"
	"testing"
)

// TestCellEdges: each coordinate of a box is closed below and open above, however its width rounds:
// what is just below its end is in the last cell, though it divides to 1, and nothing outside of it
// in any coordinate is in any cell; and so where the cells of some parents are asked for.
func TestCellEdges(t *testing.T) {
	for _, h := range []float64{1, 1.5, 3, 1e-300, 1e300} {
		at := []float64{math.Nextafter(-h, -2*h), -h, math.Nextafter(-h, 0), 0, math.Nextafter(h, 0), h, math.Inf(1), math.NaN()}
		for level := 1; level <= 4; level++ {
			last := 1<<level - 1
			cell := []int{-1, 0, 0, 1 << (level - 1), last, -1, -1, -1}
			q := GridCounts{Map: Affine{Center: []float64{0, 0}, W: [][]float64{{1, 0}, {0, 1}}}, HalfWidth: []float64{h, h}, Level: level}
			parents := q
			for key := range uint64(1) << (2*level - 2) {
				parents.Parents = append(parents.Parents, key)
			}
			for i, x := range at {
				for j, y := range at {
					got, below := make([]int64, q.Size()), make([]int64, parents.Size())
					q.Compile(2).Add(got, []float64{x, y})
					parents.Compile(2).Add(below, []float64{x, y})
					want, wantBelow := make([]int64, len(got)), make([]int64, len(below))
					if a, b := cell[i], cell[j]; a >= 0 && b >= 0 {
						want[a|b<<level] = 1
						wantBelow[(a>>1|b>>1<<(level-1))<<2|a&1|b&1<<1] = 1
					}
					if !slices.Equal(got, want) || !slices.Equal(below, wantBelow) {
						t.Fatalf("(%v, %v) within %v, level %d: %v and %v, want %v and %v", x, y, h, level, got, below, want, wantBelow)
					}
				}
			}
		}
	}
}
