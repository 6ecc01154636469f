package rings

import (
	"fmt"

	"github.com/gauze-dp/gauze/kernel/internal/panel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// CellCounts asks how many rows fall in each child of a list of cells: one level of a dyadic tree
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
type CellCounts struct {
	Frame     query.Affine
	HalfWidth []float64
	Level     int
	Parents   []uint64
}

// Kind is "cell counts".
func (CellCounts) Kind() string { return "cell counts" }

// Validate reports a box or a level that cannot be used.
func (q CellCounts) Validate(d int) error {
	if err := q.Frame.Validate(d); err != nil {
		return err
	}
	dim := q.Frame.Out()
	if len(q.HalfWidth) != dim {
		return fmt.Errorf("query: CellCounts.HalfWidth: want %d values, got %d", dim, len(q.HalfWidth))
	}
	if err := query.AllPositive("CellCounts.HalfWidth", q.HalfWidth); err != nil {
		return err
	}
	if q.Level < 1 || q.Level > 60/dim {
		return fmt.Errorf("query: CellCounts.Level: want 1 to %d in %d dimensions, got %d", 60/dim, dim, q.Level)
	}
	if q.Parents == nil && q.Level*dim > 22 || len(q.Parents) > query.MaxCells>>dim {
		return fmt.Errorf("query: CellCounts: want at most %d cells in one answer", query.MaxCells)
	}
	return nil
}

// Size is the number of cells counted.
func (q CellCounts) Size() int {
	if q.Parents == nil {
		return 1 << (q.Level * q.Frame.Out())
	}
	return len(q.Parents) << q.Frame.Out()
}

// Sensitivity is sqrt2 or 1.
func (CellCounts) Sensitivity(r privacy.Relation) float64 { return query.ReplaceFactor(r) }

// Weight is 1.
func (CellCounts) Weight(int) float64 { return 1 }

// Unit is 1.
func (CellCounts) Unit() float64 { return 1 }

// pack names the cell with the given coordinates (each below 2^level): coordinate i takes bits
// i*level.. of the name.
func pack(coordinates []int, level int) uint64 {
	key := uint64(0)
	for i, c := range coordinates {
		key |= uint64(c) << (i * level)
	}
	return key
}

// Unpack is the inverse of pack.
func Unpack(key uint64, dim, level int) []int {
	c := make([]int, dim)
	for i := range c {
		c[i] = int(key >> (i * level) & (1<<level - 1))
	}
	return c
}

// Child names child c of parent: coordinates doubled, plus the bits of c.
func Child(parent uint64, c, dim, level int) uint64 {
	at := Unpack(parent, dim, level-1)
	for i := range at {
		at[i] = 2*at[i] + c>>i&1
	}
	return pack(at, level)
}

// Compile returns the row map.
func (q CellCounts) Compile(d int) query.RowMap {
	m := &cellMap{View: q.Frame.View(d), q: q}
	if q.Parents != nil {
		m.index = make(map[uint64]int, len(q.Parents))
		for i, p := range q.Parents {
			// a parent listed twice is counted once: one row, one cell
			if _, seen := m.index[p]; !seen {
				m.index[p] = i
			}
		}
	}
	return m
}

type cellMap struct {
	*panel.View
	q     CellCounts
	index map[uint64]int
}

// Add counts every row in its cell.
func (m *cellMap) Add(sum []int64, rows []float64) {
	m.Each(rows, func(n int) {
		for r := range n {
			if at := m.cell(r); at >= 0 {
				sum[at]++
			}
		}
	})
}

// cell is where the cell of row r is counted; -1 for a null row, for one outside the box, and where
// the parent is not asked for.
func (m *cellMap) cell(r int) int {
	if m.Null(r) {
		return -1
	}
	key, parent, child, level := uint64(0), uint64(0), 0, m.q.Level
	side := float64(uint64(1) << level)
	for i := range m.Z {
		y, h := m.Z[i][r], m.q.HalfWidth[i]
		if !(y >= -h && y < h) {
			return -1
		}
		// |y/h| <= 1: nothing overflows, however wide the box
		c := min(uint64((y/h+1)/2*side), 1<<level-1)
		key |= c << (i * level)
		parent |= c >> 1 << (i * (level - 1))
		child |= int(c&1) << i
	}
	if m.index == nil {
		return int(key)
	}
	if p, listed := m.index[parent]; listed {
		return p<<len(m.Z) | child
	}
	return -1
}
