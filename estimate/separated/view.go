package separated

import (
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts/component"
)

// A view looks at the working coordinates x in l orthonormal directions: y = V^T (x - origin).
type view struct {
	origin []float64
	v      *mat.Dense // d x l
}

func (w view) dim() int {
	_, l := w.v.Dims()
	return l
}

// frame maps rows to y.
func (w view) frame(s component.Space) query.Affine {
	return s.Frame(w.origin, mat.DenseCopyOf(w.v.T()))
}

// of composes: z = u^T (y - mean) for u l x q.
func (w view) of(mean []float64, u *mat.Dense) view {
	var v mat.Dense
	v.Mul(w.v, u)
	return view{origin: w.up(mean), v: &v}
}

// up is the point of the working coordinates that is seen at y, in the plane of the view.
func (w view) up(y []float64) []float64 {
	x := append([]float64(nil), w.origin...)
	for i := range x {
		for j, v := range y {
			x[i] += w.v.At(i, j) * v
		}
	}
	return x
}

// down is where the view sees x.
func (w view) down(x []float64) []float64 {
	y := make([]float64, w.dim())
	for i, o := range w.origin {
		for j := range y {
			y[j] += w.v.At(i, j) * (x[i] - o)
		}
	}
	return y
}

// see is g as the view sees it.
func (w view) see(g component.Gaussian) component.Gaussian {
	g.Mean = w.down(g.Mean)
	g.Cov = symmetric.Congruence(mat.DenseCopyOf(w.v.T()), g.Cov)
	return g
}

// lift is g, seen by the view, in all working coordinates, with the given variance in all
// directions that the view does not see.
func (w view) lift(g component.Gaussian, rest float64) component.Gaussian {
	cov := symmetric.Congruence(w.v, g.Cov)
	for i := range w.origin {
		for j := i; j < len(w.origin); j++ {
			p := 0.0 // of V V^T
			for l := range w.dim() {
				p += w.v.At(i, l) * w.v.At(j, l)
			}
			one := 0.0
			if i == j {
				one = 1
			}
			cov.SetSym(i, j, cov.At(i, j)+rest*(one-p))
		}
	}
	g.Mean, g.Cov = w.up(g.Mean), cov
	return g
}
