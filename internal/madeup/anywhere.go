package madeup

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/model"
)

// An Anywhere says which mixtures are drawn from a running generator whose units of the columns,
// scales of the components and places are random over many powers of ten, so that no bound on
// anything is known beforehand. It is to tests what Unbounded is to experiments, and its components
// can overlap or be nested in all columns at once.
type Anywhere struct {
	Columns, Components int
	// Apart, the default: every component is at least nearestApart sds of the wider one from all
	// others in some column. Overlapping: scales within a factor of 2; from one component to the
	// next it is 3 to 4 sds in a random direction. Nested: one place, and scales that grow by
	// factors of 10 to 1000 in every column. Rotated: apart, with axes of their own and sizes from
	// 1e-2 to 1e4, the same in all columns, which have units of their own; all others have diagonal
	// covariances.
	Arrangement Arrangement
	Weights     []float64 // nil: equal
	// Scale and Place, if not 0, are the unit of every column and the place of the first component
	// in it, instead of random ones.
	Scale, Place float64
}

// farthest is how far apart components are at most, in sds, the near ones more often.
const farthest = 600.

// From draws a mixture.
func (u Anywhere) From(rng *rand.Rand) (*model.Mixture, error) {
	d := u.Columns
	var gs []model.Gaussian
	means := make([][]float64, u.Components)
	widest := make([][]float64, u.Components)
	factors := make([]*mat.Dense, u.Components)
	size := 1.0
	for i := range means {
		if u.Arrangement == Nested {
			size *= math.Pow(10, 1+2*rng.Float64())
		}
		factors[i], widest[i] = u.factor(rng, size)
		means[i] = make([]float64, d)
		if i == 0 || u.Arrangement == Nested {
			continue
		}
		u.settle(rng, means, widest, i)
	}
	for j := range d {
		unit, place := u.Scale, u.Place
		if unit == 0 {
			unit = math.Pow(10, 12*rng.Float64()-6)
		}
		if place == 0 {
			place = unit * sign(rng) * math.Pow(10, 10*rng.Float64()-2)
		}
		for i := range means {
			means[i][j] = place + unit*means[i][j]
			floats.Scale(unit, factors[i].RawRowView(j))
		}
	}
	for i := range means {
		cov, err := u.covariance(factors[i])
		if err != nil {
			return nil, err
		}
		gs = append(gs, model.Gaussian{Mean: means[i], Cov: cov})
	}
	return model.New(nil, append([]float64(nil), u.Weights...), gs)
}

// factor returns a square root of a covariance of about the size, and its largest sd in every
// column.
func (u Anywhere) factor(rng *rand.Rand, size float64) (*mat.Dense, []float64) {
	d := u.Columns
	if u.Arrangement == Rotated {
		f := factorOf(rng, d, 30, estimate.Full)
		f.Scale(math.Pow(10, 6*rng.Float64()-2), f)
		widest := make([]float64, d)
		for j := range widest {
			widest[j] = floats.Norm(f.RawRowView(j), 2)
		}
		return f, widest
	}
	f, widest := mat.NewDense(d, d, nil), make([]float64, d)
	for j := range widest {
		spread := math.Pow(10, 3*rng.Float64()-1.5) // of a component's scale in a column
		switch u.Arrangement {
		case Overlapping:
			spread = 1 + rng.Float64()
		case Nested:
			spread = math.Pow(2, rng.Float64())
		}
		widest[j] = size * spread
		f.Set(j, j, widest[j])
	}
	return f, widest
}

// settle places component i among those before it.
func (u Anywhere) settle(rng *rand.Rand, means, widest [][]float64, i int) {
	if u.Arrangement == Overlapping {
		away := make([]float64, u.Columns)
		for j := range away {
			away[j] = rng.NormFloat64()
		}
		floats.Scale((3+rng.Float64())/floats.Norm(away, 2), away)
		for j, a := range away {
			means[i][j] = means[i-1][j] + math.Abs(a)*math.Hypot(widest[i][j], widest[i-1][j])/math.Sqrt2
		}
		return
	}
	own := rng.IntN(u.Columns) // the column that tells it from the others
	side := sign(rng)
	for j := range u.Columns {
		means[i][j] = widest[i][j] * rng.NormFloat64()
		if j != own {
			continue
		}
		end, most := 0.0, widest[i][j]
		for l := range i {
			end = math.Max(end, side*means[l][j])
			most = math.Max(most, widest[l][j])
		}
		far := nearestApart * math.Pow(farthest/nearestApart, math.Pow(rng.Float64(), 2))
		means[i][j] = side * (end + far*most)
	}
}

func (u Anywhere) covariance(factor *mat.Dense) (model.Covariance, error) {
	if u.Arrangement == Rotated {
		return model.FullFromFactor(factor)
	}
	variances := make([]float64, u.Columns)
	for j := range variances {
		variances[j] = factor.At(j, j) * factor.At(j, j)
	}
	return model.NewDiagonal(variances)
}

func sign(rng *rand.Rand) float64 { return float64(1 - 2*rng.IntN(2)) }
