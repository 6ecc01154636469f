package component

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestLawMonteCarlo compares the closed forms with simulation. Each figure is a mean of 4e5 draws;
// the tolerance is 6 standard errors of a bounded variable, so a false alarm has probability below
// 1e-8 per figure.
func TestLawMonteCarlo(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, d := range []int{1, 2, 5, 10} {
		for _, r2 := range []float64{.7 * float64(d), 2*float64(d) + 3} {
			l := ClippedGaussian(d, r2)
			const n = 400000
			var a, a1, b1 float64
			for range n {
				q := 0.0
				for range d {
					x := rng.NormFloat64()
					q += x * x
				}
				g := math.Min(1, r2/q)
				a += g * q / float64(d)
				a1 += q * math.Sqrt(g) / float64(d)
				b1 += g * q * q / float64(d*(d+2))
			}
			for _, c := range []struct{ got, want, sd float64 }{{a / n, l.A, r2 / float64(d)}, {a1 / n, l.A1, 2}, {b1 / n, l.B1, 3}} {
				if math.Abs(c.got-c.want) > 6*c.sd/math.Sqrt(n) {
					t.Errorf("d=%d r2=%v: got %v, want %v", d, r2, c.got, c.want)
				}
			}
		}
	}
}

func TestLawUnclipped(t *testing.T) {
	l := ClippedGaussian(3, 1e4)
	for _, v := range []float64{l.A, l.A1, l.B1, l.TraceGain(), l.V} {
		if math.Abs(v-1) > 1e-9 {
			t.Errorf("without clipping every factor is 1, got %+v", l)
		}
	}
	if math.Abs(l.VM-2) > 1e-9 || math.Abs(l.B2) > 1e-9 {
		t.Errorf("without clipping VM = 2 and B2 = 0, got %+v", l)
	}
}

// TestVariance: the variance is found from the mean of the clipped |z|^2 that it makes.
//
// Shows: [TYLERPRESS] Section 4.3.
func TestVariance(t *testing.T) {
	for _, d := range []int{1, 3, 20} {
		for _, v := range []float64{.01, .7, 1, 3} {
			r2 := 1.5 * float64(d)
			trace := v * ClippedGaussian(d, r2/v).A * float64(d)
			if got := ClippedVariance(d, trace, r2); math.Abs(got/v-1) > 1e-6 {
				t.Errorf("d=%d: variance %v, want %v", d, got, v)
			}
		}
	}
}

// TestLawOfCovariance compares the response to a change of the covariance, B1 and B2, and the
// variances V and VM, with simulation. The response is a difference of two means over the same 4e5
// draws; tolerances are six standard errors and what is of second order.
func TestLawOfCovariance(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const n, step = 400000, .1
	for _, d := range []int{1, 2, 4} {
		for _, r2 := range []float64{.8*float64(d) + .4, 2*float64(d) + 3} {
			l := ClippedGaussian(d, r2)
			var grow, trace, own, other, v float64 // of trace-growing and of trace-free changes
			z := make([]float64, d)
			for range n {
				q := 0.0
				for i := range z {
					z[i] = rng.NormFloat64()
					q += z[i] * z[i]
				}
				g := math.Min(1, r2/q)
				trace += g * q
				v += clipSq(g*q - l.A*float64(d))
				grow += math.Min(q*(1+step), r2) - math.Min(q*(1-step), r2)
				if d > 1 { // wider in the first coordinate, narrower in the second
					up, down := z[0]*z[0]*(1+step), z[1]*z[1]*(1-step)
					g := math.Min(1, r2/(q+up-z[0]*z[0]+down-z[1]*z[1]))
					own += g * (up - down) / 2
					other += g * (up + down) / 2
				}
			}
			check := func(what string, got, want, tol float64) {
				if math.Abs(got-want) > tol {
					t.Errorf("d=%d r2=%v: %s = %v, simulated %v", d, r2, what, want, got)
				}
			}
			check("TraceGain", grow/n/(2*step)/float64(d), l.TraceGain(), .01)
			check("A", trace/n/float64(d), l.A, 6*r2/math.Sqrt(n))
			check("VM", v/n/float64(d), l.VM, 6*r2*r2/math.Sqrt(n)/float64(d))
			if d > 1 {
				check("B1", own/n/step, l.B1, 6*r2/step/math.Sqrt(n)/2)
			}
		}
	}
}

func clipSq(x float64) float64 { return x * x }

// TestLawIsFinite: every radius that Radius2 may try, in every dimension, has a law of numbers with
// the right signs, and the radius shrinks as the noise grows.
func TestLawIsFinite(t *testing.T) {
	for _, d := range []int{1, 2, 7, 30, 200, 1000} {
		for r2 := .4*float64(d) + .5; r2 < 8*(float64(d)+6*math.Sqrt(float64(d))+25); r2 *= 1.3 {
			l := ClippedGaussian(d, r2)
			for _, v := range []float64{l.A, l.A1, l.B1, l.V, 1 / l.B1, 1 / l.A1} {
				if !(v > 0) || math.IsInf(v, 0) {
					t.Fatalf("d=%d r2=%v: %+v", d, r2, l)
				}
			}
			if l.A > 1+1e-9 || l.A1 > 1+1e-9 || l.TraceGain() < -1e-9 || l.TraceGain() > 1+1e-9 || l.VM < 0 {
				t.Fatalf("d=%d r2=%v: %+v", d, r2, l)
			}
		}
		last := math.Inf(1)
		for noise := 1e-6; noise < 1e9; noise *= 10 {
			r2 := ClippingRadius2(d, 5000, Noise{Second: noise, Count: noise}, 1)
			if !(r2 > 0) || r2 > last {
				t.Fatalf("d=%d noise %v: radius^2 %v after %v", d, noise, r2, last)
			}
			last = r2
		}
	}
}
