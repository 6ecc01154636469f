// Package modeltest draws random models with known truth, for tests.
package modeltest

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/model"
)

// Kind is a covariance type to draw.
type Kind int

// The covariance types.
const (
	Full Kind = iota
	Diagonal
	Spherical
)

// Options says what to draw.
type Options struct {
	K         int     // components; default 1
	D         int     // columns; default 1
	Kind      Kind    // covariance type; default Full
	Condition float64 // ratio of the extreme eigenvalues of each covariance, >= 1; default 1
	// least distance of two means, in the largest standard deviation, which is 1; default 0
	Separation float64
	Rank       int // rank of each covariance, 1..D; default D. Full and Diagonal only.
}

// Random draws a mixture: weights from 0.5/K up, covariances with eigenvalues log-uniform in
// [1/Condition, 1] in a random frame, means standard Gaussian, spread until Separation holds.
func Random(tb testing.TB, rng *rand.Rand, o Options) *model.Mixture {
	tb.Helper()
	o.K, o.D, o.Condition = max(o.K, 1), max(o.D, 1), max(o.Condition, 1)
	if o.Rank == 0 {
		o.Rank = o.D
	}
	weights := make([]float64, o.K)
	for i := range weights {
		weights[i] = 0.5 + rng.ExpFloat64()
	}
	floats.Scale(1/floats.Sum(weights), weights)
	components := make([]model.Gaussian, o.K)
	for i, mean := range means(rng, o) {
		components[i] = model.Gaussian{Mean: mean, Cov: Covariance(tb, rng, o)}
	}
	m, err := model.New(nil, weights, components)
	if err != nil {
		tb.Fatalf("modeltest: %v", err)
	}
	return m
}

// means draws K points of which no two are closer than Separation.
func means(rng *rand.Rand, o Options) [][]float64 {
	out := make([][]float64, 0, o.K)
	for radius := 1.0; len(out) < o.K; radius *= 1.02 {
		p := make([]float64, o.D)
		for j := range p {
			p[j] = radius * rng.NormFloat64()
		}
		clear := true
		for _, q := range out {
			clear = clear && floats.Distance(p, q, 2) >= o.Separation
		}
		if clear {
			out = append(out, p)
		}
	}
	return out
}

// Covariance draws one covariance as Random does.
func Covariance(tb testing.TB, rng *rand.Rand, o Options) model.Covariance {
	tb.Helper()
	d := max(o.D, 1)
	sd := make([]float64, d)
	for j := range sd {
		if o.Rank == 0 || j < o.Rank {
			sd[j] = math.Exp(-rng.Float64() * math.Log(max(o.Condition, 1)) / 2)
		}
	}
	var c model.Covariance
	var err error
	switch o.Kind {
	case Spherical:
		c, err = model.NewSpherical(d, sd[0]*sd[0])
	case Diagonal:
		rng.Shuffle(d, func(i, j int) { sd[i], sd[j] = sd[j], sd[i] })
		floats.Mul(sd, sd)
		c, err = model.NewDiagonal(sd)
	default:
		f := Rotation(rng, d)
		for i := range d {
			floats.Mul(f.RawRowView(i), sd)
		}
		c, err = model.FullFromFactor(f)
	}
	if err != nil {
		tb.Fatalf("modeltest: %v", err)
	}
	return c
}

// Rotation draws a d x d orthogonal matrix, uniformly.
func Rotation(rng *rand.Rand, d int) *mat.Dense {
	g := mat.NewDense(d, d, nil)
	for i := range d {
		for j := range d {
			g.Set(i, j, rng.NormFloat64())
		}
	}
	var qr mat.QR
	qr.Factorize(g)
	var q, r mat.Dense
	qr.QTo(&q)
	qr.RTo(&r)
	for j := range d { // the sign convention of QR would favour some rotations
		if r.At(j, j) < 0 {
			for i := range d {
				q.Set(i, j, -q.At(i, j))
			}
		}
	}
	return &q
}
