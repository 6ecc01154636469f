package query

import (
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/kernel/internal/rowkernels"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// BoxKeys asks every leaf of a partition, all at once, for stability-based histograms of the rows
// in it over the unbounded grid of the leaf: with z = Grid.Map(row), cell k of coordinate i holds
// the rows with floor((z_i - Offset_i)/Side_i) = k, k any integer.
//
// Joint: one histogram per leaf, of boxes: the cells of all coordinates (at most 8) together.
// Otherwise one histogram per coordinate.
//
// Privacy. Let J be the number of histograms per leaf: 1 if Joint, the number of coordinates (the
// same in all leaves) if not. A row is in at most one leaf, and there in at most one cell of each
// histogram (in none if its k is not finite): it adds 1 to at most J counts, all different. Two
// consequences, for any number of leaves:
//   - the vector of all counts has L2 sensitivity sqrt J under add-or-remove-one and sqrt(2J) under
//     replace-one (J counts fall by 1 and J others grow by 1; where they meet the change is
//     smaller);
//   - a cell that is not empty on one side and empty on the other holds nothing but the row that
//     differs: its count is 1, and there are at most J such cells on either side, over all leaves
//     and histograms together.
//
// See kernel.StabilityHistogram for how noise and threshold follow. What cell a row is in is one
// function of the row and the query, however coarse arithmetic is for huge, tiny or negative zero
// numbers.
//
// Caller must ensure: nothing.
//
// Source: [KSSU19] Sections A.2, A.4 and B.2 (steps 3 and 4) of the restatement.
type BoxKeys struct {
	Partition Partition // the zero Partition: one leaf with all rows
	Grids     []Grid    // one per leaf
	Joint     bool
}

// A Grid cuts every coordinate of the image z = Map(row) into cells [Offset_i + k Side_i,
// Offset_i + (k+1) Side_i).
type Grid struct {
	Map          Affine
	Side, Offset []float64 // one per coordinate of Map, in its unit; sides are positive
}

// MostBoxColumns is the number of coordinates a box can have.
const MostBoxColumns = 8

// A Box names a cell: the integers k of a joint histogram's coordinates, or one k. The others are
// 0, and no zero is negative.
type Box [MostBoxColumns]float64

// Kind returns "stability histogram", with [PartsOf]'s prefix if there is a partition.
func (q BoxKeys) Kind() string { return q.Partition.KindOf("stability histogram") }

// Validate reports a partition or grids that cannot be used.
func (q BoxKeys) Validate(d int) error {
	if err := q.Partition.OrWhole().Validate(d); err != nil {
		return err
	}
	leaves := q.Partition.Leaves()
	if len(q.Grids) != leaves {
		return fmt.Errorf("query: BoxKeys.Grids: want one grid per leaf (%d), got %d", leaves, len(q.Grids))
	}
	for _, g := range q.Grids {
		if err := g.validate(d); err != nil {
			return err
		}
		switch n := g.Map.Out(); {
		case q.Joint && n > MostBoxColumns:
			return fmt.Errorf("query: BoxKeys: want at most %d coordinates in a joint histogram, got %d", MostBoxColumns, n)
		case !q.Joint && n != q.Grids[0].Map.Out():
			return fmt.Errorf("query: BoxKeys: want the same number of coordinates in all leaves, got %d and %d", q.Grids[0].Map.Out(), n)
		}
	}
	if leaves*q.Histograms() > MaxCells {
		return fmt.Errorf("query: BoxKeys: want at most %d histograms, got %d", MaxCells, leaves*q.Histograms())
	}
	return nil
}

func (g Grid) validate(d int) error {
	if err := g.Map.Validate(d); err != nil {
		return err
	}
	if n := g.Map.Out(); len(g.Side) != n || len(g.Offset) != n {
		return fmt.Errorf("query: Grid: want %d sides and offsets, got %d and %d", n, len(g.Side), len(g.Offset))
	}
	if err := AllPositive("Grid.Side", g.Side); err != nil {
		return err
	}
	return AllFinite("Grid.Offset", g.Offset)
}

// Histograms returns J, the number of histograms of each leaf, of a valid query.
func (q BoxKeys) Histograms() int {
	if q.Joint {
		return 1
	}
	return q.Grids[0].Map.Out()
}

// Sensitivity returns sqrt(2J) or sqrt J, rounded up: the L2 sensitivity of all counts together.
func (q BoxKeys) Sensitivity(r privacy.Relation) float64 {
	if r == privacy.AddRemoveOne {
		return privacy.SqrtUp(float64(q.Histograms()))
	}
	return privacy.SqrtUp(2 * float64(q.Histograms()))
}

// Boxes is the accumulator of BoxKeys.
type Boxes struct {
	// Counts holds the cells that are not empty, one map per histogram: first those of the first
	// leaf, then those of the second, ..
	Counts []map[Box]int64
	q      BoxKeys
	*Grouper
	frames []*rowkernels.Map
	x, z   []rowkernels.Column
}

// Start returns histograms without rows.
func (q BoxKeys) Start(d int) Accumulator {
	m := &Boxes{q: q, Counts: make([]map[Box]int64, len(q.Grids)*q.Histograms()), Grouper: q.Partition.Grouper(d), x: make([]rowkernels.Column, d)}
	for j := range m.Counts {
		m.Counts[j] = map[Box]int64{}
	}
	for _, g := range q.Grids {
		m.frames = append(m.frames, g.Map.Compile(m.x, true))
		m.z = append(m.z, make([]rowkernels.Column, max(0, g.Map.Out()-len(m.z)))...)
	}
	return m
}

// Add counts every row.
func (m *Boxes) Add(_ int, rows []float64) {
	j := m.q.Histograms()
	for leaf, own := range m.Group(rows) {
		m.leaf(m.Counts[leaf*j:(leaf+1)*j], leaf, own)
	}
}

// Merge adds the other counts.
func (m *Boxes) Merge(other Accumulator) {
	for j, counts := range other.(*Boxes).Counts {
		for box, n := range counts {
			m.Counts[j][box] += n
		}
	}
}

// leaf counts rows, none of them null, in the histograms of one leaf.
func (m *Boxes) leaf(counts []map[Box]int64, leaf int, rows []float64) {
	var norm2 rowkernels.Column
	g, frame := m.q.Grids[leaf], m.frames[leaf]
	z := m.z[:g.Map.Out()]
	for d := len(m.x); len(rows) >= d; {
		n := rowkernels.Load(m.x, rows, frame.Shift)
		rows = rows[n*d:]
		frame.Apply(z, &norm2, m.x)
		for r := range n {
			var box Box
			whole := true
			for i, side := range g.Side {
				k, ok := CellOf(z[i][r], g.Offset[i], side)
				switch {
				case !ok:
					whole = false
				case m.q.Joint:
					box[i] = k
				default:
					counts[i][Box{k}]++
				}
			}
			if m.q.Joint && whole {
				counts[0][box]++
			}
		}
	}
}

// CellOf returns floor((v - offset)/side), with +0 for zero, and whether it is finite.
func CellOf(v, offset, side float64) (float64, bool) {
	k := math.Floor((v-offset)/side) + 0
	return k, rowkernels.Finite(k)
}
