package privacy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
)

// The Monte-Carlo tests of this package make fewer than 200 statistical decisions at
// stattest.FalseAlarm each: their false-alarm rate is below 2e-7.
const alpha = stattest.FalseAlarm

// maskLoss draws the privacy loss ln(p/q) of I + eta G against diag(e^(l/2)) (I + eta G), under the
// first.
func maskLoss(r *rand.Rand, l []float64, d int, eta float64) (loss float64) {
	for _, x := range l {
		if x == 0 {
			continue
		}
		c, g := math.Exp(x), r.NormFloat64()
		square, shift := g*g, (1+eta*g-math.Sqrt(c))/eta
		rest := 0.0
		for range d - 1 {
			z := r.NormFloat64()
			rest += z * z
		}
		loss += (shift*shift+rest)/(2*c) - (square+rest)/2 + float64(d)*x/2
	}
	return loss
}

// hits is how often a coin of probability (1 - e^(eps-loss))+ falls: Binomial(n, delta(eps)),
// exactly.
func hits(r *rand.Rand, n int, eps float64, loss func() float64) (count int) {
	for range n {
		if r.Float64() < -math.Expm1(eps-loss()) {
			count++
		}
	}
	return count
}

// spectra within Gamma, of which the first is the worst.
var spectra = []struct {
	name string
	at   func(d, i int) float64 // over Gamma
}{
	{"one falls", func(_, i int) float64 { return -float64(max(0, 1-i)) }},
	{"one grows", func(_, i int) float64 { return float64(max(0, 1-i)) }},
	{"all fall", func(d, _ int) float64 { return -1 / math.Sqrt(float64(d)) }},
	{"all grow", func(d, _ int) float64 { return 1 / math.Sqrt(float64(d)) }},
	{"alternating", func(d, i int) float64 { return float64(1-2*(i%2)) / math.Sqrt(float64(d)) }},
}

// TestMaskLoss draws the exact loss of the mask before it is squared, at the (epsilon, delta) that
// its curve is converted to: delta holds for every spectrum and both signs, is not 50 times too
// large for the worst, and half the noise is caught.
func TestMaskLoss(t *testing.T) {
	const eps, delta = 1, 1e-3
	most := 40_000
	if os.Getenv("GAUZE_LONG") != "" {
		most *= 10
	}
	for _, c := range []struct {
		d   int
		eta float64
	}{{2, .28}, {3, .23}, {3, .05}, {6, .163}, {11, .12}} {
		r := rand.New(rand.NewPCG(stattest.Seed(t), uint64(c.d)))
		m := CovarianceMask{Dimension: c.d, Eta: c.eta}
		m.Gamma = largestWhere(func(x float64) bool {
			return x < minGamma || x <= 1 && CovarianceMask{c.d, x, c.eta}.Curve().Epsilon(delta) <= eps
		})
		for j, s := range spectra {
			t.Run(fmt.Sprintf("D=%d eta=%g %s", c.d, c.eta, s.name), func(t *testing.T) {
				l, n := make([]float64, c.d), most
				if j == 0 {
					n *= 10 // enough to tell delta from delta/50
				}
				for i := range l {
					l[i] = m.Gamma * s.at(c.d, i)
				}
				count := func(eta float64) int { return hits(r, n, eps, func() float64 { return maskLoss(r, l, c.d, eta) }) }
				right := count(c.eta)
				t.Logf("Gamma %.4f: delta %.2g of %g", m.Gamma, float64(right)/float64(n), delta)
				stattest.GoodAtMost(t, right, n, delta, alpha)
				if j == 0 {
					stattest.BadAtMost(t, right, n, delta/50, alpha)
					stattest.BadAtMost(t, count(c.eta/2), n, delta, alpha)
				}
			})
		}
	}
}

// TestParameterMaskLoss is the same for one and two components in one column, every parameter at
// its worst.
func TestParameterMaskLoss(t *testing.T) {
	const eps, delta, n = 1, 1e-3, 400_000
	r := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	for _, k := range []int{1, 2} {
		at := func(x float64) ParameterMask { return ParameterMask{k, 1, x, .5, .4, .25} }
		gamma := largestWhere(func(x float64) bool { return x < minGamma || x <= 1 && at(x).Curve().Epsilon(delta) <= eps })
		for _, sign := range []float64{-1, 1} {
			count := func(f float64) int {
				p, x := at(gamma), sign*math.Log1p(gamma)
				shift := gamma * math.Min(1, math.Exp(x/2))
				return hits(r, n, eps, func() (loss float64) {
					for range k {
						g, z := r.NormFloat64(), r.NormFloat64()
						w, v := gamma/(f*p.EtaWeight), shift/(f*p.EtaMean)
						loss += w*w/2 + w*g + ((z+v)*(z+v)/math.Exp(x)-z*z+x)/2 + maskLoss(r, []float64{x}, 1, f*p.EtaCov)
					}
					return loss
				})
			}
			right := count(1)
			t.Logf("k = %d, sign %g, Gamma %.4f: delta %.2g of %g", k, sign, gamma, float64(right)/n, delta)
			stattest.GoodAtMost(t, right, n, delta, alpha)
			if sign < 0 {
				stattest.BadAtMost(t, right, n, delta/50, alpha)
				stattest.BadAtMost(t, count(.5), n, delta, alpha)
			}
		}
	}
}
