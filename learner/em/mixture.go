package em

import (
	"math"
	"slices"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/learner"
)

// A mixture is k Gaussians in the coordinates of a frame. Triangles are lower ones, d x d each.
type mixture struct {
	k, d   int
	weight []float64
	mean   []float64 // k x d
	root   []float64 // Cholesky factors of the covariances
	inv    []float64 // their inverses
	det    []float64 // the logarithms of their determinants
}

func newMixture(k, d int) *mixture {
	t := d * d
	return &mixture{k, d, make([]float64, k), make([]float64, k*d), make([]float64, k*t), make([]float64, k*t), make([]float64, k)}
}

func (m *mixture) copy(from *mixture) {
	copy(m.weight, from.weight)
	copy(m.mean, from.mean)
	copy(m.root, from.root)
	copy(m.inv, from.inv)
	copy(m.det, from.det)
}

// refactor replaces the covariances that stand in the place of the roots; false if one has none.
func (m *mixture) refactor() bool {
	t := len(m.root) / m.k
	for j := range m.k {
		root := m.root[j*t : j*t+t]
		if !dense.Cholesky(root, m.d) || !dense.InvertLower(m.inv[j*t:j*t+t], root, m.d) {
			return false
		}
		m.det[j] = dense.LogDiagonal(root, m.d)
	}
	return true
}

// pool writes the harmonic mean of the covariances, and returns the logarithm of the determinant of
// its root; false if there is none.
func (m *mixture) pool(mean, work []float64) (det float64, ok bool) {
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
		addSquare(a, l[c*d:c*d+c+1], d, scale)
	}
}

// finite says whether all parameters are.
func (m *mixture) finite() bool {
	for _, list := range [][]float64{m.weight, m.mean, m.root} {
		if !dense.AllFinite(list) {
			return false
		}
	}
	return true
}

// components are those of m in the rows' coordinates; false if they overflow.
func (f *frame) components(m *mixture) ([]learner.Component, bool) {
	d, t := m.d, len(m.root)/m.k
	out := make([]learner.Component, m.k)
	for j := range out {
		root := f.times(m.root[j*t : j*t+t])
		out[j] = learner.Component{Weight: m.weight[j], Mean: f.back(m.mean[j*d : j*d+d])}
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

// mixture is the one of the components in the frame; nil if they are none.
func (f *frame) mixture(components []learner.Component) *mixture {
	d, k := len(f.at), len(components)
	if k == 0 {
		return nil
	}
	m := newMixture(k, d)
	t := len(m.root) / k
	column := make([]float64, d)
	for j, c := range components {
		if len(c.Mean) != d || len(c.Root) != d || !(c.Weight > 0) {
			return nil
		}
		m.weight[j] = c.Weight
		for i, v := range c.Mean {
			m.mean[j*d+i] = v - f.at[i]
		}
		f.into(m.mean[j*d : j*d+d])
		for b := range d {
			for i, row := range c.Root {
				if len(row) != d {
					return nil
				}
				column[i] = row[b]
			}
			f.into(column)
			addSquare(m.root[j*t:j*t+t], column, d, 1)
		}
	}
	scales := slices.Clone(m.root)
	if !m.refactor() || !m.finite() {
		return nil
	}
	for i, v := range m.root {
		if at := i % t; at%(d+1) == 0 && !(v > thin*math.Sqrt(scales[i])) {
			return nil
		}
	}
	return m
}

// thin is the least diagonal entry of a component's Cholesky factor of correlations: below,
// rounding may have made it from a singular one.
const thin = 1e-7

// LogLikelihood is that of the rows under a mixture, in nats per row; not a number if the rows have
// no covariance of full rank, or the mixture is none.
func LogLikelihood(rows [][]float64, components []learner.Component) float64 {
	if len(rows) == 0 {
		return math.NaN()
	}
	z, f, err := whiten(rows, 0)
	if err != nil {
		return math.NaN()
	}
	m := f.mixture(components)
	if m == nil {
		return math.NaN()
	}
	d := len(f.at)
	v := newRun(z, m.k, d).expect(m) / float64(len(rows))
	for i := range d {
		v -= math.Log(f.root[i*d+i])
	}
	return v - float64(d)*math.Log(2*math.Pi)/2
}
