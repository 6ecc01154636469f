package report

import (
	"math"

	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/release"
)

// A part is a component as the pictures need it.
type part struct {
	index  int // among the model's components, from 0
	weight float64
	mean   []float64 // d
	sd     []float64 // d, >= 0
	cov    model.Covariance
}

// correlation of columns i and j, in [-1, 1]; 0 where one of them has no spread.
func (p part) correlation(i, j int) float64 {
	if p.sd[i] == 0 || p.sd[j] == 0 {
		return 0
	}
	return math.Max(-1, math.Min(1, p.cov.At(i, j)/p.sd[i]/p.sd[j]))
}

// partsOf returns the components that stand for groups of rows: the others are in no picture and no
// table.
func partsOf(r *release.Release) (parts []part) {
	groups, _ := r.Model.Split()
	for _, i := range groups {
		parts = append(parts, newPart(r.Model, i, r.Model.Components[i]))
	}
	return parts
}

func newPart(m *model.Mixture, i int, g model.Gaussian) part {
	p := part{index: i, weight: m.Weights[i], mean: g.Mean, sd: make([]float64, g.Dim()), cov: g.Cov}
	for j := range p.sd {
		p.sd[j] = math.Sqrt(g.Cov.At(j, j))
	}
	return p
}

// note is what the diagnostics say of component i; nothing, where they are shorter than the model.
func note(r *release.Release, i int) release.ComponentNote {
	if i < len(r.Diagnostics.Components) {
		return r.Diagnostics.Components[i]
	}
	return release.ComponentNote{}
}

// largestWeight of the parts, at least a tiny number so that it can divide.
func largestWeight(parts []part) float64 {
	w := math.SmallestNonzeroFloat64
	for _, p := range parts {
		w = math.Max(w, p.weight)
	}
	return w
}
