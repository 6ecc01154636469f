package axisaligned

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/model"
)

// An anywhere says which mixtures are drawn whose units of the columns, scales of the components
// and places are random over many powers of ten, so that no bound on anything is known beforehand.
// Other than those of madeup.Unbounded, components can overlap or be nested in all columns at once.
type anywhere struct {
	Columns, Components int
	// Apart, the default: every component is at least 9 sds of the wider one from all others in
	// some column. Overlapping: scales within a factor of 2; from one component to the next it is 3
	// to 4 sds in a random direction. Nested: one place, and scales that grow by factors of 10 to
	// 1000 in every column.
	Arrangement madeup.Arrangement
	Weights     []float64 // nil: equal
	// Scale and Place, if not 0, are the unit of every column and the place of the first component
	// in it, instead of random ones.
	Scale, Place float64
}

// From draws a mixture.
func (u anywhere) From(rng *rand.Rand) (*model.Mixture, error) {
	means, sds := make([][]float64, u.Components), make([][]float64, u.Components)
	size := 1.0
	for i := range means {
		if u.Arrangement == madeup.Nested {
			size *= math.Pow(10, 1+2*rng.Float64())
		}
		sds[i] = u.scales(rng, size)
		means[i] = make([]float64, u.Columns)
		if i > 0 && u.Arrangement != madeup.Nested {
			u.settle(rng, means, sds, i)
		}
	}
	for j := range u.Columns {
		unit, place := u.Scale, u.Place
		if unit == 0 {
			unit = math.Pow(10, 12*rng.Float64()-6)
		}
		if place == 0 {
			place = unit * sign(rng) * math.Pow(10, 10*rng.Float64()-2)
		}
		for i := range means {
			means[i][j] = place + unit*means[i][j]
			sds[i][j] *= unit
		}
	}
	var gs []model.Gaussian
	for i, s := range sds {
		floats.Mul(s, s)
		cov, err := model.NewDiagonal(s)
		if err != nil {
			return nil, err
		}
		gs = append(gs, model.Gaussian{Mean: means[i], Cov: cov})
	}
	return model.New(nil, slices.Clone(u.Weights), gs)
}

// scales returns the standard deviations of a component of about the size.
func (u anywhere) scales(rng *rand.Rand, size float64) []float64 {
	sd := make([]float64, u.Columns)
	for j := range sd {
		spread := math.Pow(10, 3*rng.Float64()-1.5) // of a component's scale in a column
		switch u.Arrangement {
		case madeup.Overlapping:
			spread = 1 + rng.Float64()
		case madeup.Nested:
			spread = math.Pow(2, rng.Float64())
		}
		sd[j] = size * spread
	}
	return sd
}

// settle places component i among those before it.
func (u anywhere) settle(rng *rand.Rand, means, sds [][]float64, i int) {
	if u.Arrangement == madeup.Overlapping {
		away := make([]float64, u.Columns)
		for j := range away {
			away[j] = rng.NormFloat64()
		}
		floats.Scale((3+rng.Float64())/floats.Norm(away, 2), away)
		for j, a := range away {
			means[i][j] = means[i-1][j] + math.Abs(a)*math.Hypot(sds[i][j], sds[i-1][j])/math.Sqrt2
		}
		return
	}
	const near, far = 9.0, 600.0 // sds between components, the near ones more often
	own := rng.IntN(u.Columns)   // the column that tells it from the others
	side := sign(rng)
	for j := range u.Columns {
		means[i][j] = sds[i][j] * rng.NormFloat64()
		if j != own {
			continue
		}
		end, most := 0.0, sds[i][j]
		for l := range i {
			end = math.Max(end, side*means[l][j])
			most = math.Max(most, sds[l][j])
		}
		means[i][j] = side * (end + near*math.Pow(far/near, math.Pow(rng.Float64(), 2))*most)
	}
}

func sign(rng *rand.Rand) float64 { return float64(1 - 2*rng.IntN(2)) }
