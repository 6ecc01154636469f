package aal21

import (
	"math"
	"testing"
)

// What k randomized responses of epsilon e lose together, exactly, is within basic composition, and
// but for delta' within advanced composition.
//
// Shows: [AAL21] Lemma 2.10.
func TestLemma210(t *testing.T) {
	for _, k := range []int{1, 3, 20, 200} {
		for _, e := range []float64{.01, .1, 1} {
			truth := math.Exp(e) / (1 + math.Exp(e))
			delta := func(epsilon float64) (sum float64) {
				lg := func(n int) float64 { v, _ := math.Lgamma(float64(n + 1)); return v }
				for j := range k + 1 {
					p := math.Exp(lg(k) - lg(j) - lg(k-j) + float64(j)*math.Log(truth) + float64(k-j)*math.Log1p(-truth))
					sum += p * math.Max(0, -math.Expm1(epsilon-float64(2*j-k)*e))
				}
				return sum
			}
			if d := delta(float64(k) * e); d > 1e-12 {
				t.Errorf("%d times %v: delta %v at the sum", k, e, d)
			}
			for _, more := range []float64{1e-2, 1e-6} {
				advanced := e*math.Sqrt(2*float64(k)*math.Log(1/more)) + float64(k)*e*math.Expm1(e)
				if d := delta(advanced); d > more {
					t.Errorf("%d times %v: delta %v at %v, at most %v", k, e, d, advanced, more)
				}
			}
		}
	}
}

// Whatever is computed from a private answer is as private: no random map makes two laws easier to
// tell apart.
//
// Shows: [AAL21] Lemma 2.11.
func TestLemma211(t *testing.T) {
	rng := newRand(t)
	law := func(n int) []float64 {
		p, sum := make([]float64, n), 0.0
		for i := range p {
			p[i] = math.Pow(rng.Float64(), 4)
			sum += p[i]
		}
		for i := range p {
			p[i] /= sum
		}
		return p
	}
	delta := func(p, q []float64, epsilon float64) (d float64) {
		for i := range p {
			d += math.Max(0, p[i]-math.Exp(epsilon)*q[i])
		}
		return d
	}
	for range 300 {
		n, m := 2+rng.IntN(6), 2+rng.IntN(6)
		p, q, mapped := law(n), law(n), [2][]float64{make([]float64, m), make([]float64, m)}
		for i := range n {
			for j, v := range law(m) {
				mapped[0][j] += p[i] * v
				mapped[1][j] += q[i] * v
			}
		}
		for _, epsilon := range []float64{0, .3, 1} {
			if before, after := delta(p, q, epsilon), delta(mapped[0], mapped[1], epsilon); after > before+1e-12 {
				t.Errorf("delta %v became %v at epsilon %v", before, after, epsilon)
			}
		}
	}
}
