package pearson

import (
	"math"

	"github.com/gauze-dp/gauze/dense"
)

// Utility constants of the prior: by how many rows a component's covariance is held to the others',
// and its weight to an equal share. They matter in blocks of some hundred rows, whose estimates
// they bring nearer to each other.
const (
	pseudoRows  = 10
	pseudoShare = 5
)

// A prior is what is thought of a mixture before the rows are seen: that its components'
// covariances resemble each other, and its weights.
type prior struct {
	d int
	n float64
	// of the covariance that the components' resemble: the harmonic mean of the first ones
	root []float64
}

// prejudge makes the prior for the improvement of a mixture.
func prejudge(mixture []gauss, t table) prior {
	d := t.d
	sum := make([]float64, d*d)
	for _, g := range mixture {
		inverse := dense.Identity(d)
		dense.SolveLower(g.root, inverse, d, d)
		for i := range d {
			for j := range d {
				for c := range d {
					sum[i*d+j] += g.weight * inverse[c*d+i] * inverse[c*d+j]
				}
			}
		}
	}
	mean, ok := dense.Invert(sum, d)
	if !ok || !dense.Cholesky(mean, d) {
		return prior{}
	}
	return prior{d, float64(t.n), mean}
}

// value returns the prior's logarithm, per row: of pseudoRows rows of each component with the
// common covariance, and of its weight.
func (p prior) value(mixture []gauss) float64 {
	if p.root == nil {
		return 0
	}
	s := 0.
	for _, g := range mixture {
		s += pseudoShare * math.Log(g.weight)
		w := p.seen(g)
		s -= pseudoRows * dense.Dot(w, w) / 2
		for i := range p.d {
			s -= pseudoRows * math.Log(g.root[i*p.d+i])
		}
	}
	return s / p.n
}

// seen returns the root of the common covariance in a component's units.
func (p prior) seen(g gauss) []float64 {
	w := append([]float64(nil), p.root...)
	dense.SolveLower(g.root, w, p.d, p.d)
	return w
}

// add the prior's scores and information to those of the rows.
func (p prior) add(mixture []gauss, mean, information []float64) {
	if p.root == nil {
		return
	}
	d, per, k, size := p.d, parameters(p.d), len(mixture), len(mean)
	for a, g := range mixture {
		w := dense.Gram(p.seen(g), d)
		at := a*per + d
		for i := range d {
			for j := range i {
				mean[at] += pseudoRows * w[i*d+j] / p.n
				information[at*size+at] += pseudoRows / p.n
				at++
			}
			mean[at] += pseudoRows * (w[i*d+i] - 1) / 2 / p.n
			information[at*size+at] += pseudoRows / 2 / p.n
			at++
		}
		if at == size {
			continue // the last weight follows from the others
		}
		mean[at] += pseudoShare * (1 - float64(k)*g.weight) / p.n
		for b, h := range mixture[:k-1] {
			information[at*size+b*per+per-1] -= pseudoShare * float64(k) * g.weight * h.weight / p.n
		}
		information[at*size+at] += pseudoShare * float64(k) * g.weight / p.n
	}
}
