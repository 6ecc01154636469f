package model

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
)

// A Cell says which values a column can hold.
//
// A row of a component is its Gaussian's, given that every column lies within its cell's limits,
// each value then rounded to the next that the cell can hold. Values that are recorded in a unit
// stand for all that round to them, so the limits reach half a unit beyond the first and the last:
// with ages from 0 in whole years, 0 is as likely as the density there says. A component keeps its
// weight, which is a share of rows, and rows are within the limits.
type Cell struct {
	Unit, Offset float64 // Offset plus multiples of Unit; any value where Unit is 0.
	Least, Most  float64 // Infinite where there is no limit.
	Date         bool    // Values are days since 1970-01-01, and written as dates.
	// Log is the map under which the model's Gaussians describe the column; the zero Log if they
	// describe its values.
	Log dense.Log
}

// mostTries is the number of draws of a row outside of its cells' limits before it is moved to
// them. A guess: a component with less than a thousandth of its rows inside is misplaced, and of
// one with a hundredth inside less than a row in ten thousand is moved.
const mostTries = 1000

// LeastInside is the lower bound that densities use for the part of a component within the limits:
// draws do not resolve less.
const LeastInside = 1. / mostTries

// gridRounding is the largest distance of a limit from a multiple of the unit at which it still
// counts as one, in units: float64's .3 is less than three tenths.
const gridRounding = 1e-9

// Box returns the range that rounds to the values that the cell can hold, or the limits themselves
// if there is no such value, mapped as the model's Gaussians are.
func (c Cell) Box() (low, high float64) {
	if low, high = c.box(); c.Log.Maps() {
		return c.Log.To(low), c.Log.To(high)
	}
	return low, high
}

func (c Cell) box() (low, high float64) {
	first := math.Ceil((c.Least-c.Offset)/c.Unit - gridRounding)
	last := math.Floor((c.Most-c.Offset)/c.Unit + gridRounding)
	low, high = c.Least, c.Most
	if c.Unit == 0 || first > last {
		return low, high
	}
	if !math.IsInf(first, 0) { // no limit, or a unit far below the limit's precision in float64
		low = c.Offset + (first-.5)*c.Unit
	}
	if !math.IsInf(last, 0) {
		high = c.Offset + (last+.5)*c.Unit
	}
	return low, high
}

// Inside returns the part of N(mean, sd^2) within the limits, at least LeastInside.
func (c Cell) Inside(mean, sd float64) float64 {
	if sd == 0 || !c.limited() {
		return 1
	}
	low, high := c.Box()
	return math.Max(LeastInside, normalBelow((high-mean)/sd)-normalBelow((low-mean)/sd))
}

// normalBelow returns P(N(0, 1) < x).
func normalBelow(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

func (c Cell) limited() bool { return !math.IsInf(c.Least, -1) || !math.IsInf(c.Most, 1) }

// within reports whether every value of the row is within the limits of boxes.
func within(row []float64, boxes []Cell) bool {
	for j, c := range boxes {
		if !(row[j] >= c.Least && row[j] <= c.Most) {
			return false
		}
	}
	return true
}

// round rounds a row to values that the cells can hold.
func round(row []float64, cells []Cell) {
	for j, c := range cells {
		if c.Log.Maps() {
			row[j] = c.Log.From(row[j])
		}
		if c.Unit > 0 {
			row[j] = c.nearest(row[j])
		}
		row[j] = math.Max(c.Least, math.Min(row[j], c.Most))
	}
}

// nearest returns the multiple of the unit next to x, as the number that is written so: three
// tenths are .3.
func (c Cell) nearest(x float64) float64 {
	k := math.Round((x - c.Offset) / c.Unit)
	if math.IsInf(k, 0) {
		return x // the unit is far below x's precision in float64
	}
	if inverse := math.Round(1 / c.Unit); c.Unit < 1 && math.Abs(inverse*c.Unit-1) < 1e-12 {
		return c.Offset + k/inverse
	}
	return c.Offset + k*c.Unit
}

// boxes returns the ranges that round to the cells' values, of any unit; nil if there are none.
func boxes(cells []Cell) (out []Cell) {
	any := false
	for _, c := range cells {
		low, high := c.Box()
		out, any = append(out, Cell{Least: low, Most: high}), any || c.limited()
	}
	if !any {
		return nil
	}
	return out
}

// reach bounds the draws in a column of logarithms without a Most, in standard deviations of a
// group of rows. A guess: the exponential of a background's far side would be no value of any
// table.
const reach = 5

// Drawn returns the limits of draws, mapped as the model's Gaussians are: those of the cells and,
// in columns of logarithms without a Most, the reach of the components that stand for groups. Nil
// if there are none.
func (m *Mixture) Drawn() []Cell {
	out := boxes(m.Cells)
	groups, _ := m.Split()
	for j, c := range m.Cells {
		if !c.Log.Maps() || !math.IsInf(c.Most, 1) {
			continue
		}
		out[j].Most = out[j].Least
		for _, i := range groups {
			g := m.Components[i]
			out[j].Most = math.Max(out[j].Most, g.Mean[j]+reach*math.Sqrt(g.Cov.At(j, j)))
		}
	}
	return out
}

// mapped applies the maps of columns of logarithms to a row, and returns the logarithm of the map's
// slope there; -Inf beyond the limits.
func mapped(row []float64, cells []Cell) (slope float64) {
	for j, c := range cells {
		if !c.Log.Maps() {
			continue
		}
		low, high := c.box()
		if !(row[j] >= low && row[j] <= high) {
			return math.Inf(-1)
		}
		slope += math.Log(c.Log.Slope(row[j]))
		row[j] = c.Log.To(row[j])
	}
	return slope
}

// logs reports whether there are columns of logarithms.
func logs(cells []Cell) bool {
	return slices.ContainsFunc(cells, func(c Cell) bool { return c.Log.Maps() })
}

// inside returns the part of component i's rows within the limits of all boxes: exact where columns
// are unrelated or only one is limited, otherwise boxMass.
func (m *Mixture) inside(i int, boxes []Cell) float64 {
	g, share := m.Components[i], 1.0
	var limited []int
	for j, c := range boxes {
		if c.limited() {
			limited = append(limited, j)
			share *= c.Inside(g.Mean[j], math.Sqrt(g.Cov.At(j, j)))
		}
	}
	if _, apart := g.Cov.(Diagonal); !apart && len(limited) > 1 {
		share = boxMass(taken(g.Mean, limited), lowerFactor(takeRows(factorOf(g.Cov), limited)), taken(boxes, limited))
	}
	return math.Max(LeastInside, share)
}

// boxPoints is the number of points of boxMass. A guess; TestBoxMass checks its error.
const boxPoints = 1 << 13

// boxMass returns the mass of N(mean, L L^T) in a box, L lower triangular: the mean over z of the
// product of P(low_i < x_i < high_i | z_1, .., z_(i-1)), where each z_i is drawn from its own law
// within the box (Genz 1992), at the points of an additive recurrence with the powers of a root of
// x^(d+1) = x + 1, folded. The error is below a thousandth of the mass for up to ten columns.
func boxMass(mean []float64, l *mat.Dense, box []Cell) float64 {
	const least = 1e-16 // of a probability: smaller ones count as zero mass
	root, z, sum := 2., make([]float64, len(mean)), 0.
	for range 64 {
		root = math.Pow(1+root, 1/float64(len(mean)+1))
	}
	for k := range boxPoints {
		mass, step := 1., 1.
		for i := range mean {
			at, sd := mean[i], math.Max(l.At(i, i), math.SmallestNonzeroFloat64)
			for j := range i {
				at += l.At(i, j) * z[j]
			}
			step /= root
			_, part := math.Modf((float64(k) + .5) * step)
			low, high := normalBelow((box[i].Least-at)/sd), normalBelow((box[i].Most-at)/sd)
			u := low + math.Abs(2*part-1)*(high-low)
			mass *= high - low
			z[i] = math.Sqrt2 * math.Erfinv(2*math.Max(least, math.Min(u, 1-least))-1)
		}
		sum += mass / boxPoints
	}
	return sum
}
