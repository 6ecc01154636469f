package spectral

import (
	"math"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/learner"
)

// errRange is the error of rows whose sizes overflow, or are too far apart.
const errRange learner.Error = "axes: rows of sizes that float64 cannot compare"

const (
	// smallest is the least norm of a column, relative to the largest entry, that is far from
	// underflow.
	smallest = 0x1p-900
	// tiny is how small a singular value is, relative to the largest, to be taken for the rounding
	// of an exact zero.
	tiny = 0x1p-40
)

// axesOf returns the standard deviations along the principal axes of the rows about their mean,
// largest first, and the axes, orthonormal: as many of both as columns. It needs two rows. For
// Gaussian rows the squares have the law of the eigenvalues of X^T X/(n-1), where X has n-1 rows of
// mean zero.
//
// A standard deviation is 0 if it is 0 up to rounding, which depends on no unit: as many are 0 as
// the rows have constant columns, and singular values of rounding size once every other column has
// norm 1.
//
// Method: the triangle of a factorisation by Gram and Schmidt, whose error in every column is
// relative to that column, then Jacobi's rotations, which keep that.
func axesOf(rows [][]float64) (sds []float64, axes [][]float64, err error) {
	if len(rows) < 2 {
		return nil, nil, learner.ErrTooFew
	}
	x, exponent, err := centred(rows)
	if err != nil {
		return nil, nil, err
	}
	d := len(rows[0])
	l := safeLQ(x, d, len(rows))
	rank, err := rankOf(l, d)
	if err != nil {
		return nil, nil, err
	}
	turns := dense.Identity(d)
	values := safeOrthogonalize(l, d, d, turns)
	for i := range d {
		axes = append(axes, turns[i*d:i*d+d:i*d+d])
	}
	order(values, axes)
	for i := range values {
		if i >= rank {
			values[i] = 0
			continue
		}
		values[i] = math.Ldexp(values[i]/math.Sqrt(float64(len(rows)-1)), exponent)
		if !(values[i] > 0) || math.IsInf(values[i], 0) {
			return nil, nil, errRange
		}
	}
	return values, axes, nil
}

// centred returns the columns of the rows less their mean, divided by a power of two so that no
// entry is above 1, one after another. Constant columns are exactly zero, because the first row is
// subtracted before the mean is taken.
func centred(rows [][]float64) (x []float64, exponent int, err error) {
	d, n, big := len(rows[0]), len(rows), 0.0
	x = make([]float64, d*n)
	for i, r := range rows {
		for j := range d {
			x[j*n+i] = r[j] - rows[0][j]
			big = math.Max(big, math.Abs(x[j*n+i]))
		}
	}
	if !dense.Finite(big) {
		return nil, 0, errRange
	}
	_, exponent = math.Frexp(big)
	for j := range d {
		column, mean := x[j*n:j*n+n], 0.0
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

// rankOf returns the number of singular values of the d rows of l, each divided by its norm, that
// are not tiny.
func rankOf(l []float64, d int) (int, error) {
	var unit []float64
	for i := range d {
		row := l[i*d : i*d+d]
		length := safeNorm(row)
		if length == 0 {
			continue
		}
		if length < smallest {
			return 0, errRange
		}
		for _, v := range row {
			unit = append(unit, v/length)
		}
	}
	largest, rank := 0.0, 0
	values := safeOrthogonalize(unit, len(unit)/d, d, nil)
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

// order sorts both by falling value.
func order(values []float64, axes [][]float64) {
	for i := range values {
		for j := i; j > 0 && values[j] > values[j-1]; j-- {
			values[j], values[j-1] = values[j-1], values[j]
			axes[j], axes[j-1] = axes[j-1], axes[j]
		}
	}
}
