package madeup

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/model"
)

// A Moderate says which mixtures of ordinary scales are drawn from a running generator: for tests
// of what an estimator does where nothing is extreme.
type Moderate struct {
	Columns, Components int
	Covariance          estimate.CovarianceType
	// Separation of the means, in units of the mean within-component sd: centres are Gaussian with
	// this sd per column.
	Separation float64
	// Kappa is the condition number of each covariance; 0 means 1.
	Kappa float64
	// LeastWeight is the smallest weight; weights are uniform on the simplex above it.
	LeastWeight float64
	// Offset is added to every column, in within-component sds; Unit multiplies column j by
	// Unit^(1, -1, 1, ..). 0 means none.
	Offset, Unit float64
}

// From draws a mixture.
func (t Moderate) From(rng *rand.Rand) (*model.Mixture, error) {
	d := t.Columns
	unit := make([]float64, d)
	for j := range unit {
		unit[j] = 1
		if t.Unit != 0 && t.Covariance != estimate.Spherical {
			unit[j] = math.Pow(t.Unit, float64(1-2*(j%2)))
		}
	}
	var gs []model.Gaussian
	for range t.Components {
		a := factorOf(rng, d, math.Max(1, t.Kappa), t.Covariance)
		mean := make([]float64, d)
		for j := range d {
			mean[j] = unit[j] * (t.Offset + t.Separation*rng.NormFloat64())
			for i := range d {
				a.Set(j, i, a.At(j, i)*unit[j])
			}
		}
		cov, err := model.FullFromFactor(a)
		if err != nil {
			return nil, err
		}
		gs = append(gs, model.Gaussian{Mean: mean, Cov: cov})
	}
	return model.New(nil, weightsAbove(rng, t.Components, t.LeastWeight), gs)
}

// factorOf returns a square root of a random covariance of condition number kappa and geometric
// mean eigenvalue 1.
func factorOf(rng *rand.Rand, d int, kappa float64, shape estimate.CovarianceType) *mat.Dense {
	q := mat.NewDense(d, d, nil)
	for i := range d {
		q.Set(i, i, 1)
	}
	if shape == estimate.Full {
		q = Rotation(rng, d)
	}
	common := math.Exp(.3 * rng.NormFloat64())
	for j := range d {
		sd := common
		if shape != estimate.Spherical && d > 1 {
			sd *= math.Pow(kappa, .5*(float64(j)/float64(d-1)-.5))
		}
		for i := range d {
			q.Set(i, j, q.At(i, j)*sd)
		}
	}
	if shape == estimate.Diagonal { // which column is wide differs between components
		rng.Shuffle(d, func(i, j int) {
			a, b := q.At(i, i), q.At(j, j)
			q.Set(i, i, b)
			q.Set(j, j, a)
		})
	}
	return q
}

func weightsAbove(rng *rand.Rand, k int, least float64) []float64 {
	w := make([]float64, k)
	total := 0.0
	for i := range w {
		w[i] = rng.ExpFloat64()
		total += w[i]
	}
	for i := range w {
		w[i] = least + (1-least*float64(k))*w[i]/total
	}
	return w
}
