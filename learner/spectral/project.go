package spectral

import (
	"math"
	"math/rand/v2"
)

// turns of the orthogonal iteration: a utility constant. A direction whose singular value is a
// tenth smaller than another's is left with less than 1e-4 of it; directions closer than that tell
// the components apart about equally well.
const turns = 50

// project returns the rows, less their mean, in the span of their k leading right singular vectors:
// n x min(k, d) numbers. Rows so large that float64 overflows have coordinates that are not
// numbers.
//
// The span is found by orthogonal iteration. Its arithmetic is written out here and not left to a
// library of linear algebra: those run on implementations that any package of the process can
// replace, and keep their workspaces.
func project(rows [][]float64, k int) [][]float64 {
	d := len(rows[0])
	mean := make([]float64, d)
	for i, r := range rows {
		for j, v := range r {
			mean[j] += (v - mean[j]) / float64(i+1)
		}
	}
	x, big := make([][]float64, len(rows)), 0.0
	for i, r := range rows {
		x[i] = make([]float64, d)
		for j, v := range r {
			x[i][j] = v - mean[j]
			big = math.Max(big, math.Abs(x[i][j]))
		}
	}
	if d <= k {
		return x
	}
	basis := leading(scatter(x, big), k)
	y := make([][]float64, len(x))
	for i, r := range x {
		y[i] = make([]float64, k)
		for c, v := range basis {
			y[i][c] = dot(r, v)
		}
	}
	return y
}

// scatter is the sum of (x/big)(x/big)^T.
func scatter(x [][]float64, big float64) [][]float64 {
	s := make([][]float64, len(x[0]))
	for i := range s {
		s[i] = make([]float64, len(s))
	}
	unit := make([]float64, len(s))
	for _, r := range x {
		for j, v := range r {
			if v != 0 {
				v /= big
			}
			unit[j] = v
		}
		for i, v := range unit {
			for j := range i + 1 {
				s[i][j] += v * unit[j]
			}
		}
	}
	for i := range s {
		for j := range i {
			s[j][i] = s[i][j]
		}
	}
	return s
}

// leading returns k orthonormal vectors that span about what the k leading eigenvectors of s do, or
// zeros in the place of those beyond its rank.
func leading(s [][]float64, k int) [][]float64 {
	rng := rand.New(rand.NewPCG(uint64(len(s)), uint64(k)))
	v := make([][]float64, k)
	for c := range v {
		v[c] = make([]float64, len(s))
		for i := range v[c] {
			v[c][i] = rng.NormFloat64()
		}
	}
	next := make([]float64, len(s))
	for range turns {
		for c := range v {
			for i, row := range s {
				next[i] = dot(row, v[c])
			}
			v[c], next = next, v[c]
		}
		orthonormal(v)
	}
	return v
}

// orthonormal makes v orthonormal by the method of Gram and Schmidt, twice for the sake of
// rounding.
func orthonormal(v [][]float64) {
	for c, w := range v {
		for range 2 {
			for _, u := range v[:c] {
				p := dot(u, w)
				for i := range w {
					w[i] -= p * u[i]
				}
			}
			length := math.Sqrt(dot(w, w))
			for i := range w {
				if length > 0 {
					w[i] /= length
				}
			}
		}
	}
}

func dot(a, b []float64) float64 {
	s := 0.0
	for i, v := range a {
		s += v * b[i]
	}
	return s
}
