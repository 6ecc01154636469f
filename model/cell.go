package model

import (
	"math"
	"math/rand/v2"
)

// A Cell says which values a column can hold.
type Cell struct {
	Unit, Offset float64 // Offset plus multiples of Unit; any value where Unit is 0.
	Least, Most  float64 // Infinite where there is no limit.
}

// mostTries is how often a row outside of its cells' limits is drawn again before it is moved to
// them. A guess: a component with less than a hundredth of its rows inside is misplaced.
const mostTries = 100

// Inside is the part of N(mean, sd^2) within the limits, at least what mostTries leaves to be
// drawn.
func (c Cell) Inside(mean, sd float64) float64 {
	if sd == 0 || !c.limited() {
		return 1
	}
	below := func(x float64) float64 { return math.Erfc((mean-x)/sd/math.Sqrt2) / 2 }
	return math.Max(1./mostTries, below(c.Most)-below(c.Least))
}

func (c Cell) limited() bool { return !math.IsInf(c.Least, -1) || !math.IsInf(c.Most, 1) }

// keep rounds the row to the cells' units, and says whether it is within their limits.
func keep(row []float64, cells []Cell) (within bool) {
	within = true
	for j, c := range cells {
		if c.Unit > 0 {
			row[j] = c.nearest(row[j])
		}
		within = within && row[j] >= c.Least && row[j] <= c.Most
	}
	return within
}

// nearest is the multiple of the unit next to x, as the number that is written so: three tenths are
// .3.
func (c Cell) nearest(x float64) float64 {
	k := math.Round((x - c.Offset) / c.Unit)
	if math.IsInf(k, 0) {
		return x // the unit is far below what float64 can tell of x
	}
	if inverse := math.Round(1 / c.Unit); c.Unit < 1 && math.Abs(inverse*c.Unit-1) < 1e-12 {
		return c.Offset + k/inverse
	}
	return c.Offset + k*c.Unit
}

// limits are cells with their limits alone, of values of any unit; nil if there are none.
func limits(cells []Cell) (out []Cell) {
	any := false
	for _, c := range cells {
		c.Unit = 0
		out, any = append(out, c), any || c.limited()
	}
	if !any {
		return nil
	}
	return out
}

// insideRows is from how many rows it is estimated which part of a component is within the limits
// of several related columns: to a hundredth of it at least where that is a half.
const insideRows = 1 << 14

// inside is the part of component i's rows within the limits of all cells.
func (m *Mixture) inside(i int, cells []Cell) float64 {
	g, share, limited := m.Components[i], 1.0, 0
	for j, c := range cells {
		if c.limited() {
			limited++
			share *= c.Inside(g.Mean[j], math.Sqrt(g.Cov.At(j, j)))
		}
	}
	if _, apart := g.Cov.(Diagonal); apart || limited < 2 {
		return share
	}
	s, rng, row, in := mustSampler(m), rand.New(rand.NewPCG(1, 1)), make([]float64, g.Dim()), 0
	for range insideRows {
		if s.component(i, row, rng); keep(row, cells) {
			in++
		}
	}
	return math.Max(1./mostTries, float64(in)/insideRows)
}
