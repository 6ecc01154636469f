package blackbox

import (
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/parts/privateem"
)

// outcome turns the components into a model, heaviest first.
func (f *fit) outcome(r *privateem.Rounds) estimate.Outcome {
	if len(r.Components) == 0 {
		return f.Refuse("no component holds enough rows to be seen")
	}
	out := program.NewDraft(f.All, f.Notes)
	f.Units.Center = make([]float64, f.All) // no column is known to be constant
	unlike := 0
	for _, g := range program.Heaviest(r.Components) {
		mean, cov, err := f.Raw(r.Space, g, f.Problem.Covariance)
		note := program.GaussianNote(g, f.All)
		if note.Misfit = g.Misfit; note.Misfit > toldMisfit {
			note.Flags = append(note.Flags, program.NotGaussian())
			unlike++
		}
		out.Add(g.Weight, mean, cov, err, note)
	}
	if unlike > 0 {
		out.Notes.Flag(flags.New(flags.NotGaussian, "%d of the %d components are not bell-shaped: there may be more components than were asked for", unlike, len(r.Components)))
	}
	outcome := out.Outcome()
	outcome.Missing = f.gaps
	return outcome
}
