package madeup

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/model"
)

// Arrangements of a BlackBox; it knows Nested, Crossing and Parallel too, in any number of columns
// that they can be made for.
const (
	// Spread: means anywhere, the closest two at the separation.
	Spread Arrangement = ""
	// Crowded: no mean much farther from the next than the separation.
	Crowded Arrangement = "crowded"
)

// Of the random mixtures of a BlackBox.
const (
	usualCondition = 3   // of a component's covariance
	longCondition  = 100 // of one that is Crossing or Parallel
	unevenWeights  = 2   // ratio of the weights
	usualUnits     = 3   // powers of ten up and down
	turnedUnits    = 1   // of those before the rotation
	farOffset      = 1e6 // of the origin in every column; of Wide ones in the column's units
	grossFactor    = 30  // an outlier's distance from the centre, over that of another row
)

// A BlackBox says which mixtures and tables are drawn, one for each seed, to try out a method that
// makes any learner of mixtures private. No step of such a method depends on the columns' units,
// origins and axes, so these are anything.
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
	// LeastWeight, if not 0, is the smallest weight. Default: random weights within a factor of 2.
	LeastWeight float64 `json:"least_weight,omitempty"`
	// Condition bounds the condition numbers of the components' covariances, whose eigenvalues are
	// log-uniform. Default 3.
	Condition float64 `json:"condition,omitempty"`
	// Sizes, if not 0, is a ratio within which the components' standard deviations differ besides,
	// log-uniform.
	Sizes float64 `json:"sizes,omitempty"`
	// Growth, if not 0, is the ratio of the next size of Nested components to the last instead of a
	// random one from 4 to 10.
	Growth float64 `json:"growth,omitempty"`
	// Law names the distribution of a component's rows, which have its mean and covariance: uniform
	// on a box, gamma3 (skewed) or t5; or cauchy, which has neither, with them as its centre and
	// scale. Default: Gaussian.
	Law string `json:"law,omitempty"`
	// Outliers is the part of the rows that lie 30 times as far from the centre as others.
	Outliers float64 `json:"outliers,omitempty"`
	// Wide units of the columns are log-uniform from 1e-9 to 1e12 instead of 1e-3 to 1e3.
	Wide bool `json:"wide,omitempty"`
	// Turned mixes columns of units from 1/10 to 10 by a rotation before they get the units above.
	Turned bool `json:"turned,omitempty"`
}

// blackBoxLaws by name.
var blackBoxLaws = map[string]law{
	"": gaussian, "uniform": laws["uniform"], "t5": laws["t5"],
	"gamma3": each(standard(raw{func(rng *rand.Rand) float64 { return rng.ExpFloat64() + rng.ExpFloat64() + rng.ExpFloat64() }, 3, math.Sqrt(3)})),
	"cauchy": func(w []float64, rng *rand.Rand) bool {
		s := tail(1, rng)
		for i := range w {
			w[i] = s * rng.NormFloat64()
		}
		return false
	},
}

// Validate returns nil or the first fault.
func (b BlackBox) Validate() error {
	apart := b.Arrangement != Nested && b.Arrangement != Crossing
	_, known := blackBoxLaws[b.Law]
	for _, f := range []struct {
		bad           bool
		field, wanted string
		got           any
	}{
		{b.Columns < 1, "columns", "at least 1", b.Columns},
		{b.Components < 1, "components", "at least 1", b.Components},
		{b.Components > 1 && apart != (b.Separation > 0), "separation", "a positive number, or none of nested or crossing components", b.Separation},
		{b.Arrangement == Crossing && (b.Columns < 2 || b.Components > 3), "arrangement", "at least 2 columns and at most 3 components", b.Arrangement},
		{b.LeastWeight < 0 || b.LeastWeight*float64(b.Components) > 1, "least weight", "at most 1/k", b.LeastWeight},
		{b.Condition != 0 && !(b.Condition >= 1), "condition", "at least 1, or 0", b.Condition},
		{b.Growth != 0 && !(b.Growth > 1 && b.Arrangement == Nested), "growth", "a ratio above 1 of nested components, or 0", b.Growth},
		{b.Sizes != 0 && !(b.Sizes >= 1), "sizes", "a ratio of at least 1, or 0", b.Sizes},
		{!known, "law", "uniform, gamma3, t5 or cauchy, or none", b.Law},
		{b.Outliers < 0 || b.Outliers >= 1, "outliers", "a share below 1", b.Outliers},
	} {
		if f.bad {
			return fmt.Errorf("problem: %s: wanted %s, got %v", f.field, f.wanted, f.got)
		}
	}
	return nil
}

// Truth draws the mixture of a seed; of rows that are not Gaussian, that of the Gaussians with
// their means and covariances.
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
func (b BlackBox) Draw(seed uint64, n int) (*Instance, error) { return b.table(seed, rowStream, n) }

// heldStream is that of rows which no fit has seen.
const heldStream = monteCarloStream + 1

// Held draws n more rows of a seed's mixture.
func (b BlackBox) Held(seed uint64, n int) (*Instance, error) { return b.table(seed, heldStream, n) }

func (b BlackBox) table(seed, stream uint64, n int) (*Instance, error) {
	truth, err := b.Truth(seed)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(seed, stream))
	out := &Instance{Truth: truth, Rows: mat.NewDense(n, b.Columns, nil), Labels: make([]int, n)}
	draw, w := blackBoxLaws[b.Law], make([]float64, b.Columns)
	centre := truth.Mean()
	var factors []*mat.Dense
	for _, g := range truth.Components {
		factors = append(factors, g.Cov.Factor())
	}
	for i := range n {
		c := pick(truth.Weights, rng.Float64())
		draw(w, rng)
		row := out.Rows.RawRowView(i)
		for j := range row {
			row[j] = truth.Components[c].Mean[j] + floats.Dot(factors[c].RawRowView(j), w)
		}
		out.Labels[i] = c
		if b.Outliers > 0 && rng.Float64() < b.Outliers {
			out.Labels[i] = strayRow
			stretch(row, centre, grossFactor)
		}
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
	if b.LeastWeight > 0 && len(w) > 1 {
		// What the others have above the least one is shared out at random, so that there is none
		// below it.
		spare := 1 - b.LeastWeight*float64(len(w))
		least := rng.IntN(len(w))
		w[least] = 0
		floats.Scale(spare/floats.Sum(w), w)
		floats.AddConst(b.LeastWeight, w)
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
			sds[j] = math.Pow(b.condition(), rng.Float64()/2)
		}
		switch b.Arrangement {
		// as far apart in their angles as they can be, in the plane of the first two of the shared
		// axes
		case Crossing:
			axes = plane(shared, turn+math.Pi*float64(i)/float64(b.Components))
			sds[0] = math.Sqrt(longCondition) * sds[1]
		case Parallel:
			axes = mat.DenseCopyOf(shared)
			for j := 1; j < d; j++ {
				sds[j] *= math.Sqrt(longCondition)
			}
		case Nested:
			grow := uniform(rng, leastGrowth, mostGrowth)
			if b.Growth > 0 {
				grow = b.Growth
			}
			if i > 0 {
				size *= grow
			}
		}
		own := size
		if b.Sizes > 1 {
			own *= math.Pow(b.Sizes, rng.Float64())
		}
		floats.Scale(own, sds)
		for a := range d {
			floats.Mul(axes.RawRowView(a), sds)
		}
		out = append(out, axes)
	}
	return out
}

func (b BlackBox) condition() float64 {
	if b.Condition == 0 {
		return usualCondition
	}
	return b.Condition
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
	d, k := b.Columns, b.Components
	var means [][]float64
	if b.Arrangement == Crowded {
		means = packed(rng, d, k)
	}
	for i := len(means); i < k; i++ {
		m := make([]float64, d)
		switch b.Arrangement {
		case Nested, Crossing:
		case Parallel: // along the thin axis
			mat.Col(m, 0, factors[0])
			floats.Scale(float64(i)*uniform(rng, 1, 1.5), m)
		default:
			for j := range m {
				m[j] = rng.NormFloat64()
			}
		}
		means = append(means, m)
	}
	if b.Separation > 0 && k > 1 {
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
	d := b.Columns
	c := mat.NewDense(d, d, nil)
	for j := range d {
		c.Set(j, j, 1)
	}
	if b.Turned {
		c = Rotation(rng, d)
		for j := range d {
			unit := math.Pow(10, uniform(rng, -turnedUnits, turnedUnits))
			for i := range d {
				c.Set(i, j, unit*c.At(i, j))
			}
		}
	}
	low, high := -usualUnits+0.0, usualUnits+0.0
	if b.Wide {
		low, high = leastScale, largestScale
	}
	origin := make([]float64, d)
	for j := range origin {
		unit := math.Pow(10, uniform(rng, low, high))
		floats.Scale(unit, c.RawRowView(j))
		origin[j] = farOffset * rng.NormFloat64()
		if b.Wide {
			origin[j] *= unit
		}
	}
	return c, origin
}
