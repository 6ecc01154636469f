package madeup

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/model"
)

// An Instance is a mixture and a table drawn from it.
type Instance struct {
	Truth  *model.Mixture
	Rows   *mat.Dense // n x d
	Labels []int      // of each row: its component
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
	m := Direction(rng, d)
	floats.Scale(radius*math.Pow(rng.Float64(), 1/float64(d)), m)
	return m
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

// Direction returns a uniformly random unit vector.
func Direction(rng *rand.Rand, d int) []float64 {
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
