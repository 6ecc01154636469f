package amn24

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/literal/paper"
)

// A pair is the mean and covariance of a component, or a crude approximation of them.
type pair = paper.Gaussian

// tolerance says how close two pairs are: (m', S') ~ (m, S) if |S^-1/2 S' S^-1/2 - I| is at most
// Gamma in spectral and Rho in Frobenius norm, and |S^-1/2 (m'-m)| at most Tau.
//
// Source: [AMN24] Lemma B.6.
type tolerance struct{ Gamma, Rho, Tau float64 }

// times returns c times the tolerance.
func (t tolerance) times(c float64) tolerance { return tolerance{c * t.Gamma, c * t.Rho, c * t.Tau} }

// close reports a ~ b. It is not symmetric: b's covariance is the unit.
func (t tolerance) close(a, b pair) bool {
	off, values, ok := relate(a, b)
	frobenius := 0.0
	for _, v := range values {
		frobenius = math.Hypot(frobenius, v-1)
		ok = ok && math.Abs(v-1) <= t.Gamma
	}
	return ok && frobenius <= t.Rho && off <= t.Tau
}

// vague reports that a is within a factor of b: S_a/factor <= S_b <= factor S_a and |S_b^-1/2
// (m_a-m_b)| <= factor. What is vaguely close to a pair that was found is removed from the region
// where the next one is sought.
//
// Source: [AMN24] Algorithm 2.
func vague(a, b pair, factor float64) bool {
	off, values, ok := relate(a, b)
	for _, v := range values {
		ok = ok && v <= factor && v*factor >= 1
	}
	return ok && off <= factor
}

// relate returns |S_b^-1/2 (m_a-m_b)| and the eigenvalues of S_b^-1/2 S_a S_b^-1/2; ok is false if
// they have no number.
func relate(a, b pair) (off float64, values []float64, ok bool) {
	d := len(a.Mean)
	if d == 1 {
		ratio := a.L.At(0, 0) / b.L.At(0, 0)
		return math.Abs((a.Mean[0] - b.Mean[0]) / b.L.At(0, 0)), []float64{ratio * ratio}, true
	}
	var z mat.VecDense
	var m mat.Dense
	diff := mat.NewVecDense(d, nil)
	diff.SubVec(mat.NewVecDense(d, a.Mean), mat.NewVecDense(d, b.Mean))
	z.MulVec(b.Inverse, diff)
	m.Mul(b.Inverse, a.L)
	var e mat.EigenSym
	if !e.Factorize(gram(&m), false) {
		return 0, nil, false
	}
	return mat.Norm(&z, 2), e.Values(nil), true
}

// gram returns l l^t.
func gram(l *mat.Dense) *mat.SymDense {
	d, _ := l.Dims()
	s := mat.NewSymDense(d, nil)
	s.SymOuterK(1, l)
	return s
}
