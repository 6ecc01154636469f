package query

import (
	"fmt"
	"math/bits"

	"github.com/gauze-dp/gauze/kernel/internal/rowkernels"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// GridCounts asks how many rows fall in each child of a list of cells: one level of a dyadic tree
// of counts.
//
// The row's image y = W(x-m) in R^q is cut by the box |y_i| < HalfWidth_i; a cell of level g is one
// of the 2^(qg) equal boxes, named by q coordinates of g bits each. The query counts the 2^q
// children (level Level) of every cell in Parents (level Level-1). With Parents nil it counts all
// cells of level Level.
//
// Answer: the children of Parents[0], then of Parents[1], ..; within one parent child c has bit i
// of c as the last bit of coordinate i. With Parents nil, cell index as packed by pack. Privacy: a
// row is in at most one cell: sensitivity sqrt2 under replace-one, 1 under add-or-remove-one, per
// level. Which cells are expanded is the caller's released choice; empty ones are counted and
// noised like the others, so no delta is spent.
//
// Source: [KSSU19] Section C.3 of the restatement.
type GridCounts struct {
	Map       Affine
	HalfWidth []float64
	Level     int
	Parents   []uint64
}

// Kind returns "cell counts".
func (GridCounts) Kind() string { return "cell counts" }

// Validate reports a box or a level that cannot be used.
func (q GridCounts) Validate(d int) error {
	if err := q.Map.Validate(d); err != nil {
		return err
	}
	dim := q.Map.Out()
	if len(q.HalfWidth) != dim {
		return fmt.Errorf("query: GridCounts.HalfWidth: want %d values, got %d", dim, len(q.HalfWidth))
	}
	if err := AllPositive("GridCounts.HalfWidth", q.HalfWidth); err != nil {
		return err
	}
	if q.Level < 1 || q.Level > 60/dim {
		return fmt.Errorf("query: GridCounts.Level: want 1 to %d in %d dimensions, got %d", 60/dim, dim, q.Level)
	}
	if q.Parents == nil && q.Level*dim > 22 || len(q.Parents) > MaxCells>>dim {
		return fmt.Errorf("query: GridCounts: want at most %d cells in one answer", MaxCells)
	}
	return nil
}

// Size returns the number of cells counted.
func (q GridCounts) Size() int {
	if q.Parents == nil {
		return 1 << (q.Level * q.Map.Out())
	}
	return len(q.Parents) << q.Map.Out()
}

// Sensitivity returns sqrt2 or 1.
func (GridCounts) Sensitivity(r privacy.Relation) float64 { return ReplaceFactor(r) }

// Weight returns 1.
func (GridCounts) Weight(int) float64 { return 1 }

// Unit returns 1.
func (GridCounts) Unit() float64 { return 1 }

// pack returns the name of the cell with the given coordinates (each below 2^level): coordinate i
// takes bits i*level.. of the name.
func pack(coordinates []int, level int) uint64 {
	key := uint64(0)
	for i, c := range coordinates {
		key |= uint64(c) << (i * level)
	}
	return key
}

// Unpack returns the coordinates of a cell that pack named.
func Unpack(key uint64, dim, level int) []int {
	c := make([]int, dim)
	for i := range c {
		c[i] = int(key >> (i * level) & (1<<level - 1))
	}
	return c
}

// Child returns the name of child c of parent: its coordinates doubled, plus the bits of c.
func Child(parent uint64, c, dim, level int) uint64 {
	at := Unpack(parent, dim, level-1)
	for i := range at {
		at[i] = 2*at[i] + c>>i&1
	}
	return pack(at, level)
}

// Compile returns the row map.
func (q GridCounts) Compile(d int) RowMap {
	m := &cellMap{View: q.Map.View(d), q: q}
	if q.Parents != nil {
		width := bits.Len(uint(2 * len(q.Parents)))
		m.shift, m.parent, m.number = 64-width, make([]uint64, 1<<width), make([]int, 1<<width)
		for i, p := range q.Parents {
			// a parent listed twice is counted once: one row, one cell
			if at := m.find(p); m.number[at] == 0 {
				m.parent[at], m.number[at] = p, i+1
			}
		}
	}
	return m
}

// A cellMap keeps the parents in a hash table with open addressing, at least half of which is free.
type cellMap struct {
	*rowkernels.View
	q      GridCounts
	shift  int
	parent []uint64
	number []int // index in Parents, from 1; 0 if the place is free
}

// find returns a parent's place in the table, or the free place where it would go.
func (m *cellMap) find(parent uint64) (at uint64) {
	const golden = 0x9e3779b97f4a7c15
	for at = parent * golden >> m.shift; m.number[at] > 0 && m.parent[at] != parent; {
		at = (at + 1) & uint64(len(m.parent)-1)
	}
	return at
}

// Add counts every row in its cell. It ignores null rows, rows outside the box, and rows whose
// parent is not asked for.
func (m *cellMap) Add(sum []int64, rows []float64) {
	level, side, last := m.q.Level, float64(uint64(1)<<m.q.Level), uint64(1)<<m.q.Level-1
	m.Each(rows, func(n int) {
		var key, parent, child [rowkernels.Rows]uint64
		var out [rowkernels.Rows]bool
		for i, h := range m.q.HalfWidth {
			at, above := i*level&63, i*(level-1)&63 // at most 60: see Validate
			for r, y := range &m.Z[i] {
				out[r] = out[r] || !(y >= -h && y < h)
				// |y/h| <= 1 inside: nothing overflows, however wide the box
				c := min(uint64(int64((y/h+1)/2*side)), last)
				key[r] |= c << at
				parent[r] |= c >> 1 << above
				child[r] |= c & 1 << (i & 63)
			}
		}
		for r, at := range key[:n] {
			if m.number != nil { // beyond all sums if the parent has none
				at = uint64(m.number[m.find(parent[r])]-1)<<len(m.Z) | child[r]
			}
			if !out[r] && !m.Null(r) && at < uint64(len(sum)) {
				sum[at]++
			}
		}
	})
}
