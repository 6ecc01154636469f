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

// RowWithin is Row for d cells: values are rounded to the cells' units, and in place of a row
// beyond a limit another of the same component is drawn: what a component holds are rows that were
// there.
func (s *Sampler) RowWithin(dst []float64, cells []Cell, rng *rand.Rand) {
	component := s.Row(dst, rng)
	for try := 1; !round(dst, cells); try++ {
		if try == mostTries {
			for j, c := range cells {
				dst[j] = math.Max(c.Least, math.Min(dst[j], c.Most))
			}
			return
		}
		s.component(component, dst, rng)
	}
}

// round rounds the row to the cells' units, and says whether it is within their limits.
func round(row []float64, cells []Cell) (within bool) {
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
	if inverse := math.Round(1 / c.Unit); c.Unit < 1 && math.Abs(inverse*c.Unit-1) < 1e-12 {
		return c.Offset + k/inverse
	}
	return c.Offset + k*c.Unit
}
