package model

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// recordedWidth makes the density of a component far narrower than the recording unit one over that
// unit at its value: the value's cell has all of the mass. Where components are wider it changes
// next to nothing.
const recordedWidth = 1 / (2 * math.Pi)

// Recorded returns the mixture whose density at a value is about the mass of the value's cell over
// the cell's width, in columns whose unit Cells state. There every component is wider by the unit
// squared over 2 pi; in a column of logarithms by the unit's image at its mean. So no component is
// narrower than values can show. A column without variance in any component stays as it is. Returns
// m itself if no unit is known.
func Recorded(m *Mixture) (*Mixture, error) {
	more, any := make([]float64, m.Dim()), false
	for j, c := range m.Cells {
		varies := false
		for _, g := range m.Components {
			varies = varies || g.Cov.At(j, j) > 0
		}
		if c.Unit > 0 && varies {
			more[j], any = recordedWidth*c.Unit*c.Unit, true
		}
	}
	if !any {
		return m, nil
	}
	out := *m
	out.Components = make([]Gaussian, len(m.Components))
	for i, g := range m.Components {
		wider := mat.NewSymDense(m.Dim(), nil)
		wider.CopySym(g.Cov.Dense())
		for j, v := range more {
			if l := logOf(m, j); l.Maps() && v > 0 {
				low, high := m.Cells[j].Box()
				slope := l.Slope(l.From(math.Max(low, math.Min(g.Mean[j], high))))
				v *= slope * slope
			}
			wider.SetSym(j, j, wider.At(j, j)+v)
		}
		cov, err := NewFull(wider)
		if err != nil {
			return nil, err
		}
		out.Components[i] = Gaussian{Mean: g.Mean, Cov: cov}
	}
	return &out, nil
}
