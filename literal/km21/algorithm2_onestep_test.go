package km21

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
)

// near is a symmetric matrix of spectral norm at most s; often exactly s.
func near(rng *rand.Rand, d int, s float64) *mat.SymDense {
	diag := mat.NewSymDense(d, nil)
	for i := range d {
		diag.SetSym(i, i, s*float64(1-2*rng.IntN(2)))
		if rng.IntN(3) == 0 {
			diag.SetSym(i, i, s*(2*rng.Float64()-1))
		}
	}
	return symmetric.Congruence(rotation(rng, d), diag)
}

// [KM21] Theorem 3.2 without chance: whatever M is within s of A Sigma A^T, L <= A Sigma A^T <= I,
// the fixed step keeps lambda_min(L') <= A' Sigma A'^T <= 1. The printed one breaks both, by more
// than rounding.
//
// Shows: [KM21] Theorem 3.2.
func TestStepKeepsBounds(t *testing.T) {
	rng := newRand(t)
	most, least := map[bool]float64{}, map[bool]float64{true: 1, false: 1}
	for range 20000 {
		d := 2 + rng.IntN(2)
		l, s := math.Pow(10, -3*rng.Float64()), math.Pow(10, -2*rng.Float64())/3
		diag := mat.NewSymDense(d, nil)
		for i := range d {
			diag.SetSym(i, i, []float64{l, 1, l + (1-l)*rng.Float64()}[rng.IntN(3)])
		}
		sigma := symmetric.Congruence(rotation(rng, d), diag) // A = I
		m := near(rng, d, s)
		m.AddSym(m, sigma)
		values, v, ok := symmetric.Eigen(symmetric.Floored(m, 0, math.Inf(1)))
		if !ok || s > (1-l)/2 {
			continue
		}
		p := begin(d, [2]float64{l, 1})
		for _, printed := range []bool{false, true} {
			next := p.step(values, v, l, s, printed)
			var one mat.Dense
			if one.Mul(next.A, next.Inverse); !mat.EqualApprox(&one, symmetric.Identity(d), 1e-9) {
				t.Fatal("Inverse is not the inverse of A")
			}
			is, _, _ := symmetric.Eigen(symmetric.Congruence(next.A, sigma))
			most[printed] = math.Max(most[printed], is[d-1])
			least[printed] = math.Min(least[printed], is[0]/next.least())
		}
	}
	if most[false] > 1+1e-9 || least[false] < 1-1e-9 {
		t.Errorf("fixed: A' Sigma A'^T up to %v, down to %v of lambda_min(L')", most[false], least[false])
	}
	if most[true] < 1.01 || least[true] > .95 {
		t.Errorf("as printed: up to %v, down to %v: the search does not find what is said of it", most[true], least[true])
	}
	t.Logf("as printed: A' Sigma A'^T up to %.3f, down to %.3f of lambda_min(L')", most[true], least[true])
}

// A step with s <= 1/16 and lambda_min(L) <= 1/4 doubles lambda_min(L), whatever was released.
//
// Shows: [KM21] Theorem 3.2.
func TestStepDoubles(t *testing.T) {
	rng := newRand(t)
	for range 1000 {
		l, s := .25*rng.Float64(), rng.Float64()/16
		values := []float64{rng.Float64() * l, .25 + .75*rng.Float64(), 1}
		_, v, _ := symmetric.Eigen(symmetric.Floored(near(rng, 3, 1), -2, 2))
		if next := begin(3, [2]float64{l, 1}).step(values, v, l, s, false); next.least() < 2*l*(1-1e-9) {
			t.Fatalf("lambda_min(L) = %v, s = %v: then %v", l, s, next.least())
		}
	}
}
