package query

import "math"

// Rows are mapped in panels: panelRows rows at a time, stored by column, so that the inner loops
// run over arrays of fixed length. Every row of a panel goes through the same operations in the
// same order wherever it stands, a short panel is filled up with null rows, and no operation mixes
// two rows before they are integers: what a row maps to does not depend on its place (rule R1 of
// [TYLERPRESS] Section 0). The explicit conversions float64(a*b) forbid fused multiply-add, for the
// same reason.
//
// 48 is a multiple of the six rows that dot keeps in registers and of the four that load reads
// together, and small enough for panels of 50 columns to stay in the processor's first cache.
const panelRows = 48

// A column holds one coordinate of the rows of a panel.
type column [panelRows]float64

// load fills x, one column per table column, with up to panelRows rows less shift, and returns how
// many; the others are null.
func load(x []column, rows, shift []float64) int {
	d := len(x)
	shift = shift[:d]
	n := min(len(rows)/d, panelRows)
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
		for r := n; r < panelRows; r++ {
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

// affine is a compiled Affine.
type affine struct {
	columns []int
	center  []float64
	// what load subtracts: the centre if no other map reads the panel, else zeros
	shift []float64
	first []int       // where row i of w starts
	w     [][]float64 // row i without its leading and trailing zeros: triangular maps cost half
	diff  []column
}

// compile returns the map for panels that are loaded into x. If no other map reads x, the centre is
// subtracted on the way in.
func (a Affine) compile(x []column, alone bool) *affine {
	if alone && a.whole(len(x)) {
		c := &affine{shift: a.Center, diff: x}
		c.cut(a.W)
		return c
	}
	c := &affine{columns: a.Columns, center: a.Center, shift: make([]float64, len(x)), diff: make([]column, len(a.Center))}
	c.cut(a.W)
	return c
}

// whole reports that the map reads all d columns in their order.
func (a Affine) whole(d int) bool {
	for i, c := range a.Columns {
		if c != i {
			return false
		}
	}
	return a.Columns == nil || len(a.Columns) == d
}

func (c *affine) cut(w [][]float64) {
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

// apply writes z = W (x - center) and |z|^2 for every row of the panel. A value that overflows
// comes out infinite or NaN, and |z|^2 of a null row is NaN; callers check.
func (c *affine) apply(z []column, norm2 *column, x []column) {
	for j, m := range c.center {
		from := j
		if c.columns != nil {
			from = c.columns[j]
		}
		in, out := &x[from], &c.diff[j]
		for r, v := range in {
			out[r] = v - m
		}
	}
	for r, v := range &x[0] {
		norm2[r] = 0
		// by the table's invariant the first value tells (finite - finite is never NaN); an
		// all-zero W would not
		if v != v {
			norm2[r] = v
		}
	}
	for i, w := range c.w {
		dot(&z[i], norm2, c.diff[c.first[i]:], w)
	}
}

// A view maps rows through one frame, panel by panel.
type view struct {
	frame *affine
	x, z  []column // a panel, its image
	norm2 column   // |z|^2
}

func (a Affine) view(d int) *view {
	x := make([]column, d)
	return &view{frame: a.compile(x, true), x: x, z: make([]column, a.Out())}
}

// each maps the row-major rows, and calls use for every panel with the number of rows in it.
func (v *view) each(rows []float64, use func(n int)) {
	for d := len(v.x); len(rows) >= d; {
		n := load(v.x, rows, v.frame.shift)
		rows = rows[n*d:]
		v.frame.apply(v.z, &v.norm2, v.x)
		use(n)
	}
}

// null reports that row r of the panel is null.
func (v *view) null(r int) bool { return v.x[0][r] != v.x[0][r] }

// dot computes one coordinate of every row, sum_j w_j x_j in the order of the columns, six rows at
// a time, and adds its square to norm2.
func dot(z, norm2 *column, x []column, w []float64) {
	x = x[:len(w)]
	for r := 0; r <= panelRows-6; r += 6 { // written so that the compiler sees that r+6 rows exist
		var s0, s1, s2, s3, s4, s5 float64
		for j, v := range w {
			x := (*[6]float64)(x[j][r : r+6])
			s0 += float64(v * x[0])
			s1 += float64(v * x[1])
			s2 += float64(v * x[2])
			s3 += float64(v * x[3])
			s4 += float64(v * x[4])
			s5 += float64(v * x[5])
		}
		out, n := (*[6]float64)(z[r:r+6]), (*[6]float64)(norm2[r:r+6])
		out[0], out[1], out[2], out[3], out[4], out[5] = s0, s1, s2, s3, s4, s5
		n[0] += float64(s0 * s0)
		n[1] += float64(s1 * s1)
		n[2] += float64(s2 * s2)
		n[3] += float64(s3 * s3)
		n[4] += float64(s4 * s4)
		n[5] += float64(s5 * s5)
	}
}

// A gram adds up sum h h^T of integer vectors, kept as float64, panel by panel.
//
// Invariant, once checked: |h|^2 <= 2^(2 gramBits) for every row. Products are then at most 2^32
// and sums over the rows of maxPanels panels below 2^53, so float64 arithmetic on them is exact, in
// any order.
type gram struct {
	dim    int
	h      []column     // dim columns, then zeros up to whole blocks
	blocks [][6]float64 // sums since the last flush: 3 rows by 2 columns each, see add
	n      int          // rows that wait in h, for maps that fill it row by row
	panels int          // panels since the last flush
}

// maxPanels * panelRows * 2^32 < 2^53.
const maxPanels = 1 << 15

func newGram(dim int) *gram {
	g := &gram{dim: dim, h: make([]column, dim+3)}
	for i := 0; i < dim; i += 3 {
		g.blocks = append(g.blocks, make([][6]float64, (dim-i+1)/2)...)
	}
	return g
}

const gramBound = 1 << (2 * gramBits)

// nearest rounds to an integer, ties to even. Beyond 2^51 the result is still an integer, or not
// finite; the checks see both.
func nearest(v float64) float64 {
	const magic = 3 << 51
	return (v + magic) - magic
}

// roundAll multiplies row r of columns 1.. by factor[r], rounds, and zeroes every row, column 0
// included, that breaks |h|^2 <= 2^(2 gramBits). The check is exact although it is made in float64:
// if some |h_i| > 2^16, its square, and by the monotony of rounding the sum, exceeds the bound;
// otherwise all sums are integers below 2^53. NaN breaks it.
func (g *gram) roundAll(factor *column) {
	var total column
	for r, v := range &g.h[0] {
		total[r] = float64(v * v)
	}
	// the column after the last is zero, and stays zero where factor is finite
	for i := 1; i < g.dim; i += 2 {
		a, b := &g.h[i], &g.h[i+1]
		for r, f := range factor {
			u, v := nearest(float64(a[r]*f)), nearest(float64(b[r]*f))
			a[r], b[r] = u, v
			total[r] += float64(u*u) + float64(v*v)
		}
	}
	for r, t := range &total {
		if !(t <= gramBound) {
			g.zero(r)
		}
	}
}

func (g *gram) zero(r int) {
	for i := range g.h {
		g.h[i][r] = 0
	}
}

// add adds a panel: for every block of rows i..i+2, the blocks of columns k, k+1 from k = i on.
func (g *gram) add(sum []int64) {
	b := 0
	for i := 0; i < g.dim; i += 3 {
		for k := i; k < g.dim; k += 2 {
			products(&g.blocks[b], &g.h[i], &g.h[i+1], &g.h[i+2], &g.h[k], &g.h[k+1])
			b++
		}
	}
	if g.panels++; g.panels == maxPanels {
		g.flush(sum)
	}
}

// products adds the sums over the panel of au, av, bu, bv, cu and cv. Six sums are what fits the
// registers.
func products(s *[6]float64, a, b, c, u, v *column) {
	var s0, s1, s2, s3, s4, s5 float64
	_, _, _, _, _ = a[0], b[0], c[0], u[0], v[0] // checks for nil leave the loop
	for r := range panelRows {
		x, y := u[r], v[r]
		p := a[r]
		s0 += p * x
		s1 += p * y
		p = b[r]
		s2 += p * x
		s3 += p * y
		p = c[r]
		s4 += p * x
		s5 += p * y
	}
	s[0] += s0
	s[1] += s1
	s[2] += s2
	s[3] += s3
	s[4] += s4
	s[5] += s5
}

// addWaiting adds the rows that wait and forgets them.
func (g *gram) addWaiting(sum []int64) {
	if g.n == 0 {
		return
	}
	for r := g.n; r < panelRows; r++ {
		g.zero(r)
	}
	g.add(sum)
	g.n = 0
}

// flush moves the sums to the upper triangle in sum.
func (g *gram) flush(sum []int64) {
	if g.panels == 0 {
		return
	}
	b := 0
	for i := 0; i < g.dim; i += 3 {
		for k := i; k < g.dim; k += 2 {
			for l, s := range &g.blocks[b] {
				row, col := i+l/2, k+l%2
				if row <= col && col < g.dim {
					sum[row*(2*g.dim-row-1)/2+col] += int64(s)
				}
			}
			g.blocks[b] = [6]float64{}
			b++
		}
	}
	g.panels = 0
}
