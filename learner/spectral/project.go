package spectral

import (
	"math"
	"math/rand/v2"

	"github.com/gauze-dp/gauze/dense"
)

// turns of the orthogonal iteration: a utility constant. A direction whose singular value is a
// tenth smaller than another's is left with less than 1e-4 of it; directions closer than that tell
// the components apart about equally well.
const turns = 50

// project returns the rows, less their mean, in the span of their k leading right singular vectors:
// n x min(k, d) numbers. Rows so large that float64 overflows have coordinates that are not
// numbers.
//
// The span is found by orthogonal iteration.
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
	return span(x, leading(scatter(x, big), k))
}

// span returns the rows' inner products with the vectors.
func span(x, vectors [][]float64) [][]float64 {
	y := make([][]float64, len(x))
	for i, r := range x {
		for _, v := range vectors {
			y[i] = append(y[i], dense.Dot(r, v))
		}
	}
	return y
}

// scatter returns the sum of (x/big)(x/big)^T.
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
	d := len(s)
	v, next := make([]float64, k*d), make([]float64, k*d)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	for range turns {
		for c := range k {
			for i, row := range s {
				next[c*d+i] = dense.Dot(row, v[c*d:c*d+d])
			}
		}
		v, next = next, v
		orthonormalize(v, k, d)
	}
	out := make([][]float64, k)
	for c := range out {
		out[c] = v[c*d : c*d+d : c*d+d]
	}
	return out
}
