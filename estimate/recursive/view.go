package recursive

import (
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts/component"
)

// A View projects the working coordinates x onto l orthonormal directions: y = V^T (x - origin).
type View struct {
	origin []float64
	V      *mat.Dense // d x l
}

// Dim returns the number of directions.
func (w View) Dim() int {
	_, l := w.V.Dims()
	return l
}

// frame maps rows to y.
func (w View) frame(s component.Space) query.Affine {
	return s.Affine(w.origin, mat.DenseCopyOf(w.V.T()))
}

// of composes: z = u^T (y - mean) for u l x q.
func (w View) of(mean []float64, u *mat.Dense) View {
	var v mat.Dense
	v.Mul(w.V, u)
	return View{origin: w.Up(mean), V: &v}
}

// Up returns the point of the working coordinates, in the plane of the view, with the view's
// coordinates y.
func (w View) Up(y []float64) []float64 {
	x := slices.Clone(w.origin)
	symmetric.AddMul(x, w.V, y)
	return x
}

// down returns the view's coordinates of x.
func (w View) down(x []float64) []float64 {
	y := make([]float64, w.Dim())
	symmetric.AddMulT(y, w.V, floats.SubTo(make([]float64, len(x)), x, w.origin))
	return y
}

// see returns g in the view's coordinates.
func (w View) see(g component.Gaussian) component.Gaussian {
	g.Mean = w.down(g.Mean)
	g.Cov = symmetric.Congruence(mat.DenseCopyOf(w.V.T()), g.Cov)
	return g
}

// Lift returns g, given in the view's coordinates, in all working coordinates, with the given
// variance in all directions that the view does not contain.
func (w View) Lift(g component.Gaussian, rest float64) component.Gaussian {
	seen, one := symmetric.Congruence(w.V, g.Cov), symmetric.Identity(len(w.origin))
	g.Mean, g.Cov = w.Up(g.Mean), symmetric.Of(len(w.origin), func(i, j int) float64 {
		return seen.At(i, j) + rest*(one.At(i, j)-dense.Dot(w.V.RawRowView(i), w.V.RawRowView(j)))
	})
	return g
}

// Whole returns the view of all working coordinates.
func (f *Finder) Whole() View {
	d := f.Space.Dim()
	return View{origin: make([]float64, d), V: mat.DenseCopyOf(symmetric.Identity(d))}
}
