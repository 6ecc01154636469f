package pearson

import (
	"math"

	"github.com/gauze-dp/gauze/dense"
)

// leastSquares minimises |a x - b| over x, a being rows x cols, by orthogonalising a's columns,
// then b; false if the columns are dependent as far as rounding lets it see, are more than the
// rows, or are not finite. It leaves a and b alone.
func leastSquares(a []float64, rows, cols int, b []float64) ([]float64, bool) {
	if rows < cols {
		return nil, false
	}
	n := cols + 1
	m, lengths := make([]float64, n*rows), make([]float64, cols) // the columns, and b, as rows
	copy(m[cols*rows:], b[:rows])
	for c := range cols {
		for i := range rows {
			m[c*rows+i] = a[i*cols+c]
			lengths[c] = math.Hypot(lengths[c], a[i*cols+c])
		}
	}
	l := dense.LQ(m, n, rows)
	x := l[cols*n : cols*n+cols] // times the transposed triangle's inverse
	for c := cols - 1; c >= 0; c-- {
		if !(l[c*n+c] > 0x1p-50*lengths[c]) {
			return nil, false
		}
		for i := c + 1; i < cols; i++ {
			x[c] -= l[i*n+c] * x[i]
		}
		x[c] /= l[c*n+c]
	}
	return x, dense.AllFinite(x)
}

// solveLower replaces b, n x cols, by the inverse of l times b, where l is lower triangular; what
// is above l's diagonal is not read.
func solveLower(l []float64, n int, b []float64, cols int) {
	for i := 0; i < n; i++ {
		row := b[i*cols : i*cols+cols]
		for k, f := range l[i*n : i*n+i] {
			for c, x := range b[k*cols : k*cols+cols] {
				row[c] -= f * x
			}
		}
		for c, d := 0, l[i*n+i]; c < cols; c++ {
			row[c] /= d
		}
	}
}
