package madeup

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/model"
)

// strayRow is the label of a row that belongs to no component.
const strayRow = -1

// An Instance is a mixture and a table drawn from it.
type Instance struct {
	Truth  *model.Mixture
	Rows   *mat.Dense // n x d
	Labels []int      // of each row: its component, or -1 of one that is stray
}

// Streams of random numbers of one seed: the mixture of a seed is the same for every number of
// rows.
const (
	truthStream = iota + 1
	rowStream
)

// drawn draws n rows of a mixture, by the stream of the seed.
func drawn(truth *model.Mixture, seed uint64, n int) (*Instance, error) {
	sampler, err := model.NewSampler(truth)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(seed, rowStream))
	out := &Instance{Truth: truth, Rows: mat.NewDense(n, truth.Dim(), nil), Labels: make([]int, n)}
	for i := range n {
		out.Labels[i] = sampler.Row(out.Rows.RawRowView(i), rng)
	}
	return out, nil
}

// Draw draws a mixture and n rows: a function of s, seed and n. The first rows of a longer table
// are those of a shorter one.
func (s Spec) Draw(seed uint64, n int) (*Instance, error) {
	truth, err := s.Truth(seed)
	if err != nil {
		return nil, err
	}
	sampler, err := model.NewSampler(truth)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(seed, rowStream))
	out := &Instance{Truth: truth, Rows: mat.NewDense(n, s.Columns, nil), Labels: make([]int, n)}
	centre := truth.Mean()
	for i := range n {
		row := out.Rows.RawRowView(i)
		if s.OutlierShare > 0 && rng.Float64() < s.OutlierShare {
			out.Labels[i] = strayRow
			s.outlier(row, centre, rng)
			continue
		}
		c := sampler.Row(row, rng)
		out.Labels[i] = c
		if s.TailDegrees > 0 {
			stretch(row, truth.Components[c].Mean, tail(s.TailDegrees, rng))
		}
	}
	return out, nil
}

// Truth draws the mixture of a seed.
func (s Spec) Truth(seed uint64) (*model.Mixture, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(seed, truthStream))
	var factors []*mat.Dense
	var means [][]float64
	if s.ScaleRatio > 0 {
		first := s.Components / 2
		factors, means = s.twoGroups(rng, first)
	} else {
		factors, means, _ = s.group(rng, s.Components)
	}
	gs := make([]model.Gaussian, s.Components)
	for i := range gs {
		for j := range means[i] {
			means[i][j] = unit * (means[i][j] + offset)
		}
		factors[i].Scale(unit, factors[i])
		cov, err := model.FullFromFactor(factors[i])
		if err != nil {
			return nil, err
		}
		gs[i] = model.Gaussian{Mean: means[i], Cov: cov}
	}
	return model.New(nil, s.weights(rng), gs)
}

// group draws k covariance factors and means around the origin; wide is the root of the largest
// eigenvalue.
func (s Spec) group(rng *rand.Rand, k int) (factors []*mat.Dense, means [][]float64, wide float64) {
	for range k {
		f, sd := s.factor(rng)
		factors = append(factors, f)
		wide = max(wide, sd)
	}
	for range k {
		m := make([]float64, s.Columns)
		for j := range m {
			m[j] = rng.NormFloat64()
		}
		means = append(means, m)
	}
	if k > 1 {
		grow := s.gap() * wide / closest(means, means)
		for _, m := range means {
			floats.Scale(grow, m)
		}
	}
	return factors, means, wide
}

// twoGroups draws two groups; the second is shrunk and moved away in a random direction.
func (s Spec) twoGroups(rng *rand.Rand, first int) ([]*mat.Dense, [][]float64) {
	factors, means, wide := s.group(rng, first)
	narrow, near, _ := s.group(rng, s.Components-first)
	for i := range narrow {
		narrow[i].Scale(1/s.ScaleRatio, narrow[i])
		floats.Scale(1/s.ScaleRatio, near[i])
	}
	// From a component of the first group, where the groups are too close, in a random direction to
	// where they no longer are: the distance of the closest pair is continuous, so bisection finds
	// a place at the distance wanted.
	away := direction(rng, s.Columns)
	near = shifted(near, means[0], 1)
	low, high := 0.0, 1.0
	for closest(means, shifted(near, away, high)) < groupDistance*wide {
		high *= 2
	}
	for range 60 {
		if mid := (low + high) / 2; closest(means, shifted(near, away, mid)) < groupDistance*wide {
			low = mid
		} else {
			high = mid
		}
	}
	return append(factors, narrow...), append(means, shifted(near, away, high)...)
}

// factor draws F with covariance F F^T, and the root of its largest eigenvalue.
func (s Spec) factor(rng *rand.Rand) (*mat.Dense, float64) {
	d := s.Columns
	f := mat.NewDense(d, d, nil)
	sds := make([]float64, d)
	for j := range sds {
		switch s.Covariance {
		case Ellipsoid:
			sds[j] = math.Exp(rng.Float64() * math.Log(leastEigenvalue) / 2)
		case Conditioned:
			sds[j] = math.Pow(s.Kappa, -.5*float64(j)/math.Max(1, float64(d-1)))
		default:
			sds[j] = 1
		}
		f.Set(j, j, sds[j])
	}
	if s.Covariance != Sphere {
		f.Mul(Rotation(rng, d), f)
	}
	return f, floats.Max(sds)
}

// packed draws k means at distances of at least 1, in a ball that grows when a mean finds no place.
func packed(rng *rand.Rand, d, k int) (means [][]float64) {
	const tries, growth = 30, 1.05
	for radius := .5; len(means) < k; radius *= growth {
		for range tries {
			m := [][]float64{inBall(rng, d, radius)}
			if len(means) < k && closest(means, m) >= 1 {
				means = append(means, m[0])
			}
		}
	}
	return means
}

// inBall returns a uniformly random point of a ball around the origin.
func inBall(rng *rand.Rand, d int, radius float64) []float64 {
	m := direction(rng, d)
	floats.Scale(radius*math.Pow(rng.Float64(), 1/float64(d)), m)
	return m
}

func (s Spec) weights(rng *rand.Rand) []float64 {
	if s.Weights != nil {
		return append([]float64(nil), s.Weights...)
	}
	w := make([]float64, s.Components)
	share, rest := make([]float64, s.Components), 0.0
	for i := 1; i < len(w); i++ {
		share[i] = rng.ExpFloat64()
		rest += share[i]
	}
	for i := range w {
		w[i] = 1 / float64(len(w))
		if s.Uneven && len(w) > 1 {
			w[i] = leastUneven + (1-leastUneven*float64(len(w)))*share[i]/rest
		}
	}
	return w
}

// outlier fills row with an outlier.
func (s Spec) outlier(row, centre []float64, rng *rand.Rand) {
	far := s.OutlierFrom * math.Pow(s.OutlierTo/s.OutlierFrom, rng.Float64())
	floats.AddScaledTo(row, centre, unit*far, direction(rng, len(row)))
}

// tail returns the factor that makes a Gaussian row one of a multivariate t.
func tail(degrees float64, rng *rand.Rand) float64 {
	chi2 := 0.0
	for left := degrees; left > 0; left -= 2 {
		if left >= 2 {
			chi2 += 2 * rng.ExpFloat64()
			continue
		}
		z := rng.NormFloat64()
		chi2 += left * z * z // exact for whole degrees of freedom
	}
	return math.Sqrt(degrees / chi2)
}

// stretch moves a row away from its mean by a factor.
func stretch(row, mean []float64, factor float64) {
	for j, m := range mean {
		row[j] = m + factor*(row[j]-m)
	}
}

// direction returns a uniformly random unit vector.
func direction(rng *rand.Rand, d int) []float64 {
	v := make([]float64, d)
	for floats.Norm(v, 2) == 0 {
		for j := range v {
			v[j] = rng.NormFloat64()
		}
	}
	floats.Scale(1/floats.Norm(v, 2), v)
	return v
}

// Rotation draws a random orthogonal matrix; its axes are uniformly random up to signs.
func Rotation(rng *rand.Rand, d int) *mat.Dense {
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
	return &q
}

// closest returns the least distance of two different vectors, one of each list.
func closest(a, b [][]float64) float64 {
	least := math.Inf(1)
	for i := range a {
		for j := range b {
			if &a[i][0] != &b[j][0] {
				least = min(least, floats.Distance(a[i], b[j], 2))
			}
		}
	}
	return least
}

func shifted(means [][]float64, away []float64, by float64) [][]float64 {
	out := make([][]float64, len(means))
	for i, m := range means {
		out[i] = floats.AddScaledTo(make([]float64, len(m)), m, by, away)
	}
	return out
}
