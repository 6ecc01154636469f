package univariate

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

// A trial is one fit at delta 1e-6, which pays for thresholds; or, with noDelta, at the rho that
// buys as much.
type trial struct {
	rows       [][]float64
	eps        float64
	relation   privacy.Relation
	components int // 0: open, up to 10
	shape      estimate.CovarianceType
	known      float64 // variance, if positive
	unit       float64 // that values are recorded in, if positive
	noDelta    bool
	noise      kerneltest.Options
}

func (c trial) asked() estimatetest.Case {
	out := estimatetest.Case{Rows: c.rows, Columns: 1, Relation: c.relation, Epsilon: c.eps, Delta: delta, Components: c.components, MaxComponents: 10, Covariance: c.shape, Noise: c.noise}
	if c.known > 0 {
		out.KnownCovariance = [][]float64{{c.known}}
	}
	if c.unit > 0 {
		out.RoundedTo = []float64{c.unit}
	}
	if c.noDelta {
		out.Mu, out.Epsilon, out.Delta = privacy.MuOf(c.eps, delta), 0, 0
	}
	return out
}

func (c trial) problem() estimate.Problem { return c.asked().Problem() }

func (c trial) fit(t testing.TB) estimatetest.Fit {
	t.Helper()
	return estimatetest.RunChecked(t, New(), c.asked())
}

// A part is one component of a truth.
type part struct{ weight, mean, sd float64 }

func mixtureOf(t testing.TB, parts []part) *model.Mixture {
	t.Helper()
	var w []float64
	var gs []model.Gaussian
	for _, p := range parts {
		cov, err := model.NewFull(mat.NewSymDense(1, []float64{p.sd * p.sd}))
		if err != nil {
			t.Fatal(err)
		}
		w, gs = append(w, p.weight), append(gs, model.Gaussian{Mean: []float64{p.mean}, Cov: cov})
	}
	m, err := model.New(nil, w, gs)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// equal weights.
func evenly(parts ...part) []part {
	for i := range parts {
		parts[i].weight = 1 / float64(len(parts))
	}
	return parts
}

func power(rng *rand.Rand, low, high float64) float64 {
	return math.Pow(10, low+(high-low)*rng.Float64())
}

// families are random mixtures at any scale, by the way in which their components lie.
var families = []struct {
	name string
	rows int
	draw func(rng *rand.Rand) []part
}{
	{"one", 500, func(rng *rand.Rand) []part {
		sd := power(rng, -9, 12)
		return evenly(part{0, sd * power(rng, -1, 10), sd})
	}},
	{"apart", 2000, func(rng *rand.Rand) (parts []part) {
		sd, at := power(rng, -9, 3), 0.0
		for range 3 {
			s := sd * power(rng, 0, 5)
			at += 1e6 * sd * power(rng, .5, 2)
			parts = append(parts, part{0, at - 5e7*sd, s})
		}
		return evenly(parts...)
	}},
	{"overlapping", 2000, func(rng *rand.Rand) []part {
		sd := power(rng, -9, 12)
		at, b := sd*power(rng, 0, 3), sd*power(rng, -.3, .3)
		return evenly(part{0, at, sd}, part{0, at + (2.2+rng.Float64())*math.Hypot(sd, b)/math.Sqrt2, b})
	}},
	{"one mean", 2500, func(rng *rand.Rand) []part {
		sd := power(rng, -9, 6)
		at := sd * power(rng, 0, 3)
		return evenly(part{0, at, sd}, part{0, at, sd * power(rng, 1, 6)})
	}},
	{"pairs", 4000, func(rng *rand.Rand) []part {
		a, b := power(rng, -3, 3), power(rng, -3, 3)
		return evenly(part{0, 0, a}, part{0, 3 * a, .6 * a}, part{0, 1e4, b}, part{0, 1e4 + 4*b, 1.5 * b})
	}},
}

// table draws rows.
func table(t testing.TB, rng *rand.Rand, parts []part, n int) [][]float64 {
	return estimatetest.Draw(t, mixtureOf(t, parts), n, rng)
}
