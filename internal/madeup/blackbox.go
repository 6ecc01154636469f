package madeup

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/model"
)

// Spread is an arrangement of a BlackBox, which knows Nested and Crossing too, in any number of
// columns that they can be made for: means anywhere, the closest two at the separation.
const Spread Arrangement = ""

// Of the random mixtures of a BlackBox.
const (
	usualCondition = 3   // of a component's covariance
	longCondition  = 100 // of one that is Crossing
	unevenWeights  = 2   // ratio of the weights
	usualUnits     = 3   // powers of ten up and down
	farOffset      = 1e6 // of the origin in every column
)

// A BlackBox says which mixtures and tables are drawn, one for each seed, to try out a method that
// makes any learner of mixtures private: random weights within a factor of 2, covariances of
// condition numbers up to 3, and, as no step of such a method depends on the columns' units and
// origins, any of these.
//
// The Mahalanobis distance of two components is that of their means under the average of their
// covariances.
//
// Source: [PPE] Section D of the restatement.
type BlackBox struct {
	Columns    int `json:"d"` // Required.
	Components int `json:"k"` // Required.
	// Separation is the Mahalanobis distance of the closest two components. Required of two or
	// more, unless they are Nested or Crossing.
	Separation  float64     `json:"sep,omitempty"`
	Arrangement Arrangement `json:"arrangement,omitempty"`
}

// Validate returns nil or the first fault.
func (b BlackBox) Validate() error {
	apart := b.Arrangement == Spread
	for _, f := range []struct {
		bad           bool
		field, wanted string
		got           any
	}{
		{b.Columns < 1, "columns", "at least 1", b.Columns},
		{b.Components < 1, "components", "at least 1", b.Components},
		{b.Components > 1 && apart != (b.Separation > 0), "separation", "a positive number, or none of nested or crossing components", b.Separation},
		{b.Arrangement == Crossing && (b.Columns < 2 || b.Components > 3), "arrangement", "at least 2 columns and at most 3 components", b.Arrangement},
	} {
		if f.bad {
			return fmt.Errorf("problem: %s: wanted %s, got %v", f.field, f.wanted, f.got)
		}
	}
	return nil
}

// Truth draws the mixture of a seed.
func (b BlackBox) Truth(seed uint64) (*model.Mixture, error) {
	if err := b.Validate(); err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(seed, truthStream))
	weights := b.weights(rng)
	factors := b.factors(rng)
	means := b.means(rng, factors)
	gs := make([]model.Gaussian, b.Components)
	change, origin := b.change(rng)
	for i := range gs {
		var m mat.VecDense
		m.MulVec(change, mat.NewVecDense(b.Columns, means[i]))
		m.AddVec(&m, mat.NewVecDense(b.Columns, origin))
		factors[i].Mul(change, factors[i])
		cov, err := model.FullFromFactor(factors[i])
		if err != nil {
			return nil, err
		}
		gs[i] = model.Gaussian{Mean: m.RawVector().Data, Cov: cov}
	}
	return model.New(nil, weights, gs)
}

// Draw draws a mixture and n rows: a function of b, seed and n. The first rows of a longer table
// are those of a shorter one.
func (b BlackBox) Draw(seed uint64, n int) (*Instance, error) {
	truth, err := b.Truth(seed)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(seed, rowStream))
	out := &Instance{Truth: truth, Rows: mat.NewDense(n, b.Columns, nil), Labels: make([]int, n)}
	w := make([]float64, b.Columns)
	var factors []*mat.Dense
	for _, g := range truth.Components {
		factors = append(factors, g.Cov.Factor())
	}
	for i := range n {
		c := pick(truth.Weights, rng.Float64())
		gaussian(w, rng)
		row := out.Rows.RawRowView(i)
		for j := range row {
			row[j] = truth.Components[c].Mean[j] + floats.Dot(factors[c].RawRowView(j), w)
		}
		out.Labels[i] = c
	}
	return out, nil
}

// pick returns the component in whose part of [0, 1) u lies.
func pick(weights []float64, u float64) int {
	for i, w := range weights {
		if u -= w; u < 0 {
			return i
		}
	}
	return len(weights) - 1
}

func (b BlackBox) weights(rng *rand.Rand) []float64 {
	w := make([]float64, b.Components)
	for i := range w {
		w[i] = uniform(rng, 1, unevenWeights)
	}
	floats.Scale(1/floats.Sum(w), w)
	return w
}

// factors draws a factor F of each covariance F F^T.
func (b BlackBox) factors(rng *rand.Rand) []*mat.Dense {
	const leastGrowth, mostGrowth = 4, 10 // of Nested sizes
	d, size := b.Columns, 1.0
	turn := uniform(rng, 0, math.Pi)
	shared := Rotation(rng, d)
	var out []*mat.Dense
	for i := range b.Components {
		axes := Rotation(rng, d)
		sds := make([]float64, d)
		for j := range sds {
			sds[j] = math.Pow(usualCondition, rng.Float64()/2)
		}
		switch b.Arrangement {
		// as far apart in their angles as they can be, in the plane of the first two of the shared
		// axes
		case Crossing:
			axes = plane(shared, turn+math.Pi*float64(i)/float64(b.Components))
			sds[0] = math.Sqrt(longCondition) * sds[1]
		case Nested:
			grow := uniform(rng, leastGrowth, mostGrowth)
			if i > 0 {
				size *= grow
			}
		}
		floats.Scale(size, sds)
		for a := range d {
			floats.Mul(axes.RawRowView(a), sds)
		}
		out = append(out, axes)
	}
	return out
}

// plane turns the first two of orthonormal axes, which are columns.
func plane(axes *mat.Dense, angle float64) *mat.Dense {
	out := mat.DenseCopyOf(axes)
	sin, cos := math.Sincos(angle)
	for i := range axes.RawMatrix().Rows {
		x, y := axes.At(i, 0), axes.At(i, 1)
		out.Set(i, 0, cos*x+sin*y)
		out.Set(i, 1, cos*y-sin*x)
	}
	return out
}

// means draws the means, the closest two at the separation.
func (b BlackBox) means(rng *rand.Rand, factors []*mat.Dense) [][]float64 {
	means := make([][]float64, b.Components)
	for i := range means {
		means[i] = make([]float64, b.Columns)
		for j := range means[i] {
			if b.Arrangement == Spread {
				means[i][j] = rng.NormFloat64()
			}
		}
	}
	if b.Separation > 0 && b.Components > 1 {
		grow := b.Separation / nearest(means, factors)
		for _, m := range means {
			floats.Scale(grow, m)
		}
	}
	return means
}

// nearest returns the Mahalanobis distance of the closest two.
func nearest(means [][]float64, factors []*mat.Dense) float64 {
	least := math.Inf(1)
	for i := range means {
		for j := range i {
			least = min(least, averageDistance(means[i], means[j], factors[i], factors[j]))
		}
	}
	return least
}

// averageDistance returns the Mahalanobis distance under the average of two covariances.
func averageDistance(a, b []float64, fa, fb *mat.Dense) float64 {
	d := len(a)
	var first, second mat.Dense
	first.Mul(fa, fa.T())
	second.Mul(fb, fb.T())
	average := mat.NewSymDense(d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			average.SetSym(i, j, (first.At(i, j)+second.At(i, j))/2)
		}
	}
	var ch mat.Cholesky
	if !ch.Factorize(average) {
		return 0
	}
	diff := mat.NewVecDense(d, floats.SubTo(make([]float64, d), a, b))
	var solved mat.VecDense
	if err := ch.SolveVecTo(&solved, diff); err != nil {
		return 0
	}
	return math.Sqrt(mat.Dot(diff, &solved))
}

// change draws the affine change x -> Cx + c.
func (b BlackBox) change(rng *rand.Rand) (*mat.Dense, []float64) {
	c, origin := mat.NewDense(b.Columns, b.Columns, nil), make([]float64, b.Columns)
	for j := range origin {
		c.Set(j, j, math.Pow(10, uniform(rng, -usualUnits, usualUnits)))
		origin[j] = farOffset * rng.NormFloat64()
	}
	return c, origin
}
