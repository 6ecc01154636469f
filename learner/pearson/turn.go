package pearson

import (
	"github.com/gauze-dp/gauze/dense"
)

// turned returns directions along which a mixture's components should be best apart: for every
// pair, Fisher's with either covariance and with their sum, and those along which the quotient of
// their variances is largest and smallest.
func turned(mixture []gauss, d int) [][]float64 {
	var out [][]float64
	for b, h := range mixture {
		for _, g := range mixture[:b] {
			out = append(out, fisher(g, h, d)...)
			out = append(out, quotients(g, h, d)...)
		}
	}
	return out
}

// turnTo returns the direction in which two components are best apart.
func turnTo(mixture []gauss, d int) (sight, bool) {
	var best sight
	for _, u := range turned(mixture, d) {
		line := along(mixture, u)
		if v := apart(line[0], line[1]); v > best.value {
			best = sight{u, line, v}
		}
	}
	return best, best.line != nil
}

// fisher returns the directions S^-1 (mu_g - mu_h) for S either covariance and their sum, as unit
// vectors.
func fisher(g, h gauss, d int) [][]float64 {
	gap := make([]float64, d)
	for i, m := range g.mean {
		gap[i] = m - h.mean[i]
	}
	a, b := dense.Gram(g.root, d), dense.Gram(h.root, d)
	sum := make([]float64, d*d)
	for i := range sum {
		sum[i] = a[i] + b[i]
	}
	var out [][]float64
	for _, s := range [][]float64{sum, a, b} {
		if inverse, ok := dense.Invert(s, d); ok {
			out = appendUnit(out, dense.Mul(inverse, gap, d, d, 1))
		}
	}
	return out
}

// quotients returns the directions of the largest and the smallest quotient of the two variances,
// as unit vectors.
func quotients(g, h gauss, d int) [][]float64 {
	w := append([]float64(nil), h.root...)
	dense.SolveLower(g.root, w, d, d) // G^-1 H
	_, vectors := dense.Eigen(dense.Gram(w, d), d)
	var out [][]float64
	for _, c := range []int{0, d - 1} {
		v := make([]float64, d)
		for i := range v {
			v[i] = vectors[i*d+c]
		}
		dense.Backward(g.root, v, d) // u = G^-T v
		out = appendUnit(out, v)
	}
	return out
}

func appendUnit(out [][]float64, v []float64) [][]float64 {
	r := dense.Norm(v)
	if !(r > 0) || r-r != 0 {
		return out
	}
	for i := range v {
		v[i] /= r
	}
	return append(out, v)
}
