// Package wing is what only learners that run as printed need beside package dense, and by its
// rules: plain numbers, the standard library, an order of operations that is part of each function.
package wing

import "github.com/gauze-dp/gauze/dense"

// Identity is the n x n identity.
func Identity(n int) []float64 {
	a := make([]float64, n*n)
	for i := range n {
		a[i*n+i] = 1
	}
	return a
}

// Gram is a a', of a square a.
func Gram(a []float64, n int) []float64 {
	out := make([]float64, n*n)
	for i := range n {
		for j := range n {
			out[i*n+j] = dense.Dot(a[i*n:i*n+n], a[j*n:j*n+n])
		}
	}
	return out
}

// SolveLower replaces b, n x m, by l^-1 b, l lower triangular: dense.Forward, for all columns at
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
