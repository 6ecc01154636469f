package tyler

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/dense/symmetric"
)

// An AngularLaw holds E[u u^T] for u = f/|f|, f = (sqrt nu, w), w ~ N(eta, S) in R^d, and its
// derivative in eta and S.
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
type AngularLaw struct {
	Image // the expectation

	// Vectors are the eigenvectors of S, in columns, and Variance its eigenvalues: all else is in
	// the coordinates of these.
	Vectors  *mat.Dense
	Variance []float64
	nu       float64
	// The derivative of entry (i, j), i != j, in S_ij is pair(i, j); that of (i, i) in S_jj is
	// pair(i, i) [i = j] - cross(i, j); that of u_w u_0 in eta is sqrt nu first(i); that of u_0^2
	// in S_jj is -nu second(j).
	pair, cross   *mat.Dense
	first, second []float64
}

// An Image is a symmetric matrix of the size of u u^T, or a change of one; W0 stands in it twice.
type Image struct {
	WW   *mat.Dense // u_w u_w^T
	W0   []float64  // u_w u_0
	Zero float64    // u_0^2
}

// Dot returns the sum of products of all entries.
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

// Plus returns a + f b.
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

// NewAngularLaw computes the law; ok is false if S has no eigenvalues in float64. nu > 0; S must be
// symmetric and positive semi-definite (negative eigenvalues count as zero).
func NewAngularLaw(eta []float64, s *mat.SymDense, nu float64) (l *AngularLaw, ok bool) {
	d := len(eta)
	variance, vectors, ok := symmetric.Eigen(s)
	if !ok {
		return nil, false
	}
	l = &AngularLaw{Vectors: vectors, Variance: variance, nu: nu, pair: mat.NewDense(d, d, nil), cross: mat.NewDense(d, d, nil),
		first: make([]float64, d), second: make([]float64, d), Image: Image{WW: mat.NewDense(d, d, nil), W0: make([]float64, d)}}
	mean := make([]float64, d)
	symmetric.AddMulT(mean, vectors, eta)
	largest := nu
	for i := range variance {
		variance[i] = math.Max(variance[i], 0)
		largest = math.Max(largest, math.Max(variance[i], mean[i]*mean[i]))
	}
	if !dense.Finite(largest) {
		return nil, false
	}
	l.integrate(mean, math.Log(cutBelow/largest))
	return l, true
}

func (l *AngularLaw) integrate(mean []float64, low float64) {
	d := len(mean)
	c, m := make([]float64, d), make([]float64, d)
	root := math.Sqrt(l.nu)
	for y := math.Log(cutAbove / l.nu); y > low; y -= logStep {
		t := math.Exp(y)
		logPhi := -l.nu * t
		for i, v := range l.Variance {
			c[i] = 1 / (1 + 2*t*v)
			logPhi += .5*math.Log(c[i]) - t*mean[i]*mean[i]*c[i]
			m[i] = mean[i] * c[i]
		}
		phi := math.Exp(logPhi) * t * logStep
		l.Zero += l.nu * phi
		for i, v := range l.Variance {
			l.W0[i] += root * phi * m[i]
			l.first[i] += phi * c[i]
			l.second[i] += phi * t * c[i]
			row, pair, cross := l.WW.RawRowView(i), l.pair.RawRowView(i), l.cross.RawRowView(i)
			row[i] += phi * v * c[i]
			for j := range d {
				row[j] += phi * m[i] * m[j]
				pair[j] += phi * c[i] * c[j]
				cross[j] += phi * t * v * c[i] * c[j]
			}
		}
	}
}

// Turned returns an image of w as one in the eigenvectors' coordinates.
func (l *AngularLaw) Turned(x Image) Image {
	var t, y mat.Dense
	t.Mul(l.Vectors.T(), x.WW)
	y.Mul(&t, l.Vectors)
	w := make([]float64, len(x.W0))
	symmetric.AddMulT(w, l.Vectors, x.W0)
	return Image{&y, w, x.Zero}
}

// lean returns f times a vector scaled by sqrt nu first(i).
func (l *AngularLaw) lean(f float64, v []float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = f * x * math.Sqrt(l.nu) * l.first[i]
	}
	return out
}

// Forward returns the derivative of (WW, W0, Zero) in the direction (eta, s) -> (eta + dEta, s +
// dS); dS is symmetric.
func (l *AngularLaw) Forward(dEta []float64, dS *mat.Dense) Image {
	diagonal, y, zero := symmetric.DiagonalOf(dS), new(mat.Dense), 0.0
	for j, v := range diagonal {
		zero -= l.nu * l.second[j] * v
	}
	y.MulElem(dS, l.pair)
	for i := range diagonal {
		v := y.At(i, i)
		for j, c := range l.cross.RawRowView(i) {
			v -= c * diagonal[j]
		}
		y.Set(i, i, v)
	}
	return Image{y, l.lean(1, dEta), zero}
}

// Adjoint returns the transpose of Forward: Forward(dEta, dS).Dot(x) = <(dEta, dS), Adjoint(x)>;
// x.WW is symmetric.
func (l *AngularLaw) Adjoint(x Image) (dEta []float64, dS *mat.Dense) {
	diagonal := symmetric.DiagonalOf(x.WW)
	dS = new(mat.Dense)
	dS.MulElem(x.WW, l.pair)
	for j := range diagonal {
		v := dS.At(j, j) - l.nu*l.second[j]*x.Zero
		for i, u := range diagonal {
			v -= l.cross.At(i, j) * u
		}
		dS.Set(j, j, v)
	}
	return l.lean(2, x.W0), dS
}
