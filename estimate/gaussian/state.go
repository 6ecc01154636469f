package gaussian

import (
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts/stagezero"
)

// state is a preconditioner: w = W(y - m) for the scaled columns y = (x - center)/scale, in r =
// rank coordinates.
//
// Invariant: W Wi = I (r x r); m is a point of the affine space that the rank leaves. Wi is kept,
// never computed by inversion.
type state struct {
	columns       []int
	center, scale []float64 // raw units, of the kept columns
	m             []float64
	w, wi         *mat.Dense // r x d, d x r
	nu            float64    // of the steps that made it
	// Of the last step: where the noise hid the spread.
	hidden []hiddenDirection
	empty  []hiddenDirection // that were dropped: the rows have no spread there
}

type hiddenDirection struct {
	direction []float64 // unit vector over the kept columns in scaled units
	std       float64   // at most
}

func newState(columns []int, u stagezero.Units) *state {
	d := len(columns)
	s := &state{columns: columns, m: make([]float64, d), w: identity(d), wi: identity(d), nu: 1}
	for _, j := range columns {
		s.center = append(s.center, u.Center[j])
		s.scale = append(s.scale, u.Scale[j])
	}
	return s
}

func (s *state) clone() *state {
	c := *s
	c.m = append([]float64(nil), s.m...)
	c.w, c.wi = mat.DenseCopyOf(s.w), mat.DenseCopyOf(s.wi)
	return &c
}

func (s *state) rank() int {
	r, _ := s.w.Dims()
	return r
}

// frame is the map x -> factor * W(y - m) from raw rows; ok is false if it does not fit float64.
func (s *state) frame(factor float64) (frame query.Affine, ok bool) {
	r, d := s.w.Dims()
	frame = query.Affine{Columns: s.columns, Center: make([]float64, d), W: make([][]float64, r)}
	ok = true
	for j := range d {
		frame.Center[j] = s.center[j] + s.scale[j]*s.m[j]
		ok = ok && dense.Finite(frame.Center[j])
	}
	for i := range r {
		frame.W[i] = make([]float64, d)
		for j := range d {
			frame.W[i][j] = factor * s.w.At(i, j) / s.scale[j]
			ok = ok && dense.Finite(frame.W[i][j])
		}
	}
	return frame, ok
}

// raw takes a point z of the working coordinates (times factor) to raw units.
func (s *state) raw(z []float64, factor float64) []float64 {
	d := len(s.m)
	x := make([]float64, d)
	for j := range d {
		y := s.m[j]
		for i, v := range z {
			y += s.wi.At(j, i) * v / factor
		}
		x[j] = s.center[j] + s.scale[j]*y
	}
	return x
}

// project is the projective update of Section 4.1 step 4: C is an (r+1) x (r+1) map of f = (w, 1),
// whose rotations do not matter. It reports false if the result does not fit float64.
func (s *state) project(c *mat.Dense) bool {
	r := s.rank()
	var qr mat.QR
	qr.Factorize(c)
	var up mat.Dense
	qr.RTo(&up)
	t := up.At(r, r)
	c1 := mat.DenseCopyOf(up.Slice(0, r, 0, r))
	last := mat.NewVecDense(r, nil)
	for i := range r {
		last.SetVec(i, up.At(i, r))
	}
	var inverse mat.Dense
	if err := inverse.Inverse(c1); err != nil {
		if _, ill := err.(mat.Condition); !ill {
			return false
		}
	}
	var shift, move mat.VecDense
	shift.MulVec(&inverse, last)
	move.MulVec(s.wi, &shift)
	var w, wi mat.Dense
	w.Mul(c1, s.w)
	w.Scale(1/t, &w)
	wi.Mul(s.wi, &inverse)
	wi.Scale(t, &wi)
	for j := range s.m {
		s.m[j] -= move.AtVec(j)
	}
	s.w, s.wi = &w, &wi
	return dense.AllFinite(s.m) && dense.AllFinite(w.RawMatrix().Data) && dense.AllFinite(wi.RawMatrix().Data)
}

func identity(d int) *mat.Dense { return mat.DenseCopyOf(symmetric.Identity(d)) }
