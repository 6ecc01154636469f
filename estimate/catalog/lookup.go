package catalog

import (
	"cmp"
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/estimate"
)

// An Estimate is what to expect at a number of rows, between or beyond what was measured.
type Estimate struct {
	Errors
	Released float64 // share of runs that end in a model
	// Note says what the numbers are if they are not interpolated between measured ones; empty
	// otherwise.
	Note string
}

// A Missing says why there is no estimate.
type Missing struct {
	Why string
	// TooFew says that the method was measured, but with so few rows either none was released or
	// none was tried; Estimate.Released is then the share at the fewest rows that were measured.
	TooFew bool
}

// Error makes it an error.
func (m *Missing) Error() string { return "not measured: " + m.Why }

// roundOff of a number of rows is no other number of rows.
const roundOff = 1e-9

// At returns the expected errors of a kind for these numbers of columns and rows and this mu.
//
// Between grid points the logarithms of the errors, each in units of the error of sampling, are
// interpolated linearly in log d, log mu and log n. The rows of a curve are counted in multiples of
// its smallest number of rows, which is interpolated like an error: so curves of different d and mu
// are compared where privacy costs about alike. At a grid point the estimate is what was measured
// there; along n it is monotone between two neighbours.
//
// With more rows than were measured, and at a mu that was not, the theory's slopes hold: the
// sampling error falls as 1/sqrt n, and the error of privacy (added in quadrature) depends on n mu
// alone and falls as 1/n. The note says so.
//
// Failures: a *Missing, for a kind or a number of columns that was not measured, for fewer rows
// than were, and where no run ended in a model.
func (t *ErrorTable) At(k Kind, columns int, rows, mu float64) (Estimate, error) {
	grid := t.grids[k]
	switch {
	case len(grid) == 0:
		return Estimate{}, &Missing{Why: "no runs of this method"}
	case columns < grid[0].d || columns > grid[len(grid)-1].d:
		return Estimate{}, &Missing{Why: fmt.Sprintf("only %d to %d columns were", grid[0].d, grid[len(grid)-1].d)}
	case !(rows >= 1) || !(mu > 0):
		return Estimate{}, &Missing{Why: "the number of rows is not known"}
	}
	low, high, part := between(len(grid), func(i int) float64 { return float64(grid[i].d) }, float64(columns))
	a, b := grid[low].at(mu), grid[high].at(mu)
	multiple := rows / math.Exp(mix(math.Log(a.fewest), math.Log(b.fewest), part))
	out := a.estimate(multiple).mix(b.estimate(multiple), part)
	out.Errors = out.times(rates(k.Shape, columns, rows))
	switch {
	case multiple < 1-roundOff:
		return Estimate{Released: out.Released}, &Missing{fmt.Sprintf("only %.0f rows and more were", rows/multiple), true}
	case math.IsNaN(out.Covariance):
		return Estimate{Released: out.Released}, &Missing{"no run with so few rows ended in a model", true}
	}
	return out, nil
}

// A slice is a column of the grid at one mu: the two neighbouring curves, and its position between
// them.
type slice struct {
	shape     estimate.CovarianceType
	d         int
	low, high curve
	part      float64
	fewest    float64 // rows
	// reach is mu over that of the nearest curve, where mu lies beyond all.
	reach float64
}

// at returns the two curves nearest to mu.
func (c column) at(mu float64) slice {
	first, last := c.curves[0].mu, c.curves[len(c.curves)-1].mu
	inside := math.Min(math.Max(mu, first), last)
	low, high, part := between(len(c.curves), func(i int) float64 { return c.curves[i].mu }, inside)
	s := slice{shape: c.curves[0].points[0].Shape, d: c.d, low: c.curves[low], high: c.curves[high], part: part, reach: mu / inside}
	s.fewest = math.Exp(mix(math.Log(s.low.fewest()), math.Log(s.high.fewest()), part)) / s.reach
	return s
}

// estimate returns an estimate in units of the sampling error.
func (s slice) estimate(multiple float64) Estimate {
	out := s.low.estimate(s.shape, s.d, multiple).mix(s.high.estimate(s.shape, s.d, multiple), s.part)
	if s.reach != 1 {
		out.Errors = out.beyond(1 / s.reach) // the same n mu at 1/reach times the rows
		out.Note = "extrapolated from another budget"
	}
	return out
}

func (c curve) fewest() float64 { return float64(c.points[0].Rows) }

// estimate returns an estimate in units of the sampling error, at a multiple of the curve's
// smallest number of rows.
func (c curve) estimate(shape estimate.CovarianceType, d int, multiple float64) Estimate {
	n, last := multiple*c.fewest(), c.points[len(c.points)-1]
	unit := func(p ErrorPoint) Estimate {
		cov, mean := rates(shape, d, float64(p.Rows))
		return Estimate{Errors: p.times(1/cov, 1/mean), Released: float64(p.Released) / float64(p.Runs)}
	}
	if far := n / float64(last.Rows); far > 1+roundOff {
		e := unit(last)
		e.Errors = e.beyond(1 / far)
		e.Note = "extrapolated from fewer rows"
		return e
	}
	low, high, part := between(len(c.points), func(i int) float64 { return float64(c.points[i].Rows) }, n)
	return unit(c.points[low]).mix(unit(c.points[high]), part)
}

// rates returns the errors of sampling that errors are measured in between grid points:
// sqrt(d(d+1)/n) and sqrt(d/n), or what takes the place of the first for special shapes.
func rates(shape estimate.CovarianceType, d int, rows float64) (covariance, mean float64) {
	free := float64(d * (d + 1))
	switch shape {
	case estimate.Diagonal:
		free = float64(2 * d)
	case estimate.Spherical:
		free = 2
	}
	return math.Sqrt(free / rows), math.Sqrt(float64(d) / rows)
}

func (e Errors) times(covariance, mean float64) Errors {
	return Errors{e.Covariance * covariance, e.Mean * mean, e.PlainCovariance * covariance, e.PlainMean * mean}
}

// beyond returns the error, in units of sampling, where what privacy adds in quadrature is
// multiplied by excess, relative to sampling.
func (e Errors) beyond(excess float64) Errors {
	add := func(private, plain float64) float64 {
		if private <= plain {
			return private
		}
		return math.Sqrt(plain*plain + (private*private-plain*plain)*excess)
	}
	e.Covariance, e.Mean = add(e.Covariance, e.PlainCovariance), add(e.Mean, e.PlainMean)
	return e
}

// between finds the two neighbours of x in a rising list, and how far x lies from the first to the
// second, in logarithms. Outside the list it is the nearest end.
func between(n int, at func(int) float64, x float64) (low, high int, part float64) {
	for low < n-1 && at(low+1) <= x {
		low++
	}
	if low == n-1 || x <= at(low) {
		return low, low, 0
	}
	part = math.Log(x/at(low)) / math.Log(at(low+1)/at(low))
	switch {
	case part < roundOff:
		return low, low, 0
	case part > 1-roundOff:
		return low + 1, low + 1, 0
	}
	return low, low + 1, part
}

func mix(a, b, part float64) float64 {
	if part == 0 {
		return a
	}
	return a + part*(b-a)
}

// mix interpolates, of the errors the logarithms.
func (e Estimate) mix(other Estimate, part float64) Estimate {
	if part == 0 {
		return e
	}
	log := func(x, y float64) float64 { return math.Exp(mix(math.Log(x), math.Log(y), part)) }
	a, b := e.Errors, other.Errors
	return Estimate{Released: mix(e.Released, other.Released, part), Note: cmp.Or(e.Note, other.Note), Errors: Errors{log(a.Covariance, b.Covariance),
		log(a.Mean, b.Mean), log(a.PlainCovariance, b.PlainCovariance), log(a.PlainMean, b.PlainMean)}}
}
