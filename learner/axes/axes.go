// Package axes finds the principal axes of a block of rows about their own mean, for learners:
// singular values to high relative accuracy whatever the units of the columns, and which of them
// are zero.
//
// The arithmetic is written out here and not left to a library of linear algebra: those run on
// implementations that any package of the process can replace, and keep their workspaces.
package axes

import (
	"math"

	"github.com/gauze-dp/gauze/learner"
)

// ErrRange is the error of rows whose sizes overflow, or are too far apart.
const ErrRange learner.Error = "axes: rows of sizes that float64 cannot compare"

const (
	// sweeps of the Jacobi iteration, which ends by itself after about eight.
	sweeps = 60
	// flat: columns this near to orthogonal, as a cosine, are taken as orthogonal.
	flat = 0x1p-46
	// smallest is the least norm of a column, relative to the largest entry, that is far from
	// underflow.
	smallest = 0x1p-900
	// tiny is how small a singular value is, relative to the largest, to be taken for the rounding
	// of an exact zero.
	tiny = 0x1p-40
)

// Of returns the standard deviations along the principal axes of the rows about their mean, largest
// first, and the axes, orthonormal: as many of both as columns. It needs two rows. For Gaussian
// rows the squares have the law of the eigenvalues of XᵀX/(n-1), where X has n-1 rows of mean zero.
//
// A standard deviation is 0 if it is 0 up to rounding, which depends on no unit: as many are 0 as
// the rows have constant columns, and singular values of rounding size once every other column has
// norm 1.
//
// Method: R of a QR factorisation by modified Gram-Schmidt, whose error in every column is relative
// to that column, then Jacobi rotations of the columns of R from the right, which keep that.
func Of(rows [][]float64) (sds []float64, axes [][]float64, err error) {
	if len(rows) < 2 {
		return nil, nil, learner.ErrTooFew
	}
	x, exponent, err := centred(rows)
	if err != nil {
		return nil, nil, err
	}
	r := triangle(x)
	rank, err := rankOf(r)
	if err != nil {
		return nil, nil, err
	}
	values, axes := rotate(r, true)
	order(values, axes)
	for i := range values {
		if i >= rank {
			values[i] = 0
			continue
		}
		values[i] = math.Ldexp(values[i]/math.Sqrt(float64(len(rows)-1)), exponent)
		if !(values[i] > 0) || math.IsInf(values[i], 0) {
			return nil, nil, ErrRange
		}
	}
	return values, axes, nil
}

// centred returns the columns of the rows less their mean, divided by a power of two so that no
// entry is above 1. Constant columns are exactly zero, because the first row is subtracted before
// the mean is taken.
func centred(rows [][]float64) (x [][]float64, exponent int, err error) {
	d, big := len(rows[0]), 0.0
	x = make([][]float64, d)
	for j := range x {
		x[j] = make([]float64, len(rows))
		for i, r := range rows {
			x[j][i] = r[j] - rows[0][j]
			big = math.Max(big, math.Abs(x[j][i]))
		}
	}
	if big-big != 0 { // not finite
		return nil, 0, ErrRange
	}
	_, exponent = math.Frexp(big)
	for _, column := range x {
		mean := 0.0
		for i := range column {
			column[i] = math.Ldexp(column[i], -exponent)
			mean += (column[i] - mean) / float64(i+1)
		}
		for i := range column {
			column[i] -= mean
		}
	}
	return x, exponent, nil
}

// triangle returns the columns of R, square, with x = QR. It destroys x.
func triangle(x [][]float64) [][]float64 {
	r := make([][]float64, len(x))
	for j := range r {
		r[j] = make([]float64, len(x))
	}
	for j, q := range x {
		length := norm(q)
		r[j][j] = length
		if length == 0 {
			continue
		}
		for i := range q {
			q[i] /= length
		}
		for l := j + 1; l < len(x); l++ {
			v := dot(q, x[l])
			r[l][j] = v
			for i := range q {
				x[l][i] -= v * q[i]
			}
		}
	}
	return r
}

// rankOf is the number of singular values of the columns, each divided by its norm, that are not
// tiny.
func rankOf(columns [][]float64) (int, error) {
	var unit [][]float64
	for _, c := range columns {
		length := norm(c)
		if length == 0 {
			continue
		}
		if length < smallest {
			return 0, ErrRange
		}
		u := make([]float64, len(c))
		for i, v := range c {
			u[i] = v / length
		}
		unit = append(unit, u)
	}
	values, _ := rotate(unit, false)
	largest, rank := 0.0, 0
	for _, v := range values {
		largest = math.Max(largest, v)
	}
	for _, v := range values {
		if v > tiny*largest {
			rank++
		}
	}
	return rank, nil
}

// rotate turns the columns until they are orthogonal and returns their norms, the singular values,
// and the columns of the product of the rotations, the right singular vectors (the identity if they
// are not asked for). It destroys columns.
func rotate(columns [][]float64, vectors bool) (values []float64, v [][]float64) {
	v = make([][]float64, len(columns))
	for i := range v {
		v[i] = make([]float64, len(columns))
		v[i][i] = 1
	}
	for range sweeps {
		turned := false
		for p := range columns {
			for q := p + 1; q < len(columns); q++ {
				c, s, ok := rotation(columns[p], columns[q])
				if !ok {
					continue
				}
				turned = true
				turn(columns[p], columns[q], c, s)
				if vectors {
					turn(v[p], v[q], c, s)
				}
			}
		}
		if !turned {
			break
		}
	}
	for _, c := range columns {
		values = append(values, norm(c))
	}
	return values, v
}

// rotation is the one that makes a and b orthogonal, unless they are.
func rotation(a, b []float64) (c, s float64, ok bool) {
	na, nb := norm(a), norm(b)
	if na == 0 || nb == 0 {
		return 0, 0, false
	}
	cosine := 0.0
	for i := range a {
		cosine += a[i] / na * (b[i] / nb)
	}
	if !(math.Abs(cosine) > flat) {
		return 0, 0, false
	}
	t := 1.0
	if ratio := (nb/na - na/nb) / (2 * cosine); ratio != 0 {
		t = math.Copysign(1/(math.Abs(ratio)+math.Hypot(1, ratio)), ratio)
	}
	c = 1 / math.Hypot(1, t)
	return c, c * t, true
}

func turn(a, b []float64, c, s float64) {
	for i, v := range a {
		a[i], b[i] = c*v-s*b[i], s*v+c*b[i]
	}
}

// order sorts both by falling value.
func order(values []float64, axes [][]float64) {
	for i := range values {
		for j := i; j > 0 && values[j] > values[j-1]; j-- {
			values[j], values[j-1] = values[j-1], values[j]
			axes[j], axes[j-1] = axes[j-1], axes[j]
		}
	}
}

// norm is the Euclidean norm, without underflow.
func norm(x []float64) float64 {
	big := 0.0
	for _, v := range x {
		big = math.Max(big, math.Abs(v))
	}
	if big == 0 {
		return 0
	}
	s := 0.0
	for _, v := range x {
		s += v / big * (v / big)
	}
	return big * math.Sqrt(s)
}

func dot(a, b []float64) float64 {
	s := 0.0
	for i, v := range a {
		s += v * b[i]
	}
	return s
}
