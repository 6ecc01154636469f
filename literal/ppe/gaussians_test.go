package ppe

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
)

// The log ratio of two Gaussians at a draw of the first exceeds its mean, their divergence, by what
// the lemma says with probability delta at most: in the frame of the first, where the inverse of
// the second's covariance is diagonal, T, and the means differ by m, the ratio is (|T^1/2 (z-m)|^2
// - |z|^2 - ln det T)/2. (At most 1e-9 for a false alarm each.)
//
// Shows: [PPE] Lemma 2.3.6.
func TestLemma236(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 236))
	const runs = 5000
	exceeded := 0
	for _, d := range []int{1, 2, 10} {
		for _, far := range []float64{1e-3, .1, 1} {
			for _, delta := range []float64{.5, .1, 1e-2} {
				inverse, m := make([]float64, d), make([]float64, d)
				divergence, frobenius, off, norm, apart := 0., 0., 0., 0., 0.
				for i := range d {
					v, shift := math.Exp(far*rng.NormFloat64()), far*rng.NormFloat64()
					inverse[i], m[i] = v, shift
					divergence += (v - 1 - math.Log(v) + v*shift*shift) / 2
					frobenius, off = math.Hypot(frobenius, v-1), math.Max(off, math.Abs(v-1))
					norm, apart = math.Max(norm, v), math.Hypot(apart, shift)
				}
				log := math.Log(2 / delta)
				most := divergence + 2*frobenius*math.Sqrt(log) + 2*off*log + norm*apart*math.Sqrt(2*log)
				above := 0
				for range runs {
					ratio := 0.
					for i, v := range inverse {
						z := rng.NormFloat64()
						ratio += (v*(z-m[i])*(z-m[i]) - z*z - math.Log(v)) / 2
					}
					if ratio > most {
						above++
					}
					if ratio > divergence {
						exceeded++
					}
				}
				stattest.GoodAtMost(t, above, runs, delta, 1e-9)
			}
		}
	}
	if exceeded < 27*runs/10 {
		t.Errorf("%d ratios above their mean: the draws are others", exceeded)
	}
}

// The total variation of two Gaussians in one column, by quadrature, lies between a 200th of the
// least of 1 and the difference of their parameters, and 3/2 of that of variances and 1/2 of that
// of means; and the upper bound is not far off.
//
// Shows: [PPE] Theorem 2.4.2.
func TestTheorem242(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 242))
	closest := 0.
	for range 400 {
		far := math.Exp(-6 * rng.Float64())
		mean, sd := far*rng.NormFloat64()*float64(rng.IntN(2)), math.Exp(far*rng.NormFloat64()*float64(rng.IntN(2)))
		const step = 2e-3
		tv, reach := 0., 8+math.Abs(mean)+8*sd
		for x := -reach; x < reach; x += step {
			z := (x - mean) / sd
			tv += step / 2 * math.Abs(math.Exp(-x*x/2)-math.Exp(-z*z/2)/sd) / math.Sqrt(2*math.Pi)
		}
		variances, means := math.Abs(sd*sd-1), math.Abs(mean)
		least, most := math.Min(1, math.Max(variances, 40*means))/200, 1.5*variances+means/2
		if tv < least-1e-6 || tv > most+1e-6 {
			t.Errorf("N(0, 1), N(%v, %v^2): total variation %v, bounds %v and %v", mean, sd, tv, least, most)
		}
		if most > 1e-3 {
			closest = math.Max(closest, tv/most)
		}
	}
	if closest < .7 {
		t.Errorf("at most %v of the bound: the search sees little", closest)
	}
}

// The private learner that the reduction makes of Moitra and Valiant's: on rows of two components
// it ends in a mixture, under both relations, whose dist_PARAM from the truth is within alpha but
// for the mask's noise; so is dist_GMM, which is at most that (Lemma 7.1.2). With a third of the
// rows it ends in none. Rows and noise are seeded: no false alarms.
//
// Shows: [PPE] Corollary 7.2.2.
func TestCorollary722(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 722))
	for _, rel := range relations {
		for _, n := range []int{100_000, 300_000} {
			f, truth, alpha := cell{2, 1, n, 40, moitraValiant().Name, nil}.fit(t, rel, rng)
			if (f.Model != nil) != (n == 300_000) {
				t.Errorf("%v, n %d: %+v %+v", rel, n, f.Refused, f.NoRelease)
			} else if far := distance(t, truth, f); f.Model != nil && far > 1.2*alpha {
				t.Errorf("%v, n %d: dist_PARAM %v, alpha %v", rel, n, far, alpha)
			}
		}
	}
}
