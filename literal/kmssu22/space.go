package kmssu22

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
)

// A space is a linear map of rows, z = W(x - center), with its pseudo-inverse, which is kept and
// never computed: it is changed by maps whose inverses are known.
type space struct {
	w, wi  *mat.Dense // dim x d and d x dim
	center []float64
}

// whole returns the space of all columns as they are.
func whole(d int) space {
	s := space{mat.NewDense(d, d, nil), mat.NewDense(d, d, nil), make([]float64, d)}
	for i := range d {
		s.w.Set(i, i, 1)
		s.wi.Set(i, i, 1)
	}
	return s
}

func (s space) dim() int { n, _ := s.w.Dims(); return n }

// frame returns the map as a query takes it.
func (s space) frame() query.Affine {
	a := query.Affine{Center: s.center, W: make([][]float64, s.dim())}
	for i := range a.W {
		a.W[i] = s.w.RawRowView(i)
	}
	return a
}

// at returns the space with its centre where z is.
func (s space) at(z []float64) space {
	var move mat.VecDense
	move.MulVec(s.wi, mat.NewVecDense(len(z), z))
	center := append([]float64(nil), s.center...)
	for j := range center {
		center[j] += move.AtVec(j)
	}
	s.center = center
	return s
}

// scaled returns the space after the symmetric map that multiplies each column of v, an orthonormal
// basis, by its factor.
func (s space) scaled(v *mat.Dense, factors []float64) space {
	inverse := make([]float64, len(factors))
	for i, f := range factors {
		inverse[i] = 1 / f
	}
	w, wi := new(mat.Dense), new(mat.Dense)
	w.Mul(stretch(v, factors), s.w)
	wi.Mul(s.wi, stretch(v, inverse))
	return space{w, wi, s.center}
}

// stretch returns v diag(factors) v^T.
func stretch(v *mat.Dense, factors []float64) *mat.Dense {
	var t, out mat.Dense
	t.Mul(v, mat.NewDiagDense(len(factors), factors))
	out.Mul(&t, v.T())
	return &out
}

// publicSeed is that of all public draws: reference points, rotations and shifts, drawn
// independently of the table.
const publicSeed = 0x4b4d5353553232

// seed returns that of the next public draw. How many were made before is a function of released
// values.
func (r *run) seed() uint64 {
	r.draws++
	return publicSeed + r.draws
}

// fullest returns the key of the cell of the largest count along a coordinate; false if none was
// released.
func fullest(cells []kernel.HistogramCell, coordinate int) (key float64, ok bool) {
	most := math.Inf(-1)
	for _, c := range cells {
		if c.Coordinate == coordinate && c.Count > most {
			most, key, ok = c.Count, c.Key[0], true
		}
	}
	return key, ok
}

func repeat(v float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = v
	}
	return out
}
