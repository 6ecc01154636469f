package blackbox

import (
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/parts/em"
)

// outcome turns the components into a model, heaviest first.
func (f *fit) outcome(r *em.Rounds) estimate.Outcome {
	if len(r.Components) == 0 {
		return f.Refuse("no component holds enough rows to be seen")
	}
	out := program.NewDraft(f.All, f.Notes)
	f.Units.Center = make([]float64, f.All) // no column is known to be constant
	for _, g := range program.Heaviest(r.Components) {
		mean, cov, err := f.Raw(r.Space, g, f.Problem.Covariance)
		out.Add(g.Weight, mean, cov, err, program.GaussianNote(g, f.All, ""))
	}
	return out.Outcome()
}
