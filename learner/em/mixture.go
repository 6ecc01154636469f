package em

import (
	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/learner"
)

// A Mixture is k Gaussians in the coordinates of a frame. Triangles are lower ones, d x d each.
type Mixture struct {
	k, d   int
	Weight []float64
	Mean   []float64 // k x d
	Root   []float64 // Cholesky factors of the covariances
	inv    []float64 // their inverses
	det    []float64 // the logarithms of their determinants
}

// NewMixture returns one of zeros, to be filled in.
func NewMixture(k, d int) *Mixture {
	t := d * d
	return &Mixture{k, d, make([]float64, k), make([]float64, k*d), make([]float64, k*t), make([]float64, k*t), make([]float64, k)}
}

func (m *Mixture) copy(from *Mixture) {
	copy(m.Weight, from.Weight)
	copy(m.Mean, from.Mean)
	copy(m.Root, from.Root)
	copy(m.inv, from.inv)
	copy(m.det, from.det)
}

// Refactor replaces the covariances that stand in the place of the roots; false if one has none.
func (m *Mixture) Refactor() bool {
	t := len(m.Root) / m.k
	for j := range m.k {
		root := m.Root[j*t : j*t+t]
		if !dense.Cholesky(root, m.d) || !dense.InvertLower(m.inv[j*t:j*t+t], root, m.d) {
			return false
		}
		m.det[j] = dense.LogDiagonal(root, m.d)
	}
	return true
}

// pool writes the harmonic mean of the covariances, and returns the logarithm of the determinant of
// its root; false if there is none.
func (m *Mixture) pool(mean, work []float64) (det float64, ok bool) {
	d, t := m.d, len(mean)
	clear(mean)
	for j := range m.k {
		precision(mean, m.inv[j*t:j*t+t], d, 1/float64(m.k))
	}
	if !dense.Cholesky(mean, d) || !dense.InvertLower(work, mean, d) {
		return 0, false
	}
	det = -dense.LogDiagonal(mean, d)
	clear(mean)
	precision(mean, work, d, 1)
	return det, true
}

// precision adds scale times l'l to the lower triangle of a, l lower triangular.
func precision(a, l []float64, d int, scale float64) {
	for c := range d {
		AddSquare(a, l[c*d:c*d+c+1], d, scale)
	}
}

// components returns those of m in the rows' coordinates; false if they overflow.
func (f *Whitening) components(m *Mixture) ([]learner.Component, bool) {
	d, t := m.d, len(m.Root)/m.k
	out := make([]learner.Component, m.k)
	for j := range out {
		root := f.times(m.Root[j*t : j*t+t])
		out[j] = learner.Component{Weight: m.Weight[j], Mean: f.back(m.Mean[j*d : j*d+d])}
		if !dense.AllFinite(root) || !dense.AllFinite(out[j].Mean) {
			return nil, false
		}
		for c := range d {
			if root[c*d+c] == 0 {
				return nil, false
			}
			out[j].Root = append(out[j].Root, root[c*d:c*d+d:c*d+d])
		}
	}
	return out, true
}
