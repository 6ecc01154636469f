// Package rowkernels holds the vectorised loops that queries run on rows: rows are mapped in
// panels, all by the same operations, and the results are integers.
package rowkernels

import "slices"

// Rows are mapped in panels: Rows rows at a time, stored by column, so that the inner loops
// run over arrays of fixed length. Every row of a panel goes through the same operations in the
// same order wherever it stands, a short panel is filled up with null rows, and no operation mixes
// two rows before they are integers: what a row maps to does not depend on its place (rule R1 of
// [TYLERPRESS] Section 0). The explicit conversions float64(a*b) forbid fused multiply-add, for the
// same reason.
//
// 48 is a multiple of six registers of eight, four or two rows, as many sums as hide the time that
// an addition takes, and small enough for panels of 50 columns to stay in the processor's first
// cache.
const Rows = 48

// A Column holds one coordinate of the rows of a panel.
type Column [Rows]float64

// Load fills x, one column per table column, with up to Rows rows less shift, and returns how
// many; the others are null.
func Load(x []Column, rows, shift []float64) int {
	n := min(len(rows)/len(x), Rows)
	load(x, rows[:n*len(x)], shift[:len(x)], n)
	return n
}

// A Map is a compiled affine map z = W (x - center) of some columns of a panel.
type Map struct {
	columns []int
	center  []float64
	// Shift is what Load has to subtract: the centre if no other map reads the panel, else zeros.
	Shift []float64
	first []int       // start of row i of w
	w     [][]float64 // row i without its leading and trailing zeros: triangular maps cost half
	diff  []Column
	// diagonal says that row i of w is column i alone, of all of them, and that the centre is not
	// subtracted on the way in: differences then need no place of their own.
	diagonal bool
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
	c.diagonal = len(c.w) > 0 && len(c.w) == len(c.center)
	for i, row := range c.w {
		c.diagonal = c.diagonal && len(row) == 1 && c.first[i] == i
	}
	return c
}

// Apply writes z = W (x - center) and |z|^2 for every row of the panel. A value that overflows
// comes out infinite or NaN, and |z|^2 of a null row is NaN: by the table's invariant the first
// value tells (finite - finite is never NaN), and an all-zero W would not. Callers check this.
func (c *Map) Apply(z []Column, norm2 *Column, x []Column) { apply(z[:len(c.w)], norm2, x, c) }

// A View maps rows through one map, panel by panel.
type View struct {
	X, Z  []Column // a panel, its image
	Norm2 Column   // |z|^2
	m     *Map
}

// NewView returns a view of tables of d columns; center nil means zeros.
func NewView(columns []int, center []float64, w [][]float64, d int) *View {
	x := make([]Column, d)
	if center == nil {
		center = make([]float64, d)
	}
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

// Null reports whether row r of the panel is null.
func (v *View) Null(r int) bool { return v.X[0][r] != v.X[0][r] }
