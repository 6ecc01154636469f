package axisaligned

import (
	"math"
	"sort"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/parts/boxes"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/em"
)

// noisy is the relative noise beyond which a component's shape is flagged.
const noisy = 1.0

// outcome turns the components into a model, heaviest first.
func (f *fit) outcome(r *em.Rounds) (estimate.Outcome, error) {
	if len(r.Components) == 0 {
		return f.refuse("no component holds enough rows to be seen"), nil
	}
	cs := append([]component.Gaussian(nil), r.Components...)
	sort.SliceStable(cs, func(i, j int) bool { return cs[i].Weight > cs[j].Weight })
	if k := f.p.Components; k > len(cs) {
		f.flag("%d of %d components hold too few rows to be seen and were left out", k-len(cs), k)
	}
	for i := range f.p.Columns {
		if f.constant(i) {
			f.cols.Notes.ConstantColumns = append(f.cols.Notes.ConstantColumns, i)
		}
	}
	// the front door knows the names
	m := &model.Mixture{Columns: model.DefaultColumns(f.p.Columns)}
	notes := f.cols.Notes
	for _, g := range cs {
		variances := make([]float64, f.p.Columns)
		for i := range variances {
			variances[i] = g.Cov.At(i, i)
			if value, is := f.point(i, g.Mean[i], math.Sqrt(variances[i])); is {
				g.Mean[i], variances[i] = value, 0
			}
		}
		cov, err := covariance(r.Form, variances)
		if err != nil {
			return f.cols.Outsize(), nil
		}
		note := estimate.ComponentNote{EffectiveRows: g.Rows, EffectiveNoise: g.Sigma * math.Sqrt(2)}
		if note.EffectiveNoise > noisy {
			note.Flags = append(note.Flags, "its shape is known little better than its size")
		}
		m.Weights = append(m.Weights, g.Weight)
		m.Components = append(m.Components, model.Gaussian{Mean: g.Mean, Cov: cov})
		notes.Components = append(notes.Components, note)
	}
	if err := m.Validate(); err != nil {
		return f.cols.Outsize(), nil
	}
	return estimate.Outcome{Model: m, Diagnostics: notes}, nil
}

// constant reports a column in which all boxes have one value.
func (f *fit) constant(i int) bool {
	for _, b := range f.found {
		if !b.Atom[i] || b.Center[i] != f.found[0].Center[i] {
			return false
		}
	}
	return true
}

// point is the value of column i of a component that has one value there.
func (f *fit) point(i int, mean, sd float64) (value float64, is bool) {
	if f.constant(i) {
		return f.found[0].Center[i], true
	}
	for _, b := range f.found {
		if b.Atom[i] && boxes.IsPoint(b.Center[i], sd) && boxes.IsPoint(b.Center[i], math.Abs(mean-b.Center[i])) {
			return b.Center[i], true
		}
	}
	return mean, false
}

func covariance(form query.Form, variances []float64) (model.Covariance, error) {
	if form == query.SphericalForm {
		return model.NewSpherical(len(variances), variances[0])
	}
	return model.NewDiagonal(variances)
}
