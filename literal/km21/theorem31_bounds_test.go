package km21

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

func TestGaussianClass(t *testing.T) {
	for k, want := range map[int]float64{2: 3, 3: 15, 4: 105, 5: 945} {
		if got := math.Exp(gaussianClass(k).bound); math.Abs(got/want-1) > 1e-12 {
			t.Errorf("k = %d: C = %v, want %v", k, got, want)
		}
	}
}

// [KM21] Theorem 3.1, the bias: laws on the axes, x = +-sqrt(d) r e_i with r one of two numbers and
// E r^2 = 1, for which E<v,x>^2k is largest along an axis: C_2k = d^(k-1) E r^2k. What truncation
// takes from the second moment is at most a/2, and nearly a/2 in one column.
//
// Shows: [KM21] Theorem 3.1.
func TestBias(t *testing.T) {
	for _, k := range []int{2, 3, 5} {
		for _, d := range []int{1, 3} {
			for _, a := range []float64{1, 1. / 16} {
				worst, worstFrobenius := 0.0, 0.0
				for p := 1e-8; p < .5; p *= 1.1 { // of the far value
					// of the variance, far out
					for _, part := range []float64{a / 8, .49 * a, .4999 * a, .5001 * a, .55 * a, .99} {
						far2, near2 := part/p, (1-part)/(1-p)
						moment := p*math.Pow(far2, float64(k)) + (1-p)*math.Pow(near2, float64(k))
						c := class{k, float64(k-1)*math.Log(float64(d)) + math.Log(moment)}
						bias := func(gamma2 float64) float64 { // of every diagonal entry
							lost := 0.0
							if float64(d)*far2 > gamma2 {
								lost += p * far2
							}
							if float64(d)*near2 > gamma2 {
								lost += (1 - p) * near2
							}
							return lost
						}
						worst = math.Max(worst, bias(c.spectral2(d, a)))
						worstFrobenius = math.Max(worstFrobenius, bias(c.frobenius2(d, a))*math.Sqrt(float64(d)))
					}
				}
				if worst > a/2*(1+1e-9) || worstFrobenius > a/2*(1+1e-9) {
					t.Errorf("k %d d %d a %v: bias %v spectral, %v Frobenius", k, d, a, worst, worstFrobenius)
				}
				if d == 1 && worst < .9*a/2 {
					t.Errorf("k %d a %v: the worst bias found is %v: gamma is larger than it need be", k, a, worst)
				}
			}
		}
	}
}

// The spectral norm of GOE(sigma) is beyond nu with probability at most beta/2, and a constant part
// of nu on average. False-alarm rate 4e-9.
//
// Shows: [KM21] Algorithm 2.
func TestNu(t *testing.T) {
	rng := newRand(t)
	const beta, runs = .2, 2000
	for _, d := range []int{1, 2, 6} {
		x := design{Constants: Practical(), class: gaussianClass(2), d: d, relation: privacy.AddRemoveOne, rows: 1e300}
		x.StepAccuracy = .5
		// sampling error is nothing: s - a/2 is nu
		sigma := x.sigma(x.spectral2(d, x.StepAccuracy), 1e-299)
		_, s := x.spectral(1e-299, beta)
		nu := (s - x.StepAccuracy/2) / sigma
		beyond, sum := 0, 0.0
		for range runs {
			m := mat.NewSymDense(d, nil)
			for i := range d {
				m.SetSym(i, i, rng.NormFloat64())
				for j := i + 1; j < d; j++ {
					m.SetSym(i, j, rng.NormFloat64()/math.Sqrt2)
				}
			}
			values, _, _ := symmetric.Eigen(m)
			norm := math.Max(-values[0], values[d-1])
			sum += norm
			if norm > nu {
				beyond++
			}
		}
		stattest.GoodAtMost(t, beyond, runs, beta/2, stattest.FalseAlarm)
		if mean := sum / runs; mean < nu/6 {
			t.Errorf("d = %d: the norm is %v on average, nu is %v", d, mean, nu)
		}
	}
}

// alpha falls with n, mu and k.
func TestFrobenius(t *testing.T) {
	x := design{Constants: Practical(), class: gaussianClass(2), d: 4, relation: privacy.ReplaceOne, rows: 1e5, public: 1e5}
	_, alpha := x.frobenius(.2, .05)
	more := x
	more.rows, more.public = 1e6, 1e6
	if _, a := more.frobenius(.2, .05); a > alpha/2 {
		t.Errorf("ten times the rows: alpha %v from %v", a, alpha)
	}
	if _, a := x.frobenius(2, .05); a > .9*alpha {
		t.Errorf("ten times mu: alpha %v from %v", a, alpha)
	}
	pairs := x
	pairs.pairs = true
	if _, a := pairs.frobenius(.2, .05); !(a > 1.3*alpha && a < 2*alpha) {
		t.Errorf("pairs: alpha %v from %v", a, alpha)
	}
}

// The number of steps is O(log u), and one is enough where eigenvalues are within the target
// already.
//
// Shows: [KM21] Algorithm 3.
func TestSteps(t *testing.T) {
	x := design{Constants: Practical(), class: gaussianClass(2), d: 2, relation: privacy.ReplaceOne, rows: 1e8, public: 1e8}
	for _, c := range []struct {
		u    float64
		most int
	}{{1, 1}, {4, 1}, {5, 2}, {100, 4}, {1e6, 10}, {1e12, 20}} {
		steps, least, ok := x.steps([2]float64{7, 7 * c.u}, .02)
		if !ok || steps > c.most || least < x.Target || c.u > 4 && steps < 2 {
			t.Errorf("u = %v: %d steps, least %v, %v, want at most %d", c.u, steps, least, ok, c.most)
		}
	}
	x.rows, x.public = 1e4, 1e4
	if steps, _, ok := x.steps([2]float64{1, 5}, .02); ok {
		t.Errorf("too few rows: %d steps", steps)
	}
}
