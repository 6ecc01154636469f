package madeup

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/model"
)

// A Small says which mixtures of every shape and rank are drawn from a running generator: for tests
// of models themselves. Zero values stand for the defaults.
type Small struct {
	K         int // components; default 1
	D         int // columns; default 1
	Kind      estimate.CovarianceType
	Condition float64 // ratio of the extreme eigenvalues of each covariance, >= 1; default 1
	// Separation is the least distance of two means, in the largest standard deviation, which is 1.
	Separation float64
	Rank       int // rank of each covariance, 1..D; default D. Full and diagonal only.
}

// From draws a mixture: weights from 0.5/K up, covariances with eigenvalues log-uniform in
// [1/Condition, 1] in a random frame, means standard Gaussian, spread until Separation holds.
func (o Small) From(rng *rand.Rand) (*model.Mixture, error) {
	weights := make([]float64, max(o.K, 1))
	for i := range weights {
		weights[i] = 0.5 + rng.ExpFloat64()
	}
	floats.Scale(1/floats.Sum(weights), weights)
	var components []model.Gaussian
	for _, mean := range o.means(rng) {
		cov, err := o.CovarianceFrom(rng)
		if err != nil {
			return nil, err
		}
		components = append(components, model.Gaussian{Mean: mean, Cov: cov})
	}
	return model.New(nil, weights, components)
}

// means draws K points of which no two are closer than Separation.
func (o Small) means(rng *rand.Rand) (out [][]float64) {
	for radius := 1.0; len(out) < max(o.K, 1); radius *= 1.02 {
		p := make([]float64, max(o.D, 1))
		for j := range p {
			p[j] = radius * rng.NormFloat64()
		}
		if closest(out, [][]float64{p}) >= o.Separation {
			out = append(out, p)
		}
	}
	return out
}

// CovarianceFrom draws one covariance as From does.
func (o Small) CovarianceFrom(rng *rand.Rand) (model.Covariance, error) {
	d := max(o.D, 1)
	sd := make([]float64, d)
	for j := range sd {
		if o.Rank == 0 || j < o.Rank {
			sd[j] = math.Exp(-rng.Float64() * math.Log(max(o.Condition, 1)) / 2)
		}
	}
	switch o.Kind {
	case estimate.Spherical:
		return model.NewSpherical(d, sd[0]*sd[0])
	case estimate.Diagonal:
		rng.Shuffle(d, func(i, j int) { sd[i], sd[j] = sd[j], sd[i] })
		floats.Mul(sd, sd)
		return model.NewDiagonal(sd)
	}
	f := Rotation(rng, d)
	for i := range d {
		floats.Mul(f.RawRowView(i), sd)
	}
	return model.FullFromFactor(f)
}
