package km21

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// (epsilon, 0)-DP is epsilon^2/2-zCDP: the Rényi divergence of randomised response, than which no
// (epsilon, 0)-DP mechanism has more, is at most alpha epsilon^2/2 at every order; and rho-zCDP
// with rho = epsilon^2/2 is (epsilon^2/2 + epsilon sqrt(2 ln(1/delta)), delta)-DP: the tight
// conversion gives no more.
//
// Shows: [TALK] Lemma on variants of privacy.
func TestVariantsOfPrivacy(t *testing.T) {
	nearest := 0.0
	for eps := .01; eps < 20; eps *= 1.3 {
		p := 1 / (1 + math.Exp(-eps))
		for alpha := 1.01; alpha < 60; alpha *= 1.2 {
			high := alpha*math.Log(p) + (1-alpha)*(math.Log(p)-eps) // 1-p is p e^-epsilon
			low := alpha*(math.Log(p)-eps) + (1-alpha)*math.Log(p)
			divergence := (high + math.Log1p(math.Exp(low-high))) / (alpha - 1)
			most := alpha * eps * eps / 2
			if divergence > most*(1+1e-6) {
				t.Errorf("epsilon %v: the divergence of order %v is %v, at most %v", eps, alpha, divergence, most)
			}
			nearest = math.Max(nearest, divergence/most)
		}
		for _, delta := range []float64{.1, 1e-3, 1e-6, 1e-12} {
			rho := eps * eps / 2
			simple := rho + eps*math.Sqrt(2*math.Log(1/delta))
			if tight := privacy.EpsilonOfRho(delta, rho); tight > simple {
				t.Errorf("rho %v, delta %v: epsilon %v, at most %v", rho, delta, tight, simple)
			}
		}
	}
	if nearest < .99 {
		t.Errorf("nowhere nearer to alpha epsilon^2/2 than %v of it", nearest)
	}
}

// The Laplace mechanism of scale D/epsilon: for answers f and f' at distance D in the first norm
// at most, no output is exp(epsilon) times as likely; some are exactly so.
//
// Shows: [TALK] Theorem of the Laplace mechanism.
func TestLaplaceMechanism(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 4))
	most := 0.0
	for range 20000 {
		d, eps := 1+rng.IntN(5), 3*rng.Float64()
		f, g, distance := make([]float64, d), make([]float64, d), 0.0
		for i := range d {
			f[i], g[i] = rng.NormFloat64(), rng.NormFloat64()
			distance += math.Abs(f[i] - g[i])
		}
		ratio := 0.0
		for i := range d {
			at := 3 * rng.NormFloat64()
			ratio += (math.Abs(at-g[i]) - math.Abs(at-f[i])) / (distance / eps)
		}
		if ratio > eps*slack {
			t.Fatalf("an output is exp(%v) times as likely, epsilon is %v", ratio, eps)
		}
		most = math.Max(most, ratio/eps)
	}
	if most < .999 {
		t.Errorf("at most exp(%v epsilon) was met", most)
	}
}

// The Gaussian mechanism of sd D/sqrt(2 rho) is rho-zCDP: the Rényi divergence of order alpha, by
// quadrature, is alpha rho, and a tenth less noise has more.
//
// Shows: [TALK] Theorem of the Gaussian mechanism.
func TestGaussianMechanism(t *testing.T) {
	divergence := func(shift, sd, alpha float64) float64 {
		const step = 1e-3
		center, sum := alpha*shift/sd, 0.0
		for z := center - 12; z < center+12; z += step {
			sum += math.Exp(alpha*(-(z-shift/sd)*(z-shift/sd)/2)-(1-alpha)*z*z/2) * step / math.Sqrt(2*math.Pi)
		}
		return math.Log(sum) / (alpha - 1)
	}
	for _, sensitivity := range []float64{.1, 1, 7} {
		for _, rho := range []float64{.01, .5, 2} {
			for _, alpha := range []float64{1.1, 2, 5} {
				sd := sensitivity / math.Sqrt(2*rho)
				if got := divergence(sensitivity, sd, alpha); math.Abs(got/(alpha*rho)-1) > 1e-6 {
					t.Errorf("rho %v, order %v: %v, want %v", rho, alpha, got, alpha*rho)
				}
				if got := divergence(sensitivity, .9*sd, alpha); got < 1.2*alpha*rho {
					t.Errorf("rho %v, order %v, a tenth less noise: %v", rho, alpha, got)
				}
			}
		}
	}
}
