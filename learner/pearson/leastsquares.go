package pearson

import (
	"math"

	"github.com/gauze-dp/gauze/dense"
)

// leastSquares minimises |a x - b| over x, a being n x m, by orthogonalising a's columns, then b;
// false if the columns are dependent as far as rounding lets it see, are more than the rows, or are
// not finite. It leaves a and b alone.
func leastSquares(a, b []float64, n, m int) ([]float64, bool) {
	if n < m {
		return nil, false
	}
	p := m + 1
	columns, lengths := make([]float64, p*n), make([]float64, m) // a's, and b, as rows
	copy(columns[m*n:], b[:n])
	for c := range m {
		for i := range n {
			columns[c*n+i] = a[i*m+c]
			lengths[c] = math.Hypot(lengths[c], a[i*m+c])
		}
	}
	l := dense.LQ(columns, p, n)
	x := l[m*p : m*p+m] // times the transposed triangle's inverse
	for c := m - 1; c >= 0; c-- {
		if !(l[c*p+c] > 0x1p-50*lengths[c]) {
			return nil, false
		}
		for i := c + 1; i < m; i++ {
			x[c] -= l[i*p+c] * x[i]
		}
		x[c] /= l[c*p+c]
	}
	return x, dense.AllFinite(x)
}
