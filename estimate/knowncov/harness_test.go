package knowncov

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
)

var relations = []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne}

const delta = 1e-6

// A trial is one fit at delta 1e-6, which pays for thresholds.
type trial struct {
	rows       [][]float64
	known      [][]float64
	eps        float64
	relation   privacy.Relation
	components int
	shape      estimate.CovarianceType
	noise      kerneltest.Options
}

func (c trial) asked() estimatetest.Case {
	return estimatetest.Case{Rows: c.rows, Columns: len(c.known), Relation: c.relation, Epsilon: c.eps, Delta: delta, Components: c.components, MaxComponents: 10,
		Covariance: c.shape, KnownCovariance: c.known, Noise: c.noise}
}

func (c trial) problem() estimate.Problem { return c.asked().Problem() }

func (c trial) fit(t testing.TB) estimatetest.Fit {
	t.Helper()
	return estimatetest.RunChecked(t, New(), c.asked())
}

// An instance is a mixture whose components have the covariance known.
type instance struct {
	truth *model.Mixture
	known [][]float64
}

// draw makes an instance: units 1e-6 to 1e6, correlations from a random rotation of standard
// deviations within a factor of 9, means that are at least apart sds from each other and within
// some 30 of a common place that is up to 1e6 sds from the origin, weights even but for a factor of
// uneven.
func draw(t testing.TB, rng *rand.Rand, d, k int, apart, uneven float64) instance {
	t.Helper()
	a := mat.NewDense(d, d, nil)
	for i := range d {
		for j := range d {
			a.Set(i, j, rng.NormFloat64())
		}
	}
	var qr mat.QR
	qr.Factorize(a)
	var q mat.Dense
	qr.QTo(&q)
	for i := range d {
		unit := math.Pow(10, 12*rng.Float64()-6)
		for j := range d {
			a.Set(i, j, unit*q.At(i, j)*math.Pow(3, 2*float64(j)/math.Max(1, float64(d-1))-1))
		}
	}
	var cov mat.SymDense
	cov.SymOuterK(1, a)
	known := make([][]float64, d)
	for i := range d {
		known[i] = append([]float64(nil), mat.Row(nil, i, &cov)...)
	}
	place := make([]float64, d)
	for i := range place {
		place[i] = math.Pow(10, 6*rng.Float64()) * rng.NormFloat64()
	}
	z := means(rng, d, k, apart)
	weights, total := make([]float64, k), 0.0
	var parts []model.Gaussian
	for j := range z {
		x := make([]float64, d)
		for i := range x {
			for l := range d {
				x[i] += a.At(i, l) * (place[l] + z[j][l])
			}
		}
		full, err := model.NewFull(&cov)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, model.Gaussian{Mean: x, Cov: full})
		weights[j] = math.Pow(uneven, rng.Float64())
		total += weights[j]
	}
	for j := range weights {
		weights[j] /= total
	}
	m, err := model.New(nil, weights, parts)
	if err != nil {
		t.Fatal(err)
	}
	return instance{m, known}
}

// means are k points, each at least apart from the others: the first attempt that is, in a ball
// that grows.
func means(rng *rand.Rand, d, k int, apart float64) [][]float64 {
	for size := apart; ; size *= 1.1 {
		z := make([][]float64, k)
		for j := range z {
			z[j] = make([]float64, d)
			for i := range z[j] {
				z[j][i] = size * (2*rng.Float64() - 1)
			}
		}
		if least(z) >= apart {
			return z
		}
	}
}

func least(z [][]float64) float64 {
	out := math.Inf(1)
	for i := range z {
		for j := range i {
			sum := 0.0
			for l := range z[i] {
				sum += (z[i][l] - z[j][l]) * (z[i][l] - z[j][l])
			}
			out = math.Min(out, math.Sqrt(sum))
		}
	}
	return out
}
