package component

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/dense/symmetric"
)

// mostUneven is the spread of a covariance's eigenvalues, the root of their mean square over their
// mean, up to which Curve's expansion holds well. A guess.
const mostUneven = .5

// Curve returns E[g z z^T] for z ~ N(0, c) less what the law's first order says of it, A I + B1 E +
// B2 tr(E) I with E = c - I: exact in the size of c, to second order in how uneven its eigenvalues
// are. ok is false where they are too uneven for that.
//
// With z = r c^(1/2) u, u on the sphere and r^2 chi-square, E[g z z^T] = c^(1/2) E[u u^T h(u^T c
// u)] c^(1/2) with h(s) = E[min(r^2, R^2/s)], which is expanded at the mean s_0 = tr(c)/d; moments
// on the sphere are those of Gaussians over d(d+2)(d+4).
func (l ClippingLaw) Curve(c *mat.SymDense) (more *mat.SymDense, ok bool) {
	d := float64(l.D)
	s := mat.Trace(c) / d
	off := symmetric.Of(l.D, func(i, j int) float64 {
		if i == j {
			return c.At(i, i) - s
		}
		return c.At(i, j)
	})
	uneven := symmetric.Frobenius2(off)
	h0, h1, h2, ok := l.sphere(s, uneven)
	if !ok {
		return nil, false
	}
	two, three := d*(d+2), d*(d+2)*(d+4)
	var square, inner, all mat.Dense
	square.Mul(off, off)
	inner.Scale(4*h2/three, &square)
	var linear mat.Dense
	linear.Scale(2*h1/two, off)
	inner.Add(&inner, &linear)
	addToDiagonal(&inner, h0/d+h2*uneven/three)
	all.Mul(c, &inner)
	first := l.A + l.B2*d*(s-1)
	return symmetric.Of(l.D, func(i, j int) float64 {
		v := all.At(i, j) - l.B1*c.At(i, j)
		if i == j {
			v += l.B1 - first
		}
		return v
	}), true
}

// CurveDiagonal returns the diagonal of Curve's matrix for c = diag(v) + m m^T, in the order of d
// steps.
func (l ClippingLaw) CurveDiagonal(v, m []float64) (more []float64, ok bool) {
	d := float64(l.D)
	m2 := dense.Norm2(m)
	s := (floats.Sum(v) + m2) / d
	uneven, along := m2*m2, 0.0 // along = m^T (diag(v) - s) m
	for i, x := range m {
		off := v[i] - s
		uneven += off*off + 2*off*x*x
		along += off * x * x
	}
	h0, h1, h2, ok := l.sphere(s, uneven)
	if !ok {
		return nil, false
	}
	two, three := d*(d+2), d*(d+2)*(d+4)
	square, linear, even := 4*h2/three, 2*h1/two, h0/d+h2*uneven/three
	first := l.A + l.B2*d*(s-1)
	more = make([]float64, l.D)
	for i, x := range m {
		off := v[i] - s
		own := square*(off*off+2*off*x*x+m2*x*x) + linear*(off+x*x) + even
		// the inner matrix times m, in coordinate i
		mixed := square*(off*off*x+off*x*m2+x*along+m2*x*m2) + linear*(off*x+x*m2) + even*x
		more[i] = v[i]*own + x*mixed - l.B1*(v[i]+x*x) + l.B1 - first
	}
	return more, true
}

// sphere returns the coefficients of Curve's expansion at the mean variance s of a covariance whose
// distance from s I, squared, is uneven; ok is false where that is too far.
func (l ClippingLaw) sphere(s, uneven float64) (h0, h1, h2 float64, ok bool) {
	d := float64(l.D)
	if !(s > 0) || uneven > d*sq(mostUneven*s) {
		return 0, 0, 0, false
	}
	t := l.R2 / s
	beyond := mathext.GammaIncRegComp(d/2, t/2)
	lgamma, _ := math.Lgamma(d / 2)
	density := math.Exp((d/2-1)*math.Log(t/2)-t/2-lgamma) / 2
	return d*mathext.GammaIncReg(d/2+1, t/2) + t*beyond, -beyond * t / s, 2*beyond*t/(s*s) - density*t*t/(s*s), true
}
