// Package panel holds the loops that queries run on rows: rows are mapped in panels, all by the
// same operations, and what comes out are integers.
package panel

import (
	"math"
	"slices"
)

// Rows are mapped in panels: Rows rows at a time, stored by column, so that the inner loops
// run over arrays of fixed length. Every row of a panel goes through the same operations in the
// same order wherever it stands, a short panel is filled up with null rows, and no operation mixes
// two rows before they are integers: what a row maps to does not depend on its place (rule R1 of
// [TYLERPRESS] Section 0). The explicit conversions float64(a*b) forbid fused multiply-add, for the
// same reason.
//
// 48 is a multiple of the six registers of eight, four or two rows that the sums of a product need
// and of the four that Load reads together, and small enough for panels of 50 columns to stay in
// the processor's first cache.
const Rows = 48

// A Column holds one coordinate of the rows of a panel.
type Column [Rows]float64

// Load fills x, one column per table column, with up to Rows rows less shift, and returns how
// many; the others are null.
func Load(x []Column, rows, shift []float64) int {
	d := len(x)
	shift = shift[:d]
	n := min(len(rows)/d, Rows)
	fetch(rows[:n*d])
	r := 0
	for ; r+4 <= n; r += 4 { // rows of one column share lines of the cache
		a, b, c, e := rows[r*d:][:d], rows[(r+1)*d:][:d], rows[(r+2)*d:][:d], rows[(r+3)*d:][:d]
		for j, m := range shift {
			out := (*[4]float64)(x[j][r : r+4])
			out[0], out[1], out[2], out[3] = a[j]-m, b[j]-m, c[j]-m, e[j]-m
		}
	}
	for ; r < n; r++ {
		for j, v := range rows[r*d:][:d] {
			x[j][r] = v - shift[j]
		}
	}
	for j := range x {
		for r := n; r < Rows; r++ {
			x[j][r] = math.NaN()
		}
	}
	return n
}

// fetch reads one number of every line of the cache, in order: memory delivers lines together if it
// is asked for them in order, and the rows that load reads at the same time are too short for the
// processor to see what comes next.
//
//go:noinline
func fetch(rows []float64) (bits uint64) {
	for i := 0; i < len(rows); i += 8 {
		bits |= math.Float64bits(rows[i])
	}
	return bits
}

// A Map is a compiled affine map z = W (x - center) of some columns of a panel.
type Map struct {
	columns []int
	center  []float64
	// Shift is what Load has to subtract: the centre if no other map reads the panel, else zeros.
	Shift []float64
	first []int       // where row i of w starts
	w     [][]float64 // row i without its leading and trailing zeros: triangular maps cost half
	diff  []Column
}

// Compile returns the map for panels that are loaded into x; columns nil means all, in order. If no
// other map reads x, the centre is subtracted on the way in.
func Compile(columns []int, center []float64, w [][]float64, x []Column, alone bool) *Map {
	all := make([]int, len(x))
	for j := range all {
		all[j] = j
	}
	c := &Map{columns: columns, center: center, Shift: make([]float64, len(x)), diff: make([]Column, len(center))}
	if columns == nil {
		c.columns = all
	}
	if alone && slices.Equal(c.columns, all) {
		c = &Map{Shift: center, diff: x}
	}
	c.cut(w)
	return c
}

func (c *Map) cut(w [][]float64) {
	for _, row := range w {
		first, last := 0, len(row)
		for last > 0 && row[last-1] == 0 {
			last--
		}
		for first < last && row[first] == 0 {
			first++
		}
		c.first = append(c.first, first)
		c.w = append(c.w, row[first:last])
	}
}

// Apply writes z = W (x - center) and |z|^2 for every row of the panel. A value that overflows
// comes out infinite or NaN, and |z|^2 of a null row is NaN: by the table's invariant the first
// value tells (finite - finite is never NaN), and an all-zero W would not. Callers check.
func (c *Map) Apply(z []Column, norm2 *Column, x []Column) { apply(z[:len(c.w)], norm2, x, c) }

// A View maps rows through one map, panel by panel.
type View struct {
	X, Z  []Column // a panel, its image
	Norm2 Column   // |z|^2
	m     *Map
}

// NewView returns a view of tables of d columns.
func NewView(columns []int, center []float64, w [][]float64, d int) *View {
	x := make([]Column, d)
	return &View{X: x, Z: make([]Column, len(w)), m: Compile(columns, center, w, x, true)}
}

// Each maps the row-major rows, and calls use for every panel with the number of rows in it.
func (v *View) Each(rows []float64, use func(n int)) {
	for d := len(v.X); len(rows) >= d; {
		n := Load(v.X, rows, v.m.Shift)
		rows = rows[n*d:]
		v.m.Apply(v.Z, &v.Norm2, v.X)
		use(n)
	}
}

// Null reports that row r of the panel is null.
func (v *View) Null(r int) bool { return v.X[0][r] != v.X[0][r] }
