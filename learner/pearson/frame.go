package pearson

import (
	"math"

	"github.com/gauze-dp/gauze/dense"
)

// A table is rows in a frame in which their mean is 0 and their covariance I: n x d numbers.
type table struct {
	n, d int
	x    []float64
}

func (t table) row(i int) []float64 { return t.x[i*t.d : (i+1)*t.d] }

// A frame takes rows to coordinates that do not change under x -> Ax+b: x = origin + mixed times
// the coordinates.
type frame struct {
	origin []float64
	mixed  []float64 // d x d
}

// pivotLength is how much of a row has to lie outside the span of those before it for the row to
// turn the frame: a utility constant.
const pivotLength = .1

// whiten returns the rows in their frame: less their mean, in units of the Cholesky factor of their
// covariance, and turned so that the first rows are lower triangular. The factor depends on the
// coordinate system by a rotation, which the last step takes away. False if the rows do not span
// all columns, or are too large for float64.
func whiten(rows [][]float64) (table, frame, bool) {
	n, d := len(rows), len(rows[0])
	t := table{n, d, make([]float64, n*d)}
	f := frame{make([]float64, d), make([]float64, d*d)}
	for j := range d {
		if !standardize(t, f, rows, j) {
			return t, f, false
		}
	}
	for range 2 { // the second time fixes what rounding left of correlated columns
		l := t.covariance()
		if !dense.Cholesky(l, d) {
			return t, f, false
		}
		t.divide(l)
		f.mixed = dense.Mul(f.mixed, l, d, d, d)
	}
	q, ok := t.turn()
	if !ok {
		return t, f, false
	}
	t.x = dense.Mul(t.x, q, n, d, d)
	f.mixed = dense.Mul(f.mixed, q, d, d, d)
	return t, f, true
}

// standardize copies a column, less its mean and divided by its standard deviation.
func standardize(t table, f frame, rows [][]float64, j int) bool {
	big, base := 0.0, rows[0][j]
	for _, r := range rows {
		big = math.Max(big, math.Abs(r[j]-base))
	}
	if !(big > 0) || math.IsInf(big, 0) {
		return false
	}
	mean, square := 0.0, 0.0
	for i, r := range rows {
		v := (r[j] - base) / big
		t.x[i*t.d+j] = v
		mean += v
	}
	mean /= float64(t.n)
	for i := range rows {
		v := t.x[i*t.d+j] - mean
		square += v * v
	}
	sd := math.Sqrt(square / float64(t.n))
	for i := range rows {
		t.x[i*t.d+j] = (t.x[i*t.d+j] - mean) / sd
	}
	f.origin[j] = base + big*mean
	f.mixed[j*t.d+j] = big * sd
	return sd > 0
}

// covariance of rows whose mean is 0.
func (t table) covariance() []float64 {
	d := t.d
	s := make([]float64, d*d)
	for i := range t.n {
		for a, v := range t.row(i) {
			for b, w := range t.row(i)[:a+1] {
				s[a*d+b] += v * w
			}
		}
	}
	for a := range d {
		for b := range a + 1 {
			s[a*d+b] /= float64(t.n)
			s[b*d+a] = s[a*d+b]
		}
	}
	return s
}

// divide takes every row x to L^-1 x.
func (t table) divide(l []float64) {
	for i := range t.n {
		dense.Forward(l, t.row(i), t.d)
	}
}

// turn returns the orthogonal matrix, columns the new axes, that the first rows in general position
// make: Gram and Schmidt's.
func (t table) turn() ([]float64, bool) {
	d := t.d
	q, axes := make([]float64, d*d), [][]float64(nil)
	for i := 0; i < t.n && len(axes) < d; i++ {
		v := append([]float64(nil), t.row(i)...)
		for range 2 {
			for _, u := range axes {
				dense.Reject(v, u)
			}
		}
		if r := dense.Norm(v); r > pivotLength {
			for a := range v {
				v[a] /= r
				q[a*d+len(axes)] = v[a]
			}
			axes = append(axes, v)
		}
	}
	return q, len(axes) == d
}
