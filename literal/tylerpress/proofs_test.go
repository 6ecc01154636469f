package tylerpress

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// outer is the distance of u u^T and v v^T in Frobenius norm.
func outer(u, v []float64) float64 {
	sum := 0.0
	for i := range u {
		for j := range u {
			e := u[i]*u[j] - v[i]*v[j]
			sum += e * e
		}
	}
	return math.Sqrt(sum)
}

// A row in the unit ball changes the sum of u u^T by sqrt2 at most if it is replaced and by 1 if it
// is added; orthogonal unit rows and any unit row do so exactly.
//
// Shows: [TYLERPRESS] Section 10 P1.
func TestStepSensitivity(t *testing.T) {
	rng := newRand(t)
	replaced, added := 0.0, 0.0
	for i := range 20000 {
		d := 2 + rng.IntN(4)
		u, v := make([]float64, d), make([]float64, d)
		nu, nv := 0.0, 0.0
		for j := range d {
			u[j], v[j] = rng.NormFloat64(), rng.NormFloat64()
			nu, nv = math.Hypot(nu, u[j]), math.Hypot(nv, v[j])
		}
		for j := range d {
			u[j], v[j] = u[j]/nu, v[j]/nv
			if i%2 == 0 {
				u[j] *= rng.Float64()
			}
		}
		replaced = math.Max(replaced, outer(u, v))
		added = math.Max(added, outer(u, make([]float64, d)))
	}
	if replaced > math.Sqrt2+1e-12 || replaced < 1.4 || added > 1+1e-12 || added < .999 {
		t.Errorf("up to %v if replaced and %v if added", replaced, added)
	}
}

// One step at scatter I + E: D E[u u^T] = I + D/(D+2) E_0 + O(E^2), E_0 the trace-free part, so
// that the over-relaxed power (D+2)/D leaves an error of second order. By stratified draws, E
// small.
//
// Shows: [TYLERPRESS] Section 10 P4.
func TestStepContracts(t *testing.T) {
	rng := newRand(t)
	const d, draws = 3, 400000
	for _, size := range []float64{.05, .2} {
		diag := []float64{size, -size / 2, -size / 2}
		second := make([]float64, d)
		for range draws {
			norm := 0.0
			var z [d]float64
			for i := range z {
				z[i] = math.Sqrt(1+diag[i]) * rng.NormFloat64()
				norm += z[i] * z[i]
			}
			for i := range z {
				second[i] += d * z[i] * z[i] / norm / draws
			}
		}
		left := mat.NewVecDense(d, nil)
		for i := range d {
			linear := 1 + d/float64(d+2)*diag[i]
			if math.Abs(second[i]-linear) > size*size+6*d/math.Sqrt(draws)/2 {
				t.Errorf("E = %v: D E[u u^T] has %v, want %v and second order", diag, second[i], linear)
			}
			left.SetVec(i, (1+diag[i])/math.Pow(second[i], float64(d+2)/d)-1)
		}
		if got := mat.Norm(left, 2); got > 2*size*size+.02 {
			t.Errorf("E = %v: the step leaves %v, want second order", diag, got)
		}
	}
}
