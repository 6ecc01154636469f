package component

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"

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
	if !(s > 0) || uneven > d*sq(mostUneven*s) {
		return nil, false
	}
	t := l.R2 / s
	beyond := mathext.GammaIncRegComp(d/2, t/2)
	lgamma, _ := math.Lgamma(d / 2)
	density := math.Exp((d/2-1)*math.Log(t/2)-t/2-lgamma) / 2
	h0 := d*mathext.GammaIncReg(d/2+1, t/2) + t*beyond
	h1, h2 := -beyond*t/s, 2*beyond*t/(s*s)-density*t*t/(s*s)
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
