package panel

// A Gram adds up sum h h^T of integer vectors, kept as float64, panel by panel.
//
// Invariant, once checked: |h|^2 <= 2^(2 GramBits) for every row. Products are then at most 2^32
// and sums over the rows of maxPanels panels below 2^53, so float64 arithmetic on them is exact, in
// any order.
type Gram struct {
	Dim     int
	H       []Column     // Dim columns, then zeros up to whole blocks
	Waiting int          // rows that wait in H, for maps that fill it row by row
	blocks  [][6]float64 // sums since the last Flush: 3 rows by 2 columns each, see Add
	panels  int          // panels since the last Flush
}

// maxPanels * Rows * 2^32 < 2^53.
const maxPanels = 1 << 15

// NewGram returns an empty matrix.
func NewGram(dim int) *Gram {
	g := &Gram{Dim: dim, H: make([]Column, dim+3)}
	for i := 0; i < dim; i += 3 {
		g.blocks = append(g.blocks, make([][6]float64, (dim-i+1)/2)...)
	}
	return g
}

const (
	// GramBits is B of integer vectors whose products are summed: |h_i h_k| <= 2^32, so 2^31 rows
	// fit an int64.
	GramBits  = 16
	GramBound = 1 << (2 * GramBits) // of |h|^2
)

// RoundAll multiplies row r of columns 1.. by factor[r], rounds, and zeroes every row, column 0
// included, that breaks |h|^2 <= 2^(2 GramBits). The check is exact although it is made in float64:
// if some |h_i| > 2^16, its square, and by the monotony of rounding the sum, exceeds the bound;
// otherwise all sums are integers below 2^53. NaN breaks it.
func (g *Gram) RoundAll(factor *Column) {
	var total Column
	for r, v := range &g.H[0] {
		total[r] = float64(v * v)
	}
	// the column after the last is zero, and stays zero where factor is finite
	for i := 1; i < g.Dim; i += 2 {
		a, b := &g.H[i], &g.H[i+1]
		for r, f := range factor {
			u, v := Nearest(float64(a[r]*f)), Nearest(float64(b[r]*f))
			a[r], b[r] = u, v
			total[r] += float64(u*u) + float64(v*v)
		}
	}
	for r, t := range &total {
		if !(t <= GramBound) {
			g.Zero(r)
		}
	}
}

// Zero empties row r.
func (g *Gram) Zero(r int) {
	for i := range g.H {
		g.H[i][r] = 0
	}
}

// Add adds a panel: for every block of rows i..i+2, the blocks of columns k, k+1 from k = i on.
func (g *Gram) Add(sum []int64) {
	b := 0
	for i := 0; i < g.Dim; i += 3 {
		for k := i; k < g.Dim; k += 2 {
			products(&g.blocks[b], &g.H[i], &g.H[i+1], &g.H[i+2], &g.H[k], &g.H[k+1])
			b++
		}
	}
	if g.panels++; g.panels == maxPanels {
		g.Flush(sum)
	}
}

// products adds the sums over the panel of au, av, bu, bv, cu and cv. Six sums are what fits the
// registers.
func products(s *[6]float64, a, b, c, u, v *Column) {
	var s0, s1, s2, s3, s4, s5 float64
	_, _, _, _, _ = a[0], b[0], c[0], u[0], v[0] // checks for nil leave the loop
	for r := range Rows {
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

// AddWaiting adds the rows that wait and forgets them.
func (g *Gram) AddWaiting(sum []int64) {
	if g.Waiting == 0 {
		return
	}
	for r := g.Waiting; r < Rows; r++ {
		g.Zero(r)
	}
	g.Add(sum)
	g.Waiting = 0
}

// Flush moves the sums to the upper triangle in sum.
func (g *Gram) Flush(sum []int64) {
	if g.panels == 0 {
		return
	}
	b := 0
	for i := 0; i < g.Dim; i += 3 {
		for k := i; k < g.Dim; k += 2 {
			for l, s := range &g.blocks[b] {
				row, col := i+l/2, k+l%2
				if row <= col && col < g.Dim {
					sum[row*(2*g.Dim-row-1)/2+col] += int64(s)
				}
			}
			g.blocks[b] = [6]float64{}
			b++
		}
	}
	g.panels = 0
}
