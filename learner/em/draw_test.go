package em

import (
	"math"
	"math/rand/v2"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/learner"
)

// random is a mixture with weights within the factor unequal, covariances of condition up to cond,
// and means at least sep apart, as Mahalanobis distances under the mean of two covariances.
func random(rng *rand.Rand, k, d int, sep, cond, unequal float64) []learner.Component {
	m := NewMixture(k, d)
	t := d * d
	total := 0.0
	for j := range k {
		m.Weight[j] = 1 + (unequal-1)*rng.Float64()
		total += m.Weight[j]
		for _, axis := range axes(rng, d) {
			AddSquare(m.Root[j*t:j*t+t], axis, d, math.Exp(rng.Float64()*math.Log(cond)))
		}
	}
	for i := range m.Mean {
		m.Mean[i] = rng.NormFloat64()
	}
	least := math.Inf(1)
	for a := range k {
		m.Weight[a] /= total
		for b := range a {
			s, inv, diff := make([]float64, t), make([]float64, t), make([]float64, d)
			for c := range s {
				s[c] = (m.Root[a*t+c] + m.Root[b*t+c]) / 2
			}
			for c := range diff {
				diff[c] = m.Mean[a*d+c] - m.Mean[b*d+c]
			}
			if !dense.Cholesky(s, d) || !dense.InvertLower(inv, s, d) {
				panic("no covariance")
			}
			turn(diff, inv, d, diff)
			least = min(least, math.Sqrt(dense.Dot(diff, diff)))
		}
	}
	for i := range m.Mean {
		if k > 1 {
			m.Mean[i] *= sep / least
		}
	}
	if !m.Refactor() {
		panic("no covariance")
	}
	f := Whitening{At: make([]float64, d), Root: make([]float64, d*d)}
	for i := range d {
		f.Root[i*d+i] = 1
	}
	out, _ := f.components(m)
	return out
}

// axes are random and orthonormal.
func axes(rng *rand.Rand, d int) [][]float64 {
	flat, out := make([]float64, d*d), make([][]float64, d)
	for i := range flat {
		flat[i] = rng.NormFloat64()
	}
	dense.LQ(flat, d, d) // leaves the rows of Q
	for i := range out {
		out[i] = flat[i*d : i*d+d]
	}
	return out
}

// drawn are n rows of a mixture.
func drawn(rng *rand.Rand, mixture []learner.Component, n int) [][]float64 {
	rows := make([][]float64, n)
	for i := range rows {
		u, j := rng.Float64(), 0
		for ; j < len(mixture)-1 && u > mixture[j].Weight; j++ {
			u -= mixture[j].Weight
		}
		c := mixture[j]
		g, x := make([]float64, len(c.Mean)), make([]float64, len(c.Mean))
		for a := range g {
			g[a] = rng.NormFloat64()
		}
		for a := range x {
			x[a] = c.Mean[a] + dense.Dot(c.Root[a], g)
		}
		rows[i] = x
	}
	return rows
}
