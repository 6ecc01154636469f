package dense

import "math"

// Invert returns the inverse of a, by elimination with pivots that are chosen relative to the rows'
// largest entries; false if a pivot is zero or anything is not finite. It does not change a.
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
			m[c][x] /= m[c][c] // for a pivot of 0, not finite from here on
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
