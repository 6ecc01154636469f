// Package tyler makes rows round without any bound on them: noisy steps of Tyler's iteration on the
// augmented rows (x, 1), whose sensitivity knows no radius, until a certificate computed from
// released values says that the rows look round. What the steps measured can be used once more: a
// State is a frame, and the history of a Rounder says what was seen in which frame, by the second
// moments that directions of Gaussian rows have in it.
//
// Where rows are round, between spherical laws only that of q = |z|^2 differs. A RadialHistogram
// releases it, and a RadialLaw says what clipping does to moments under it. Two descriptions are
// fitted to a histogram: the Pearson family, which goes from bounded laws over the Gaussian to the
// multivariate t, and the histogram itself with a generalized Pareto tail.
//
// Everything is a function of public facts and released values, and all constants are about
// utility.
//
// Source: [TYLERPRESS] Section 3, private radius, and Sections 4.1, 4.2, 4.4 and 4.6.
package tyler

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts/component"
)

// A State is a preconditioner: w = W(y - M) for the scaled columns y = (x - Center)/Scale, in rank
// coordinates.
//
// Invariant: W Wi = I (r x r); M is a point of the affine space that the rank leaves. Wi is kept,
// never computed by inversion.
type State struct {
	component.Space // of the columns that vary
	M               []float64
	W, Wi           *mat.Dense // r x d, d x r
	// Nu of the steps that made it; 0 for a state that no step made, whose unit is the sd.
	Nu float64

	hidden []direction // of the last step: where the noise hid the spread
	empty  []direction // that were dropped: the rows have no spread there
}

// A direction over the kept columns, in scaled units, of length 1, and the most that the spread
// along it is.
type direction struct {
	unit []float64
	std  float64
}

// New returns the state that centres and scales and does nothing else.
func New(space component.Space) *State {
	d := space.Dim()
	return &State{Space: space, M: make([]float64, d), W: identity(d), Wi: identity(d)}
}

func identity(d int) *mat.Dense { return mat.DenseCopyOf(symmetric.Identity(d)) }

func (s *State) clone() *State {
	c := *s
	c.M = append([]float64(nil), s.M...)
	c.W, c.Wi = mat.DenseCopyOf(s.W), mat.DenseCopyOf(s.Wi)
	return &c
}

// Rank returns the number of working coordinates.
func (s *State) Rank() int {
	r, _ := s.W.Dims()
	return r
}

// Root returns what the working coordinates are multiplied by for the sd of a Gaussian to be 1.
func (s *State) Root() float64 {
	if s.Nu == 0 {
		return 1
	}
	return math.Sqrt(consistency(s.Rank(), s.Nu))
}

// Standard returns the space in which every column has the state's centre and standard deviation,
// and the covariance that round rows have there. The state has full rank.
func (s *State) Standard() (component.Space, *mat.SymDense) {
	d, root := s.Dim(), s.Root()
	space := component.Space{Columns: s.Columns, Center: make([]float64, d), Scale: make([]float64, d)}
	unit := mat.NewDense(d, d, nil)
	for j := range d {
		sd := math.Sqrt(dense.Norm2(s.Wi.RawRowView(j)))
		space.Center[j], space.Scale[j] = s.Center[j]+s.Scale[j]*s.M[j], s.Scale[j]*sd/root
		floats.ScaleTo(unit.RawRowView(j), 1/sd, s.Wi.RawRowView(j))
	}
	return space, symmetric.Congruence(unit, symmetric.Identity(d))
}

// Affine returns the map x -> factor * W(y - M) from raw rows; ok is false if it does not fit
// float64.
func (s *State) Affine(factor float64) (frame query.Affine, ok bool) {
	var w mat.Dense
	w.Scale(factor, s.W)
	frame = s.Space.Affine(s.M, &w)
	ok = dense.AllFinite(frame.Center)
	for _, row := range frame.W {
		ok = ok && dense.AllFinite(row)
	}
	return frame, ok
}

// Raw takes the point mean of the working coordinates (times factor), and a factor of a covariance
// there, to the raw units of the columns.
func (s *State) Raw(mean []float64, spread mat.Matrix, factor float64) ([]float64, *mat.Dense) {
	x, raw := make([]float64, len(s.M)), new(mat.Dense)
	raw.Mul(s.Wi, spread)
	for j, y := range s.M {
		for i, v := range mean {
			y += s.Wi.At(j, i) * v / factor
		}
		x[j] = s.Center[j] + s.Scale[j]*y
		floats.Scale(s.Scale[j]/factor, raw.RawRowView(j))
	}
	return x, raw
}

// A Direction of the table's columns, in their own units and of length 1, with a bound on the
// spread along it.
type Direction struct {
	Direction []float64
	StdAtMost float64
}

// Hidden returns the directions of a table of d columns in which the noise of the last step hid the
// spread.
func (s *State) Hidden(d int) []Direction { return s.raw(d, s.hidden) }

// Empty returns the directions in which the rows have no spread.
func (s *State) Empty(d int) []Direction { return s.raw(d, s.empty) }

func (s *State) raw(d int, directions []direction) (out []Direction) {
	for _, h := range directions {
		full := make([]float64, d)
		for i, j := range s.Columns {
			full[j] = h.unit[i] / s.Scale[i]
		}
		if norm, ok := normed(full); ok {
			out = append(out, Direction{full, h.std / norm})
		}
	}
	return out
}

// normed divides v by its norm; ok is false if it has none in float64.
func normed(v []float64) (norm float64, ok bool) {
	norm = symmetric.HypotNorm(v)
	for j := range v {
		v[j] /= norm
	}
	return norm, norm > 0 && dense.Finite(norm)
}

// project returns the projective update of Section 4.1 step 4: C is an (r+1) x (r+1) map of f = (w,
// 1), whose rotations do not matter. It reports false if the result does not fit float64.
func (s *State) project(c *mat.Dense) bool {
	r := s.Rank()
	var qr mat.QR
	qr.Factorize(c)
	var up, w, wi, inverse mat.Dense
	qr.RTo(&up)
	t, c1 := up.At(r, r), up.Slice(0, r, 0, r)
	if err := inverse.Inverse(c1); err != nil {
		if _, ill := err.(mat.Condition); !ill {
			return false
		}
	}
	var shift, move mat.VecDense
	shift.MulVec(&inverse, mat.NewVecDense(r, mat.Col(nil, r, up.Slice(0, r, 0, r+1))))
	move.MulVec(s.Wi, &shift)
	w.Mul(c1, s.W)
	w.Scale(1/t, &w)
	wi.Mul(s.Wi, &inverse)
	wi.Scale(t, &wi)
	floats.Sub(s.M, move.RawVector().Data)
	s.W, s.Wi = &w, &wi
	return dense.AllFinite(s.M) && dense.AllFinite(w.RawMatrix().Data) && dense.AllFinite(wi.RawMatrix().Data)
}
