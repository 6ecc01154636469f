package rowkernels

// A Gram adds up sum h h^T of integer vectors, kept as float64, panel by panel.
//
// Invariant, once checked: |h|^2 <= 2^(2 GramBits) for every row. Products are then at most 2^32
// and sums over the rows of maxPanels panels below 2^53, so float64 arithmetic on them is exact, in
// any order.
type Gram struct {
	Dim    int
	H      []Column // Dim columns, then zeros up to whole tiles
	tiles  []tile   // sums since the last Flush
	panels int      // panels since the last Flush
}

// maxPanels * Rows * 2^32 < 2^53.
const maxPanels = 1 << 15

// NewGram returns an empty matrix.
func NewGram(dim int) *Gram {
	side := (dim + 2) / 3
	return &Gram{Dim: dim, H: make([]Column, 3*side), tiles: make([]tile, side*(side+1)/2)}
}

const (
	// GramBits is B of integer vectors whose products are summed: |h_i h_k| <= 2^32, so 2^31 rows
	// fit an int64.
	GramBits  = 16
	GramBound = 1 << (2 * GramBits) // of |h|^2
)

// RoundAll multiplies row r of columns 1.. by factor[r], rounds, and zeroes every row, column 0
// included, that breaks |h|^2 + less[r] <= 2^(2 GramBits), for whole numbers less of at least 0,
// which become these sums. The check is exact although it is made in float64: if some |h_i| > 2^16,
// its square, and by the monotony of rounding the sum, exceeds the bound; otherwise all sums are
// integers below 2^53. NaN breaks it.
func (g *Gram) RoundAll(factor, less *Column) { round(g.H[:g.Dim], factor, less) }

// Add adds a panel.
func (g *Gram) Add(sum []int64) {
	products(g.tiles, g.H)
	if g.panels++; g.panels == maxPanels {
		g.Flush(sum)
	}
}

// Flush moves the sums to the upper triangle in sum.
func (g *Gram) Flush(sum []int64) {
	if g.panels == 0 {
		return
	}
	t := 0
	for i := 0; i < g.Dim; i += 3 {
		for k := i; k < g.Dim; k += 3 {
			for l := range g.tiles[t] {
				if row, col := i+l/3, k+l%3; row <= col && col < g.Dim {
					p := &g.tiles[t][l] // the parts of a sum; their sum is exact too
					sum[row*(2*g.Dim-row-1)/2+col] += int64(p[0] + p[1] + p[2] + p[3] + p[4] + p[5] + p[6] + p[7])
				}
			}
			t++
		}
	}
	clear(g.tiles)
	g.panels = 0
}
