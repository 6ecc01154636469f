// Package dense is arithmetic on small dense matrices, n up to some twenty, flat and row-major:
// what those need that are handed raw rows, or estimates made of them, and therefore run on nothing
// that another package can replace.
//
// Sizes are the caller's duty: a slice that is too short panics. Matrices with entries that are not
// finite are refused where a function says how, and nothing loops on them.
package dense

import "math"

// Cholesky replaces a by its lower triangular Cholesky factor, with zeros above. It reads the lower
// triangle only, and reports false unless the matrix is finite and, as far as rounding lets it see,
// positive definite; a is spoilt then.
func Cholesky(a []float64, n int) bool {
	for j := 0; j < n; j++ {
		row := a[j*n : j*n+n]
		for k := 0; k <= j; k++ {
			other := a[k*n : k*n+n]
			s := row[k]
			for i, x := range other[:k] {
				s -= row[i] * x
			}
			if k < j {
				row[k] = s / other[k]
				continue
			}
			if !(s > 0) || math.IsInf(s, 0) {
				return false
			}
			row[j] = math.Sqrt(s)
		}
		clear(row[j+1:])
	}
	return true
}

// Invert is the inverse of a, by elimination with pivots that are chosen relative to the rows'
// largest entries; false if a pivot is zero or anything is not finite. It leaves a alone.
func Invert(a []float64, n int) ([]float64, bool) {
	m, scale, out := make([][]float64, n), make([]float64, n), make([]float64, 0, n*n)
	for i := range n {
		m[i] = append(append([]float64(nil), a[i*n:i*n+n]...), make([]float64, n)...)
		m[i][n+i] = 1
		for _, x := range a[i*n : i*n+n] {
			scale[i] = max(scale[i], math.Abs(x))
		}
	}
	for c := range n {
		p := c
		for i := c + 1; i < n; i++ {
			if math.Abs(m[i][c])*scale[p] > math.Abs(m[p][c])*scale[i] {
				p = i
			}
		}
		m[c], m[p], scale[p] = m[p], m[c], scale[c]
		for x := 2*n - 1; x >= c; x-- {
			m[c][x] /= m[c][c] // of 0: not finite from here on
		}
		for i := range n {
			for x := 2*n - 1; i != c && x >= c; x-- {
				m[i][x] -= m[i][c] * m[c][x]
			}
		}
	}
	for i := range n {
		out = append(out, m[i][n:]...)
	}
	return out, AllFinite(a[:n*n]) && AllFinite(out)
}

// Mul is the product of a, n x m, and b, m x p.
func Mul(a, b []float64, n, m, p int) []float64 {
	out := make([]float64, n*p)
	for i := 0; i < n; i++ {
		row := out[i*p : i*p+p]
		for k, f := range a[i*m : i*m+m] {
			for c, x := range b[k*p : k*p+p] {
				row[c] += f * x
			}
		}
	}
	return out
}

// LQ is the lower triangular L, n x n with a diagonal that is not negative, of a = L Q, where a is
// n x m and the rows of Q are orthonormal, or 0 where a's rows are dependent. It spoils a. Row by
// row backward stable: rows may be of very different sizes, of about 1e-150 to 1e150.
//
// By the modified method of Gram and Schmidt.
func LQ(a []float64, n, m int) []float64 {
	l := make([]float64, n*n)
	for j := range n {
		q := a[j*m : j*m+m]
		length := math.Sqrt(Dot(q, q))
		l[j*n+j] = length
		for c := range q {
			if length != 0 {
				q[c] /= length
			}
		}
		for i := j + 1; i < n; i++ {
			row := a[i*m : i*m+m]
			s := Dot(row, q)
			l[i*n+j] = s
			for c, x := range q {
				row[c] -= s * x
			}
		}
	}
	return l
}
