package general

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/partition"
	"github.com/gauze-dp/gauze/parts/privateem"
)

// Utility constants of atoms, guesses.
const (
	// Rows share a value if their sd is less than this part of that of all rows, or of the value's
	// own digits.
	atomPart = 1e-13
	// atomWidth is the sd of rows that share a value, of that of the narrowest other component, or
	// else of all rows: nearer to the value the released counts say nothing.
	atomWidth = 1e-4
)

// beside gives components from boxes what those from the tree have: a background as wide as all
// rows, and a least width.
func (f *fit) beside(e *privateem.Rounds) {
	f.set(e)
	whole := f.everything(e)
	e.Background = privateem.NewBackground(whole, e.Form)
	for j := range whole.Mean {
		all, atoms := math.Sqrt(whole.Cov.At(j, j)), false
		narrowest := all
		for _, c := range e.Components {
			if sd := math.Sqrt(c.Cov.At(j, j)); sd < atomPart*all || partition.IsPoint(c.Mean[j], sd) {
				atoms = true
			} else {
				narrowest = math.Min(narrowest, sd)
			}
		}
		if atoms {
			e.Grid[j] = math.Max(e.Grid[j], sq(atomWidth*narrowest))
		}
		for _, c := range e.Components {
			c.Cov.SetSym(j, j, math.Max(c.Cov.At(j, j), e.Grid[j]))
		}
	}
}

// everything returns one Gaussian about all rows that were seen: the components merged, in no
// column narrower than the global Gaussian.
func (f *fit) everything(e *privateem.Rounds) component.Gaussian {
	whole, wider := component.Joined(e.Components[0], e.Components[1:]...), mat.NewSymDense(e.Space.Dim(), nil)
	for j, s := range f.space.Scale {
		wider.SetSym(j, j, math.Max(0, s*s*f.global.Cov.At(j, j)-whole.Cov.At(j, j)))
	}
	wider.AddSym(wider, whole.Cov)
	whole.Cov = wider
	return whole
}
