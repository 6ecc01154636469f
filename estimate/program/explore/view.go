package explore

import (
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts/component"
)

// A View looks at the working coordinates x in l orthonormal directions: y = V^T (x - origin).
type View struct {
	origin []float64
	V      *mat.Dense // d x l
}

// Dim is the number of directions.
func (w View) Dim() int {
	_, l := w.V.Dims()
	return l
}

// frame maps rows to y.
func (w View) frame(s component.Space) query.Affine {
	return s.Frame(w.origin, mat.DenseCopyOf(w.V.T()))
}

// of composes: z = u^T (y - mean) for u l x q.
func (w View) of(mean []float64, u *mat.Dense) View {
	var v mat.Dense
	v.Mul(w.V, u)
	return View{origin: w.Up(mean), V: &v}
}

// Up is the point of the working coordinates that is seen at y, in the plane of the view.
func (w View) Up(y []float64) []float64 {
	x := append([]float64(nil), w.origin...)
	for i := range x {
		for j, v := range y {
			x[i] += w.V.At(i, j) * v
		}
	}
	return x
}

// down is where the view sees x.
func (w View) down(x []float64) []float64 {
	y := make([]float64, w.Dim())
	for i, o := range w.origin {
		for j := range y {
			y[j] += w.V.At(i, j) * (x[i] - o)
		}
	}
	return y
}

// see is g as the view sees it.
func (w View) see(g component.Gaussian) component.Gaussian {
	g.Mean = w.down(g.Mean)
	g.Cov = symmetric.Congruence(mat.DenseCopyOf(w.V.T()), g.Cov)
	return g
}

// Lift is g, seen by the view, in all working coordinates, with the given variance in all
// directions that the view does not see.
func (w View) Lift(g component.Gaussian, rest float64) component.Gaussian {
	cov := symmetric.Congruence(w.V, g.Cov)
	for i := range w.origin {
		for j := i; j < len(w.origin); j++ {
			p := 0.0 // of V V^T
			for l := range w.Dim() {
				p += w.V.At(i, l) * w.V.At(j, l)
			}
			one := 0.0
			if i == j {
				one = 1
			}
			cov.SetSym(i, j, cov.At(i, j)+rest*(one-p))
		}
	}
	g.Mean, g.Cov = w.Up(g.Mean), cov
	return g
}

// Across is an orthonormal basis of the directions that the view does not see.
func (w View) Across() *mat.Dense {
	var qr mat.QR
	qr.Factorize(w.V)
	var q mat.Dense
	qr.QTo(&q)
	d, l := w.V.Dims()
	return mat.DenseCopyOf(q.Slice(0, d, l, d))
}

// Whole is the view of all working coordinates.
func (f *Finder) Whole() View {
	d := f.Space.Dim()
	return View{origin: make([]float64, d), V: mat.DenseCopyOf(symmetric.Identity(d))}
}
