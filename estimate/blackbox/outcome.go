package blackbox

import (
	"math"
	"sort"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/em"
)

// noisy is the relative noise beyond which a component's shape is flagged.
const noisy = 1.0

func (f *fit) refuse(reason string) estimate.Outcome {
	return estimate.Outcome{NoRelease: &estimate.NoRelease{Reason: reason, Advice: advice(f.p, f.rows)}, Diagnostics: f.cols.Notes}
}

// outcome turns the components into a model, heaviest first.
func (f *fit) outcome(r *em.Rounds) (estimate.Outcome, error) {
	if len(r.Components) == 0 {
		return f.refuse("no component holds enough rows to be seen"), nil
	}
	cs := append([]component.Gaussian(nil), r.Components...)
	sort.SliceStable(cs, func(i, j int) bool { return cs[i].Weight > cs[j].Weight })
	// the front door knows the names
	m, notes := &model.Mixture{Columns: model.DefaultColumns(f.p.Columns)}, f.cols.Notes
	// no column is known to be constant
	f.cols.Units.Center = make([]float64, f.p.Columns)
	for _, g := range cs {
		mean, cov, err := f.cols.Raw(r.Space, g, f.p.Covariance)
		if err != nil {
			return f.cols.Outsize(), nil
		}
		note := estimate.ComponentNote{EffectiveRows: g.Rows, EffectiveNoise: g.Sigma * math.Sqrt(2*float64(f.p.Columns))}
		if note.EffectiveNoise > noisy {
			note.Flags = append(note.Flags, "its shape is known little better than its size")
		}
		m.Weights = append(m.Weights, g.Weight)
		m.Components = append(m.Components, model.Gaussian{Mean: mean, Cov: cov})
		notes.Components = append(notes.Components, note)
	}
	if err := m.Validate(); err != nil {
		return f.cols.Outsize(), nil
	}
	return estimate.Outcome{Model: m, Diagnostics: notes}, nil
}
