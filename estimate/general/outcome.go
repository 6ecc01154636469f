package general

import (
	"slices"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/privateem"
)

// outcome turns the components and the background into a model of all columns, constant ones
// included; heaviest first.
func (f *fit) outcome(r *privateem.Rounds) estimate.Outcome {
	if len(r.Components) == 0 {
		return f.Refuse("no component holds enough rows to be seen")
	}
	if len(r.Components) > 1 { // a contest may have seen one, and lines or columns several
		f.Notes.Flags = slices.DeleteFunc(f.Notes.Flags, func(f estimate.Flag) bool { return f.Code == flags.OneComponent })
	}
	out := program.NewDraft(f.All, f.Notes)
	add := func(weight float64, g component.Gaussian, note estimate.ComponentNote) {
		mean, cov, err := f.Raw(f.space, g, f.Problem.Covariance)
		out.Add(weight, mean, cov, err, note)
	}
	cs := program.Heaviest(r.Components)
	share, noise := r.LeftOut()
	r.Outlier = nil // its rows are among those outside
	background, outside := r.Beside()
	outside += f.Placed()
	out.Notes.Flag(program.LeftOut(f.Problem.Components, len(cs))...)
	out.Notes.Flag(program.AtLimit(f.Problem, f.Rows, len(cs))...)
	for _, g := range cs {
		add((1-outside)*g.Weight, g, program.Unlike(program.GaussianNote(g, f.space.Dim()), g.Misfit))
	}
	for _, wide := range background {
		add(wide.Weight, wide, estimate.ComponentNote{EffectiveRows: wide.Weight * f.Rows, Background: true})
	}
	f.AddOutside(out, share, noise, "they are in no component; components marked as background stand for some of them")
	outcome := out.Outcome()
	outcome.Missing = f.missing.gaps
	number(f.Problem, &outcome, r.Closest())
	return outcome
}
