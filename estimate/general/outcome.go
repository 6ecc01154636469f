package general

import (
	"slices"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/parts/privateem"
)

// outcome turns the components and the background into a model of all columns, constant ones
// included; heaviest first.
func (f *fit) outcome(r *privateem.Rounds) estimate.Outcome {
	if len(r.Components) == 0 {
		return f.Refuse("no component holds enough rows to be seen")
	}
	f.sayOne(len(r.Components))
	out := program.NewDraft(f.All, f.Notes)
	cs := program.Heaviest(r.Components)
	share, noise := r.LeftOut()
	r.Outlier = nil // its rows are among those outside
	background, outside := r.Beside()
	outside += f.Placed()
	out.Notes.Flag(program.LeftOut(f.Problem.Components, len(cs))...)
	out.Notes.Flag(program.AtLimit(f.Problem, f.Rows, len(cs))...)
	for i := range cs {
		cs[i].Weight *= 1 - outside
	}
	measured := min(len(background), privateem.MeasuredParts)
	moved := f.Means.Move(slices.Concat(cs, background[:measured]), slices.Concat(background[measured:], f.OutsideAll()))
	for i, g := range slices.Concat(moved, background[measured:]) {
		note := estimate.ComponentNote{EffectiveRows: g.Weight * f.Rows, Background: true}
		if i < len(cs) {
			note = program.Unlike(program.GaussianNote(g, f.space.Dim()), g.Misfit)
		}
		mean, cov, err := f.Raw(f.space, g, f.Problem.Covariance)
		out.Add(g.Weight, mean, cov, err, note)
	}
	f.AddOutside(out, share, noise)
	outcome := out.Outcome()
	outcome.Missing = f.missing.gaps
	number(f.Problem, &outcome, r.Closest())
	return outcome
}

// sayOne has the flags say that one group was found where it is so and the number was open, whoever
// found it: a contest may have seen one, and lines or columns several, or the rounds themselves may
// have joined what there was.
func (f *fit) sayOne(groups int) {
	said := func(f estimate.Flag) bool { return f.Code == flags.OneComponent }
	if groups > 1 {
		f.Notes.Flags = slices.DeleteFunc(f.Notes.Flags, said)
	} else if p := f.Problem; p.Components == 0 && p.MaxComponents > 1 && !slices.ContainsFunc(f.Notes.Flags, said) {
		f.Notes.Flag(oneGroup(f.seen()))
	}
}
