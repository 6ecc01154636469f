package mixture

import (
	"fmt"
	"math"
	"sort"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/model"
)

// outcome turns the components and the background into a model of all columns, constant ones included; heaviest first.
func (f *fit) outcome(r *rounds) (estimate.Outcome, error) {
	m := &model.Mixture{Columns: model.DefaultColumns(f.p.Columns)} // the front door knows the names
	notes := f.notes
	add := func(w float64, g gauss, note estimate.ComponentNote) error {
		mean, cov, err := f.raw(g)
		if err != nil {
			return err
		}
		m.Weights = append(m.Weights, w)
		m.Components = append(m.Components, model.Gaussian{Mean: mean, Cov: cov})
		notes.Components = append(notes.Components, note)
		return nil
	}
	if len(r.components) == 0 {
		return f.refuse("no component holds enough rows to be seen", max(f.p.Components, 2)), nil
	}
	cs := append([]gauss(nil), r.components...)
	sort.SliceStable(cs, func(i, j int) bool { return cs[i].w > cs[j].w })
	if k := f.p.Components; k > len(cs) {
		notes.Flags = append(notes.Flags, fmt.Sprintf("%d of %d components hold too few rows to be seen and were left out", k-len(cs), k))
	}
	b := r.background
	root := math.Sqrt(2 * float64(f.space.dim()))
	for _, g := range cs {
		note := estimate.ComponentNote{EffectiveRows: g.rows, EffectiveNoise: g.sigma * root}
		if note.EffectiveNoise > noisy {
			note.Flags = append(note.Flags, "its shape is known little better than its size: mostly carried over from the coarse start")
		}
		if err := add((1-b.total())*g.w, g, note); err != nil {
			return f.outsize(), nil
		}
	}
	for i, rung := range rungs {
		wide := gauss{mean: b.mean, cov: mat.NewSymDense(f.space.dim(), nil)}
		wide.cov.ScaleSym(rung, b.cov)
		note := estimate.ComponentNote{EffectiveRows: b.weight[i] * f.rows, Background: true}
		if err := add(b.weight[i], wide, note); err != nil {
			return f.outsize(), nil
		}
	}
	if m.Validate() != nil {
		return f.outsize(), nil
	}
	return estimate.Outcome{Model: m, Diagnostics: notes}, nil
}

// outsize is the outcome for an estimate that a model cannot hold.
func (f *fit) outsize() estimate.Outcome {
	return estimate.Outcome{Diagnostics: f.notes, NoRelease: &estimate.NoRelease{
		Reason: "a released mean or variance is outside the numbers that a model can hold", Advice: "record the columns in larger units"}}
}

// noisy is the relative spectral noise beyond which a component's shape is flagged.
const noisy = 1.0

// constant is the outcome of a table in which no column varies: a point.
func (f *fit) constant() (estimate.Outcome, error) {
	cov, err := model.NewDiagonal(make([]float64, f.p.Columns))
	if err != nil {
		return estimate.Outcome{}, err
	}
	m, err := model.New(nil, nil, []model.Gaussian{{Mean: f.units.Center, Cov: cov}})
	if err != nil {
		return f.refuse("the constant values of the columns cannot be released: "+err.Error(), 1), nil
	}
	notes := f.notes
	notes.Components = []estimate.ComponentNote{{EffectiveRows: f.rows}}
	notes.Flags = append(notes.Flags, fmt.Sprintf("every column is constant but for at most about %.0f rows", f.units.Unseen))
	return estimate.Outcome{Model: m, Diagnostics: notes}, nil
}

// raw maps a component to the table's columns; constant columns have variance zero.
func (f *fit) raw(g gauss) ([]float64, model.Covariance, error) {
	all := f.p.Columns
	mean := append([]float64(nil), f.units.Center...)
	for i, c := range f.space.columns {
		mean[c] = f.space.center[i] + f.space.scale[i]*g.mean[i]
	}
	if f.p.Covariance != estimate.Full {
		variances := make([]float64, all)
		for i, c := range f.space.columns {
			variances[c] = sq(f.space.scale[i]) * g.cov.At(i, i)
		}
		if f.p.Covariance == estimate.Spherical && len(f.space.columns) == all {
			cov, err := model.NewSpherical(all, variances[0])
			return mean, cov, err
		}
		cov, err := model.NewDiagonal(variances)
		return mean, cov, err
	}
	fac := mat.NewDense(all, all, nil)
	l, _, _ := factor(g.cov)
	for i, c := range f.space.columns {
		for j := 0; j <= i; j++ {
			fac.Set(c, f.space.columns[j], f.space.scale[i]*l.At(i, j))
		}
	}
	cov, err := model.FullFromFactor(fac)
	return mean, cov, err
}
