package model

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
)

// ComponentDistance returns dist_COMP of two weighted Gaussians: the largest of |w_a - w_b|, the
// MeanDistance and the CovarianceDistance, the latter two in both directions.
//
// Source: [PPE] Definition of dist_PARAM (its component part).
func ComponentDistance(weightA float64, a Gaussian, weightB float64, b Gaussian) float64 {
	ab, ba := relate(a, b), relate(b, a)
	return max(math.Abs(weightA-weightB), ab.mean, ba.mean, ab.covariance(), ba.covariance())
}

// GaussianKL returns KL(a, b) = integral of a log(a/b) in nats, in closed form,
//
//	1/2 (tr(Sigma_b^-1 Sigma_a) - r - log(|Sigma_a| / |Sigma_b|)
//	     + (m_a - m_b)^T Sigma_b^-1 (m_a - m_b)),
//
// on the support the two share, of dimension r; +Inf if their supports differ. It panics if a or b
// is not valid or their dimensions differ.
func GaussianKL(a, b Gaussian) float64 {
	r := relate(a, b)
	if !r.sameSupport(a, b) || !r.finite() {
		return math.Inf(1) // the latter: one is wider than the other by more than float64 holds
	}
	trace, logDet := dense.Norm2(r.factor.RawMatrix().Data), 2*newWhitener(a, r.support).logDet-2*r.under.logDet
	// The sum is >= 0; rounding may say otherwise.
	return max(0, trace-float64(len(r.support.free))-logDet+r.mean*r.mean) / 2
}

// GaussianHellinger returns H(a, b) with H^2 = 1 - integral of sqrt(a b), in closed form: with e
// the eigenvalues of Sigma_b^-1/2 Sigma_a Sigma_b^-1/2 and z the whitened difference of the means
// in their eigenvectors,
//
//	log integral of sqrt(a b) = sum_i 1/2 log(2 sqrt e_i / (1 + e_i)) - z_i^2 / (4 (1 + e_i)).
//
// It is 1 if the supports differ. It panics if a or b is not valid or their dimensions differ.
func GaussianHellinger(a, b Gaussian) float64 {
	r := relate(a, b)
	if !r.sameSupport(a, b) {
		return 1
	}
	if len(r.support.free) == 0 {
		return 0
	}
	var svd mat.SVD
	if !r.finite() || !svd.Factorize(r.factor, mat.SVDThinU) {
		return 1 // one is wider than the other by more than float64 holds
	}
	var u mat.Dense
	svd.UTo(&u)
	logBC := 0.0
	for i, root := range svd.Values(nil) {
		e := root * root
		z := 0.0
		for j, v := range r.difference {
			z += u.At(j, i) * v
		}
		logBC += math.Log1p(-(1-root)*(1-root)/(1+e))/2 - z*z/(4*(1+e))
	}
	return math.Sqrt(-math.Expm1(min(0, logBC)))
}

// relation describes a relative to b: everything in b's whitened coordinates, z = L_b^-1(x - m_b)
// on b's own support.
type relation struct {
	support    *support
	under      *whitener  // b's
	factor     *mat.Dense // L_b^-1 F_a, r x m
	difference []float64  // L_b^-1(m_a - m_b), r numbers
	mean       float64    // |difference|; +Inf if m_a is off b's support
	spanned    bool       // Sigma_a has no variance outside b's support
}

func relate(a, b Gaussian) relation {
	if a.Cov.Dim() != b.Cov.Dim() {
		panic(fmt.Sprintf("model: a Gaussian of dimension %d against one of dimension %d", a.Cov.Dim(), b.Cov.Dim()))
	}
	s := newSupport([]Gaussian{b})
	r := relation{support: s, under: newWhitener(b, s), difference: make([]float64, len(s.free))}
	for i, j := range s.free {
		r.difference[i] = a.Mean[j] - b.Mean[j]
	}
	r.under.whiten(r.difference)
	r.mean = math.Inf(1)
	if s.holds(a.Mean) {
		r.mean = norm(r.difference)
	}
	f := factorOf(a.Cov)
	r.spanned = s.spans(f)
	if len(s.free) == 0 {
		r.factor = &mat.Dense{}
		return r
	}
	r.factor = takeRows(f, s.free)
	_, m := r.factor.Dims()
	z := make([]float64, len(s.free))
	for c := range m {
		mat.Col(z, c, r.factor)
		r.under.whiten(z)
		r.factor.SetCol(c, z)
	}
	return r
}

// norm returns the Euclidean norm, +Inf where a coordinate overflowed.
func norm(x []float64) float64 {
	if !dense.AllFinite(x) {
		return math.Inf(1)
	}
	return floats.Norm(x, 2)
}

// finite reports whether a's factor and mean could be expressed in b's whitened coordinates.
func (r relation) finite() bool {
	return !math.IsInf(r.mean, 0) && dense.AllFinite(r.factor.RawMatrix().Data)
}

// covariance returns |M M^T - I|_F for M = L_b^-1 F_a, which has the eigenvalues of Sigma_b^-1/2
// Sigma_a Sigma_b^-1/2.
func (r relation) covariance() float64 {
	if !r.spanned {
		return math.Inf(1)
	}
	if len(r.support.free) == 0 {
		return 0
	}
	g := gram(r.factor)
	d := g.SymmetricDim()
	sum := 0.0
	for i := range d {
		for j := range d {
			v := g.At(i, j)
			if i == j {
				v--
			}
			sum = math.Hypot(sum, v)
		}
	}
	if math.IsNaN(sum) {
		return math.Inf(1)
	}
	return sum
}

// sameSupport reports whether a and b have the same affine support, r = relate(a, b).
func (r relation) sameSupport(a, b Gaussian) bool {
	if !r.spanned || math.IsInf(r.mean, 1) {
		return false
	}
	s := newSupport([]Gaussian{a})
	return len(s.free) == len(r.support.free) && s.spans(factorOf(b.Cov))
}
