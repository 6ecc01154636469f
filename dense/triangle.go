package dense

import "math"

// Cholesky replaces a by its lower triangular Cholesky factor, with zeros above. It reads the lower
// triangle only, and returns false unless the matrix is finite and, up to rounding, positive
// definite; a is then overwritten with garbage.
func Cholesky(a []float64, n int) bool {
	_, ok := CholeskyLog(a, n)
	return ok
}

// CholeskyLog returns Cholesky, and the logarithm of the determinant of a as the sum of those of
// the pivots, which are the squares of the factor's diagonal before it was rounded.
func CholeskyLog(a []float64, n int) (logDet float64, ok bool) {
	for j := 0; j < n; j++ {
		s := pivot(a, n, j)
		if !(s > 0) || math.IsInf(s, 0) {
			return 0, false
		}
		logDet += math.Log(s)
		a[j*n+j] = math.Sqrt(s)
		clear(a[j*n+j+1 : j*n+n])
	}
	return logDet, true
}

// pivot makes row j of a Cholesky factor, of which the rows above are there, and returns the square
// of its diagonal entry.
func pivot(a []float64, n, j int) float64 {
	row := a[j*n : j*n+j+1]
	for k := 0; k <= j; k++ {
		other := a[k*n : k*n+k+1]
		s := row[k]
		for i, x := range other[:k] {
			s -= row[i] * x
		}
		if k == j {
			return s
		}
		row[k] = s / other[k]
	}
	return 0
}

// LogDiagonal returns the logarithm of the product of the diagonal, which of a Cholesky factor is
// half of that of the determinant.
func LogDiagonal(l []float64, n int) float64 {
	s := 0.0
	for i := range n {
		s += math.Log(l[i*n+i])
	}
	return s
}

// Forward replaces x by l^-1 x, l lower triangular.
func Forward(l, x []float64, n int) {
	for i := range n {
		v := x[i]
		for k, w := range x[:i] {
			v -= l[i*n+k] * w
		}
		x[i] = v / l[i*n+i]
	}
}

// Backward replaces x by (l')^-1 x, l lower triangular.
func Backward(l, x []float64, n int) {
	for i := n - 1; i >= 0; i-- {
		v := x[i]
		for k := i + 1; k < n; k++ {
			v -= l[k*n+i] * x[k]
		}
		x[i] = v / l[i*n+i]
	}
}

// InvertLower writes the inverse of a lower triangle l to the lower triangle of x, which may be l;
// false if it is not finite. It solves l X = I: the columns are Forward's, so that l X is near I.
func InvertLower(x, l []float64, n int) bool {
	for i := range n {
		row, to := l[i*n:i*n+i+1], x[i*n:i*n+i+1]
		for j := range i {
			v := 0.0
			for k := j; k < i; k++ {
				v -= row[k] * x[k*n+j]
			}
			to[j] = v / row[i]
		}
		to[i] = 1 / row[i]
		if !AllFinite(to) {
			return false
		}
	}
	return true
}

// InvertLowerByRows returns the inverse of a lower triangle l too. It solves X l = I, so that X l,
// not only l X, is near I: then X b is near l^-1 b whenever that is moderate.
func InvertLowerByRows(l []float64, n int) []float64 {
	x := make([]float64, n*n)
	for i := 0; i < n; i++ {
		row := x[i*n : i*n+n]
		row[i] = 1 / l[i*n+i]
		for j := i - 1; j >= 0; j-- {
			s := 0.0
			for k := j + 1; k <= i; k++ {
				s += row[k] * l[k*n+j]
			}
			row[j] = -s / l[j*n+j]
		}
	}
	return x
}

// SolveLower replaces b, n x m, by l^-1 b, l lower triangular: Forward, for all columns at
// once.
func SolveLower(l, b []float64, n, m int) {
	for i := 0; i < n; i++ {
		row := b[i*m : i*m+m]
		for k, f := range l[i*n : i*n+i] {
			for c, x := range b[k*m : k*m+m] {
				row[c] -= f * x
			}
		}
		for c, d := 0, l[i*n+i]; c < m; c++ {
			row[c] /= d
		}
	}
}
