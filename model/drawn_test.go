package model_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/model"
)

// A small says which mixtures of every shape and rank are drawn. Zero values stand for the
// defaults.
type small struct {
	K         int // components; default 1
	D         int // columns; default 1
	Kind      estimate.CovarianceType
	Condition float64 // ratio of the extreme eigenvalues of each covariance, >= 1; default 1
	// Separation is the least distance of two means, in the largest standard deviation, which is 1.
	Separation float64
	Rank       int // rank of each covariance, 1..D; default D. Full and diagonal only.
}

// drawn draws a mixture: weights from 0.5/K up, covariances with eigenvalues log-uniform in
// [1/Condition, 1] in a random frame, means standard Gaussian, spread until Separation holds.
func drawn(t testing.TB, rng *rand.Rand, o small) *model.Mixture {
	t.Helper()
	weights := make([]float64, max(o.K, 1))
	for i := range weights {
		weights[i] = 0.5 + rng.ExpFloat64()
	}
	floats.Scale(1/floats.Sum(weights), weights)
	var components []model.Gaussian
	for _, mean := range o.means(rng) {
		components = append(components, model.Gaussian{Mean: mean, Cov: drawnCovariance(t, rng, o)})
	}
	return mixture(t, weights, components...)
}

// means draws K points of which no two are closer than Separation.
func (o small) means(rng *rand.Rand) (out [][]float64) {
	for radius := 1.0; len(out) < max(o.K, 1); radius *= 1.02 {
		p := make([]float64, max(o.D, 1))
		for j := range p {
			p[j] = radius * rng.NormFloat64()
		}
		if !slices.ContainsFunc(out, func(m []float64) bool { return floats.Distance(m, p, 2) < o.Separation }) {
			out = append(out, p)
		}
	}
	return out
}

// drawnCovariance draws one covariance as drawn does.
func drawnCovariance(t testing.TB, rng *rand.Rand, o small) model.Covariance {
	t.Helper()
	d := max(o.D, 1)
	sd := make([]float64, d)
	for j := range sd {
		if o.Rank == 0 || j < o.Rank {
			sd[j] = math.Exp(-rng.Float64() * math.Log(max(o.Condition, 1)) / 2)
		}
	}
	switch o.Kind {
	case estimate.Spherical:
		c, err := model.NewSpherical(d, sd[0]*sd[0])
		if err != nil {
			t.Fatal(err)
		}
		return c
	case estimate.Diagonal:
		rng.Shuffle(d, func(i, j int) { sd[i], sd[j] = sd[j], sd[i] })
		floats.Mul(sd, sd)
		return diagonal(t, sd...)
	}
	f := madeup.Rotation(rng, d)
	for i := range d {
		floats.Mul(f.RawRowView(i), sd)
	}
	return factor(t, d, d, f.RawMatrix().Data...)
}
