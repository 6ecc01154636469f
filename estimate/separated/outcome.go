package separated

import (
	"math"
	"slices"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/coreset"
)

type mixture = coreset.Mixture

// A utility constant of what is told, a guess.
const surplus = .25 // of an even share: a component with less may be noise, or a part of another

// outcome turns the components into a model of all columns, heaviest first.
func (f *fit) outcome(g []component.Gaussian) estimate.Outcome {
	if len(g) == 0 {
		return f.Refuse("no component holds enough rows to be seen")
	}
	g = program.Heaviest(g)
	total, noise := 0.0, 0.0
	for _, c := range g {
		total += c.Weight
		noise = math.Hypot(noise, c.CountSD/f.Rows)
	}
	out := program.NewDraft(f.All, f.Notes)
	out.Notes.Flags = append(append(out.Notes.Flags, program.LeftOut(f.Problem.Components, len(g))...), program.AtLimit(f.Problem, len(g))...)
	out.Notes.LeavesOut(estimate.Undescribed{Share: 1 - total, Noise: noise, Where: "they lie far from every component and are in none"})
	for _, c := range g {
		mean, cov, err := f.Raw(f.space, c, f.Problem.Covariance)
		w, note := c.Weight/total, program.GaussianNote(c, f.space.Dim(), program.CoarseStart)
		if len(g) == 1 {
			note = program.Unlike(note, f.root.fits.set.Misfit())
		}
		if w < surplus/float64(len(g)) {
			note.Flags = slices.Insert(note.Flags, 0, "holds few rows: it may be surplus")
		}
		out.Add(w, mean, cov, err, note)
	}
	return out.Outcome()
}

// advice says what would help.
func advice(p estimate.Problem) string {
	return program.Needs(p, needed(p), program.OfEqualWeight(max(2, p.Components)), "fewer components", "--method general where components overlap")
}
