// Package angular knows the second moments of the direction of a Gaussian row: what a noisy step of
// Tyler's iteration measures, for any frame, near to the truth or far from it.
package angular

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/dense/symmetric"
)

// A Law holds E[u u^T] for u = f/|f|, f = (sqrt nu, w), w ~ N(eta, S) in R^d, and its derivative in
// eta and S.
//
// With 1/|f|^2 = integral of exp(-t |f|^2) dt the expectation is an integral over t of Gaussian
// moments, which are closed forms in the eigenvectors of S: with c_i = 1/(1 + 2 t s_i) and phi(t) =
// exp(-nu t - t sum eta_i^2 c_i) prod sqrt(c_i)
//
//	E[u_w u_w^T] = int phi (diag(s_i c_i) + (eta_i c_i)(eta_j c_j)) dt,
//	E[u_w u_0] = sqrt nu int phi (eta_i c_i) dt,  E[u_0^2] = nu int phi dt.
//
// The derivative is that at eta = 0 with phi as it is: exact where the frame is centred, and a
// descent direction elsewhere.
//
// Source: [TYLERPRESS] Section 4.6.
type Law struct {
	Image // the expectation

	nu      float64
	vectors *mat.Dense // the eigenvectors of S, in columns
	// In the eigenvectors' coordinates the derivative of entry (i, j), i != j, in S_ij is pair(i,
	// j); that of (i, i) in S_jj is pair(i, i) [i = j] - cross(i, j); that of u_w u_0 in eta is
	// sqrt nu first(i); that of u_0^2 in S_jj is -nu second(j).
	pair, cross   *mat.Dense
	first, second []float64
}

// An Image is a symmetric matrix of the size of u u^T, or a change of one; W0 stands in it twice.
type Image struct {
	WW   *mat.Dense // u_w u_w^T
	W0   []float64  // u_w u_0
	Zero float64    // u_0^2
}

// Dot is the sum of products of all entries.
func (a Image) Dot(b Image) float64 {
	s := a.Zero * b.Zero
	for i, v := range a.W0 {
		s += 2 * v * b.W0[i]
	}
	x, y := a.WW.RawMatrix().Data, b.WW.RawMatrix().Data
	for i, v := range x {
		s += v * y[i]
	}
	return s
}

// Plus is a + f b.
func (a Image) Plus(f float64, b Image) Image {
	out := Image{mat.DenseCopyOf(b.WW), slices.Clone(a.W0), a.Zero + f*b.Zero}
	out.WW.Scale(f, out.WW)
	out.WW.Add(a.WW, out.WW)
	floats.AddScaled(out.W0, f, b.W0)
	return out
}

// The rule for the integral: the trapezoidal rule in log t, whose error at this step is below 1e-8
// for an integrand that is analytic in the strip |Im log t| < pi/2.
const (
	logStep  = .5
	cutAbove = 40   // exp(-40) is left out above
	cutBelow = 1e-9 // and t of less than this over the largest variance
)

// New computes the law; ok is false if S has no eigenvalues in float64. nu > 0; S must be symmetric
// and positive semi-definite (negative eigenvalues count as zero).
func New(eta []float64, s *mat.SymDense, nu float64) (l *Law, ok bool) {
	d := len(eta)
	variance, vectors, ok := symmetric.Eigen(s)
	if !ok {
		return nil, false
	}
	l = &Law{nu: nu, vectors: vectors, pair: mat.NewDense(d, d, nil), cross: mat.NewDense(d, d, nil),
		first: make([]float64, d), second: make([]float64, d)}
	mean := l.toEigen(eta)
	largest := nu
	for i := range variance {
		variance[i] = math.Max(variance[i], 0)
		largest = math.Max(largest, math.Max(variance[i], mean[i]*mean[i]))
	}
	if !dense.Finite(largest) {
		return nil, false
	}
	l.integrate(mean, variance, math.Log(cutBelow/largest))
	return l, true
}

func (l *Law) integrate(mean, variance []float64, low float64) {
	d := len(mean)
	ww, w0 := mat.NewDense(d, d, nil), make([]float64, d)
	c, m := make([]float64, d), make([]float64, d)
	root := math.Sqrt(l.nu)
	for y := math.Log(cutAbove / l.nu); y > low; y -= logStep {
		t := math.Exp(y)
		logPhi := -l.nu * t
		for i, v := range variance {
			c[i] = 1 / (1 + 2*t*v)
			logPhi += .5*math.Log(c[i]) - t*mean[i]*mean[i]*c[i]
			m[i] = mean[i] * c[i]
		}
		phi := math.Exp(logPhi) * t * logStep
		l.Zero += l.nu * phi
		for i, v := range variance {
			w0[i] += root * phi * m[i]
			l.first[i] += phi * c[i]
			l.second[i] += phi * t * c[i]
			row, pair, cross := ww.RawRowView(i), l.pair.RawRowView(i), l.cross.RawRowView(i)
			row[i] += phi * v * c[i]
			for j := range d {
				row[j] += phi * m[i] * m[j]
				pair[j] += phi * c[i] * c[j]
				cross[j] += phi * t * v * c[i] * c[j]
			}
		}
	}
	l.WW, l.W0 = turned(l.vectors, ww), l.vector(w0)
}

// toEigen is the vector in the eigenvectors' coordinates.
func (l *Law) toEigen(v []float64) []float64 {
	out := make([]float64, len(v))
	symmetric.AddMulT(out, l.vectors, v)
	return out
}

// vector undoes toEigen.
func (l *Law) vector(v []float64) []float64 {
	out := make([]float64, len(v))
	symmetric.AddMul(out, l.vectors, v)
	return out
}

// turned is a x a^T.
func turned(a, x mat.Matrix) *mat.Dense {
	var t, y mat.Dense
	t.Mul(a, x)
	y.Mul(&t, a.T())
	return &y
}

// lean is a vector scaled by sqrt nu first(i) in the eigenvectors' coordinates.
func (l *Law) lean(v []float64) []float64 {
	e := l.toEigen(v)
	for i := range e {
		e[i] *= math.Sqrt(l.nu) * l.first[i]
	}
	return l.vector(e)
}

// Forward is the derivative of (WW, W0, Zero) in the direction (eta, s) -> (eta + dEta, s + dS); dS
// is symmetric.
func (l *Law) Forward(dEta []float64, dS *mat.Dense) Image {
	y, zero := turned(l.vectors.T(), dS), 0.0
	diagonal := symmetric.DiagonalOf(y)
	for j, v := range diagonal {
		zero -= l.nu * l.second[j] * v
	}
	y.MulElem(y, l.pair)
	for i := range diagonal {
		v := y.At(i, i)
		for j, c := range l.cross.RawRowView(i) {
			v -= c * diagonal[j]
		}
		y.Set(i, i, v)
	}
	return Image{turned(l.vectors, y), l.lean(dEta), zero}
}

// Adjoint is the transpose of Forward: Forward(dEta, dS).Dot(x) = <(dEta, dS), Adjoint(x)>; x.WW is
// symmetric.
func (l *Law) Adjoint(x Image) (dEta []float64, dS *mat.Dense) {
	y := turned(l.vectors.T(), x.WW)
	diagonal := symmetric.DiagonalOf(y)
	y.MulElem(y, l.pair)
	for j := range diagonal {
		v := y.At(j, j) - l.nu*l.second[j]*x.Zero
		for i, u := range diagonal {
			v -= l.cross.At(i, j) * u
		}
		y.Set(j, j, v)
	}
	dEta = l.lean(x.W0)
	for i := range dEta {
		dEta[i] *= 2
	}
	return dEta, turned(l.vectors, y)
}
