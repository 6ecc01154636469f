package dense

import "math"

// LQ is the lower triangular L, n x n with a diagonal that is not negative, of a = L Q, where a is
// n x m and the rows of Q are orthonormal, or 0 where a's rows are dependent. It spoils a. Row by
// row backward stable: rows may be of very different sizes, of about 1e-150 to 1e150.
//
// By the modified method of Gram and Schmidt.
func LQ(a []float64, n, m int) []float64 { return lq(a, n, m, Norm) }

func lq(a []float64, n, m int, norm func([]float64) float64) []float64 {
	l := make([]float64, n*n)
	for j := range n {
		q := a[j*m : j*m+m]
		length := norm(q)
		l[j*n+j] = length
		for c := range q {
			if length != 0 {
				q[c] /= length
			}
		}
		for i := j + 1; i < n; i++ {
			l[i*n+j] = Reject(a[i*m:i*m+m], q)
		}
	}
	return l
}

// Orthonormalize makes the n rows of a, n x m, orthonormal, each by those before it and twice for
// the sake of rounding. A row that depends on those before it becomes what rounding leaves of it,
// made long, or 0 if that is nothing.
//
// By the modified method of Gram and Schmidt.
func Orthonormalize(a []float64, n, m int) {
	for i := range n {
		row := a[i*m : i*m+m]
		for range 2 {
			for j := range i {
				Reject(row, a[j*m:j*m+m])
			}
			if length := Norm(row); length > 0 {
				for c := range row {
					row[c] /= length
				}
			}
		}
	}
}

// LeastSquares minimises |a x - b| over x, a being n x m, by orthogonalising a's columns, then b;
// false if the columns are dependent as far as rounding lets it see, are more than the rows, or are
// not finite. It leaves a and b alone.
func LeastSquares(a, b []float64, n, m int) ([]float64, bool) {
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
	l := LQ(columns, p, n)
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
	return x, AllFinite(x)
}
