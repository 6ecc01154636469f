package spectral_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/learner/spectral"
)

// draw returns n rows of k spherical Gaussians of sd 1..2 whose means are gap apart, their means,
// sds and weights.
func draw(rng *rand.Rand, n, d, k int, gap float64) (rows, truth [][]float64) {
	left := 0.0
	for j := range k {
		t := make([]float64, d+2)
		for c := range d {
			t[c] = 100
			if c == j%d {
				t[c] += gap * float64(1+j/d)
			}
		}
		t[d] = math.Log(1 + rng.Float64())
		t[d+1] = 1 + rng.Float64()
		left += t[d+1]
		truth = append(truth, t)
	}
	for _, t := range truth {
		t[d+1] /= left
	}
	for range n {
		u, j := rng.Float64(), 0
		for ; j < k-1 && u > truth[j][d+1]; j++ {
			u -= truth[j][d+1]
		}
		x := make([]float64, d)
		for c := range x {
			x[c] = truth[j][c] + math.Exp(truth[j][d])*rng.NormFloat64()
		}
		rows = append(rows, x)
	}
	return rows, truth
}

// errors are, for the estimate nearest to each component: |mean - mean| in its sigmas, |ln sigma -
// ln sigma|, |weight - weight|, worst of all.
func errors(est, truth [][]float64) (mean, sigma, weight float64) {
	d := len(truth[0]) - 2
	for _, t := range truth {
		best, least := est[0], math.Inf(1)
		for _, e := range est {
			s := 0.0
			for c := range d {
				s += (e[c] - t[c]) * (e[c] - t[c])
			}
			if s < least {
				best, least = e, s
			}
		}
		mean = math.Max(mean, math.Sqrt(least)/math.Exp(t[d]))
		sigma = math.Max(sigma, math.Abs(best[d]-t[d]))
		weight = math.Max(weight, math.Abs(best[d+1]-t[d+1]))
	}
	return mean, sigma, weight
}

// spherical are the components of Spheres: mean, ln sigma and weight.
func spherical(k int, peel bool, rows [][]float64, seed uint64) (out [][]float64, err error) {
	found, err := spectral.Spheres{Components: k, Peel: peel}.LearnMixture(rows, k, seed)
	for _, c := range found {
		out = append(out, append(append([]float64{}, c.Mean...), math.Log(c.Root[0][0]), c.Weight))
	}
	return out, err
}

// TestSeparated: both ways find separated components in blocks of 40 k rows. A component has at
// least 15 rows or so, whose mean errs by more than 1 + sqrt(d/8) sigmas with probability below
// 1e-6: the runs that fail are those of the learner, at most one in ten (k-means in a local
// optimum); with that probability .05 per run, 10 of 40 fail with probability 2e-5.
func TestSeparated(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	for _, c := range []struct {
		d, k int
		gap  float64
		peel bool
		bad  bool // so close that it must fail
	}{{2, 2, 10, false, false}, {2, 3, 15, false, false}, {10, 3, 15, false, false}, {10, 5, 20, false, false}, {60, 4, 25, false, false},
		{2, 2, 3000, true, false}, {10, 3, 3000, true, false}, {10, 3, 15, true, true}} {
		failed := 0
		const runs = 40
		for run := range runs {
			rows, truth := draw(rng, 40*c.k, c.d, c.k, c.gap)
			est, err := spherical(c.k, c.peel, rows, uint64(run))
			if err != nil || len(est) != c.k {
				failed++
				continue
			}
			mean, sigma, weight := errors(est, truth)
			if mean > 1+math.Sqrt(float64(c.d)/8) || sigma > .8 || weight > .3 {
				failed++
			}
		}
		t.Logf("%+v: %d of %d fail", c, failed, runs)
		if !c.bad && failed > runs/4 || c.bad && failed < runs*3/4 {
			t.Errorf("%+v: %d of %d runs fail", c, failed, runs)
		}
	}
}

// TestFunction: the estimates are a function of the rows and the seed, and the rows may be of any
// size.
func TestFunction(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	rows, _ := draw(rng, 100, 5, 3, 4)
	for _, peel := range []bool{false, true} {
		a, errA := spherical(3, peel, rows, 7)
		b, errB := spherical(3, peel, rows, 7)
		if !reflect.DeepEqual(a, b) || (errA == nil) != (errB == nil) {
			t.Errorf("peel %v: two runs differ", peel)
		}
	}
}

// TestNasty: too few rows, equal rows, huge rows: an error or estimates, and no panic.
func TestNasty(t *testing.T) {
	tables := map[string][][]float64{
		"none": nil, "one": {{1, 2}}, "equal": {{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
		"huge": {{1e308, -1e308}, {-1e308, 1e308}, {0, 1}, {1, 0}, {2, 2}, {1e300, 1}}, "tiny": {{5e-324, 0}, {0, 5e-324}, {0, 0}, {1e-300, 0}},
		"wide and equal": {{1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}},
		"wide and huge":  {{1e308, -1e308, 0, 1, 2}, {-1e308, 1e308, 1e308, 0, 0}, {0, 1, 2, 3, 1e308}, {1, 0, 0, 0, 0}, {2, 2, 0, 0, 0}, {1e300, 1, 0, 0, 0}},
		"wide and tiny":  {{5e-324, 0, 0, 0, 0}, {0, 5e-324, 0, 0, 0}, {0, 0, 0, 0, 0}, {1e-300, 0, 0, 0, 1e-310}, {0, 0, 0, 0, 0}, {0, 0, 0, 1e-323, 0}},
	}
	for name, rows := range tables {
		for k := 1; k < 4; k++ {
			for _, peel := range []bool{false, true} {
				est, err := spherical(k, peel, rows, 1)
				if err == nil && len(est) != k {
					t.Errorf("%s, k = %d: %d estimates", name, k, len(est))
				}
			}
		}
	}
	if _, err := (spectral.Spheres{}).Learn(tables["equal"], 1); err == nil {
		t.Error("no components: want an error")
	}
}

func BenchmarkLearn(b *testing.B) {
	rng := rand.New(rand.NewPCG(3, 4))
	rows, _ := draw(rng, 100, 10, 5, 20)
	for b.Loop() {
		_, _ = spectral.Spheres{Components: 5}.Learn(rows, 1)
	}
}
