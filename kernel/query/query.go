// Package query defines what may be asked of a protected table: plain structs with exported fields,
// one file each.
//
// A query maps every row (or every secret pair of rows) by itself to a bounded vector of integers;
// the answer is the sum of these vectors, exact, and the kernel adds an ideal Gaussian rounded to
// integers. The map is a function of the row and of the query's fields alone: never of the row's
// position, of its neighbours, of the batch it is read in or of the worker that reads it. Hence one
// changed row changes the sum by one vector (add-or-remove-one) or by the difference of two
// (replace-one), and the sensitivity that each query states is exact: whatever floating point did
// before, the summands are integers, and their bound is checked in integers, row by row. Scores and
// spacing histograms are integers computed from all rows of a leaf; each type says why one changed
// row changes them by no more than stated.
//
// The package holds the queries of the default methods: sums, sums over the leaves of a partition
// or over pairs, spacing histograms (gaps between sorted values), and stability histograms (cells
// of grids). The queries that only literal algorithms ask are in package papers. Anybody could
// implement these interfaces, so [CopyOf] admits only the types of these folders, which hold plain
// numbers and which a reader can check.
//
// Rows that are null, or whose image is not finite, contribute the zero vector.
package query

import (
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/kernel/internal/rowkernels"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// A Vector is what all queries with a vector of integers for an answer have in common.
type Vector interface {
	// Kind returns the query's name in plans and certificates.
	Kind() string
	// Validate returns an error if the query cannot be asked of a table of d columns; it sees no
	// data.
	Validate(d int) error
	// Weight returns the noise of coordinate i relative to the query's sigma; 1 except for
	// off-diagonal entries of symmetric matrices.
	Weight(i int) float64
	// Unit turns an integer of the answer into the quantity it stands for.
	Unit() float64
	Mapped
}

// A Sum is a query whose answer is a vector of integer sums over the rows.
type Sum interface {
	Vector
	// Sensitivity returns the L2 sensitivity of the answer, in integer units, after coordinate i is
	// divided by Weight(i).
	Sensitivity(privacy.Relation) float64
}

// A RowMap adds the integer vectors of rows to a sum.
type RowMap interface {
	// Add maps every row of the row-major slice rows and adds its vector to sum.
	Add(sum []int64, rows []float64)
}

// A Scan is what an engine computes from the rows of a table: plain data, which can be sent to
// where the rows are.
type Scan interface {
	// Start returns an empty accumulator for rows of d columns, for one worker.
	Start(d int) Accumulator
}

// An Accumulator collects rows, piece by piece and in any order.
type Accumulator interface {
	// Add takes the row-major rows numbered first, first+1, ..
	Add(first int, rows []float64)
	// Merge adds the contents of another accumulator of the same Scan, which is not used again.
	Merge(Accumulator)
}

// Summed scans for the sum of the vectors of a Sum or a PairSum.
type Summed struct{ Of Mapped }

// Mapped has a row map that adds up vectors.
type Mapped interface {
	// Size returns the number of integers in the answer.
	Size() int
	// Compile returns a map, of rows or of differences, with scratch space of its own, for one
	// worker.
	Compile(d int) RowMap
}

// A Total is the accumulator of Summed.
type Total struct {
	Sum  []int64
	Read int // number of values, over all rows
	m    RowMap
}

// Start returns the empty sum.
func (q Summed) Start(d int) Accumulator {
	return &Total{Sum: make([]int64, q.Of.Size()), m: q.Of.Compile(d)}
}

// Add adds the rows' vectors.
func (t *Total) Add(_ int, rows []float64) {
	t.Read += len(rows)
	t.m.Add(t.Sum, rows)
}

// Merge adds the other sum.
func (t *Total) Merge(other Accumulator) {
	t.Read += other.(*Total).Read
	for i, v := range other.(*Total).Sum {
		t.Sum[i] += v
	}
}

// An Affine map takes a row x to z = W (x[Columns] - Center), a vector of len(W) coordinates.
type Affine struct {
	Columns []int       // which columns of the table; nil means all, in order
	Center  []float64   // one value per chosen column
	W       [][]float64 // one row per output coordinate, one value per chosen column
}

// Out returns the number of output coordinates.
func (a Affine) Out() int { return len(a.W) }

// Compile returns the map for panels of rows that are loaded into x; alone says that no other map
// reads x.
func (a Affine) Compile(x []rowkernels.Column, alone bool) *rowkernels.Map {
	return rowkernels.Compile(a.Columns, a.Center, a.W, x, alone)
}

// View returns a view of the rows of tables of d columns.
func (a Affine) View(d int) *rowkernels.View { return rowkernels.NewView(a.Columns, a.Center, a.W, d) }

// Validate returns an error if the shapes do not fit a table of d columns or a value is not finite.
func (a Affine) Validate(d int) error {
	in := d
	if a.Columns != nil {
		in = len(a.Columns)
		for _, c := range a.Columns {
			if c < 0 || c >= d {
				return fmt.Errorf("query: Affine.Columns: want indices in [0, %d), got %d", d, c)
			}
		}
	}
	if len(a.Center) != in {
		return fmt.Errorf("query: Affine.Center: want %d values, got %d", in, len(a.Center))
	}
	if err := AllFinite("Affine.Center", a.Center); err != nil {
		return err
	}
	if len(a.W) == 0 {
		return fmt.Errorf("query: Affine.W: want at least one row, got none")
	}
	for _, w := range a.W {
		if len(w) != in {
			return fmt.Errorf("query: Affine.W: want rows of %d values, got %d", in, len(w))
		}
		if err := AllFinite("Affine.W", w); err != nil {
			return err
		}
	}
	return nil
}

func AllFinite(field string, values []float64) error {
	return All(field, "finite numbers", values, rowkernels.Finite)
}

// All returns an error if a value is not ok; wanted says what the values should be.
func All(field, wanted string, values []float64, ok func(float64) bool) error {
	for _, v := range values {
		if !ok(v) {
			return fmt.Errorf("query: %s: want %s, got %v", field, wanted, v)
		}
	}
	return nil
}

// AllPositive returns an error unless all values are positive numbers.
func AllPositive(field string, values []float64) error {
	return All(field, "positive numbers", values, func(v float64) bool { return v > 0 && rowkernels.Finite(v) })
}

// ReplaceFactor returns sqrt2 under replace-one and 1 under add-or-remove-one: the factor between
// the norm bound of a row's vector and the sensitivity of the sum when any two vectors have a
// non-negative inner product (|v-v'|^2 = |v|^2 + |v'|^2 - 2<v,v'> <= 2 max|v|^2). Rounded up.
func ReplaceFactor(r privacy.Relation) float64 {
	if r == privacy.AddRemoveOne {
		return 1
	}
	return math.Nextafter(math.Sqrt2, 2)
}

// MaxCells bounds the length of one answer.
const MaxCells = 1 << 22
