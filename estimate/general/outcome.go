package general

import (
	"fmt"
	"math"
	"sort"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/em"
)

// outcome turns the components and the background into a model of all columns, constant ones
// included; heaviest first.
func (f *fit) outcome(r *em.Rounds) (estimate.Outcome, error) {
	// the front door knows the names
	m := &model.Mixture{Columns: model.DefaultColumns(f.p.Columns)}
	notes := f.cols.Notes
	add := func(w float64, g component.Gaussian, note estimate.ComponentNote) error {
		mean, cov, err := f.cols.Raw(f.space, g, f.p.Covariance)
		if err != nil {
			return err
		}
		m.Weights = append(m.Weights, w)
		m.Components = append(m.Components, model.Gaussian{Mean: mean, Cov: cov})
		notes.Components = append(notes.Components, note)
		return nil
	}
	if len(r.Components) == 0 {
		return f.refuse("no component holds enough rows to be seen", max(f.p.Components, 2)), nil
	}
	cs := append([]component.Gaussian(nil), r.Components...)
	sort.SliceStable(cs, func(i, j int) bool { return cs[i].Weight > cs[j].Weight })
	if k := f.p.Components; k > len(cs) {
		notes.Flags = append(notes.Flags, fmt.Sprintf("%d of %d components hold too few rows to be seen and were left out", k-len(cs), k))
	}
	b := r.Background
	root := math.Sqrt(2 * float64(f.space.Dim()))
	for _, g := range cs {
		note := estimate.ComponentNote{EffectiveRows: g.Rows, EffectiveNoise: g.Sigma * root}
		if note.EffectiveNoise > noisy {
			note.Flags = append(note.Flags, "its shape is known little better than its size: mostly carried over from the coarse start")
		}
		if err := add((1-b.Total())*g.Weight, g, note); err != nil {
			return f.cols.Outsize(), nil
		}
	}
	for _, wide := range b.Parts() {
		note := estimate.ComponentNote{EffectiveRows: wide.Weight * f.rows, Background: true}
		if err := add(wide.Weight, wide, note); err != nil {
			return f.cols.Outsize(), nil
		}
	}
	if m.Validate() != nil {
		return f.cols.Outsize(), nil
	}
	return estimate.Outcome{Model: m, Diagnostics: notes}, nil
}

// noisy is the relative spectral noise beyond which a component's shape is flagged.
const noisy = 1.0
