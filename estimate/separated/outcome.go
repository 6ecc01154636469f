package separated

import (
	"slices"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/coreset"
)

type mixture = coreset.Mixture

// Utility constants of what is told, guesses.
const (
	surplus   = .25 // of an even share: a component with less may be noise, or a part of another
	toldStray = .02 // part of the rows in no component that is worth telling
)

// outcome turns the components into a model of all columns, heaviest first.
func (f *fit) outcome(g []component.Gaussian) estimate.Outcome {
	if len(g) == 0 {
		return f.Refuse("no component holds enough rows to be seen")
	}
	g = program.Heaviest(g)
	total := 0.0
	for _, c := range g {
		total += c.Weight
	}
	out := program.NewDraft(f.All, f.Notes)
	out.Notes.Flags = append(out.Notes.Flags, program.LeftOut(f.Problem.Components, len(g))...)
	if lost := 1 - total; lost > toldStray {
		out.Flag("about %.0f%% of the rows lie far from every component and are in none", 100*lost)
	}
	for _, c := range g {
		mean, cov, err := f.Raw(f.space, c, f.Problem.Covariance)
		w, note := c.Weight/total, program.GaussianNote(c, f.space.Dim(), program.CoarseStart)
		if w < surplus/float64(len(g)) {
			note.Flags = slices.Insert(note.Flags, 0, "holds few rows: it may be surplus")
		}
		out.Add(w, mean, cov, err, note)
	}
	return out.Outcome()
}

// advice says what would help.
func advice(p estimate.Problem) string {
	k := max(2, p.Components)
	return program.Needs(p, rowsFor(p, k), program.OfEqualWeight(k), "fewer components", "--method general where components overlap")
}
