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
	cells  []model.Cell // the values that columns can hold; nil for any
}

// correlation returns that of columns i and j, in [-1, 1]; 0 if one of them has no spread.
func (p part) correlation(i, j int) float64 {
	if p.sd[i] == 0 || p.sd[j] == 0 {
		return 0
	}
	return math.Max(-1, math.Min(1, p.cov.At(i, j)/p.sd[i]/p.sd[j]))
}

// tooNoisy is the noise of a component's spread, relative to it, beyond which its place and spread
// are only noise: methods flag it at the same value.
const tooNoisy = 1.0

// partsOf returns the components that are shown: those that describe groups of rows, without those
// whose numbers are noise, unless all are.
func partsOf(r *release.Release) (parts []part) {
	groups, _ := r.Model.Split()
	for _, all := range []bool{false, true} {
		for _, i := range groups {
			if all || !(note(r, i).EffectiveNoise > tooNoisy) {
				parts = append(parts, newPart(r.Model, i))
			}
		}
		if parts != nil {
			break
		}
	}
	return parts
}

// cell returns the values that column j can hold.
func (p part) cell(j int) model.Cell {
	if p.cells == nil {
		return model.Cell{Least: math.Inf(-1), Most: math.Inf(1)}
	}
	return p.cells[j]
}

// inside returns the part of p's rows whose column j is within what it can hold.
func (p part) inside(j int) float64 { return p.cell(j).Inside(p.mean[j], p.sd[j]) }

func newPart(m *model.Mixture, i int) part {
	g := m.Components[i]
	p := part{index: i, weight: m.Weights[i], mean: g.Mean, sd: make([]float64, g.Dim()), cov: g.Cov, cells: m.Cells}
	for j := range p.sd {
		p.sd[j] = math.Sqrt(g.Cov.At(j, j))
	}
	return p
}

// note returns the diagnostics of component i; empty ones, if they are shorter than the model.
func note(r *release.Release, i int) release.ComponentNote {
	if i < len(r.Diagnostics.Components) {
		return r.Diagnostics.Components[i]
	}
	return release.ComponentNote{}
}

// largestWeight returns that of the parts, at least a tiny number so that it can divide.
func largestWeight(parts []part) float64 {
	w := math.SmallestNonzeroFloat64
	for _, p := range parts {
		w = math.Max(w, p.weight)
	}
	return w
}
