package univariate

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/parts/linefit"
)

// Utility constants of what is told.
const (
	noisy = 1.0 // relative noise of a variance beyond which a component is flagged
	// part of the rows in no component that is worth telling, if it is more than noise
	strays   = .03
	mostLost = .5 // part of the rows in no component with which there is no release
	allRows  = .9 // part of the rows in one value that make a column constant
	leastSD  = 0x1p-500
	// varianceNoise is the noise sd of a Gaussian's variance, relative, for noise of one row per
	// bin and one row, with about ten bins.
	varianceNoise = 6.0
)

// outcome is the model, heaviest component first.
func (f *fit) outcome() (estimate.Outcome, error) {
	var notes estimate.Diagnostics
	flag := func(format string, args ...any) { notes.Flags = append(notes.Flags, fmt.Sprintf(format, args...)) }
	slices.SortStableFunc(f.found, func(a, b linefit.Component) int {
		if a.Rows > b.Rows {
			return -1
		}
		return 1
	})
	total := 0.0
	for _, c := range f.found {
		total += c.Rows
	}
	sigma := f.all[len(f.all)-1].Sigma
	if k := f.p.Components; k > len(f.found) {
		flag("%d of %d components hold too few rows to be seen, or none that the others do not explain, and were left out", k-len(f.found), k)
	}
	switch lost := f.rows - total; {
	case lost > mostLost*f.rows:
		return f.refuse("about %.0f%% of the rows lie where no component was found", 100*lost/f.rows), nil
	case lost > strays*f.rows && lost > 2*holeSDs*sigma:
		flag("about %.0f%% of the rows are in no component: they have no value, or lie where the noise hides them", 100*lost/f.rows)
	}
	if f.inferred {
		flag("values look like multiples of %g and were taken as recorded in that unit: declare it as a schema's rounded_to", f.unit)
	}
	d := f.data()
	m := &model.Mixture{Columns: model.DefaultColumns(1)}
	for _, c := range f.found {
		cov, err := f.covariance(math.Max(c.SD, leastSD))
		if err != nil {
			return f.outsize(), nil
		}
		m.Weights = append(m.Weights, c.Rows/total)
		m.Components = append(m.Components, model.Gaussian{Mean: []float64{c.Mean()}, Cov: cov})
		note := estimate.ComponentNote{EffectiveRows: c.Rows, EffectiveNoise: varianceNoise * sigma / math.Max(c.Rows, 1)}
		switch {
		case !d.Resolved(c):
			note.Flags = append(note.Flags, "it is narrower than could be seen: perhaps rows of one value; a schema's rounded_to says that values are rounded")
		case note.EffectiveNoise > noisy:
			note.Flags = append(note.Flags, "its shape is known little better than its size")
		}
		notes.Components = append(notes.Components, note)
	}
	if m.Validate() != nil {
		return f.outsize(), nil
	}
	return estimate.Outcome{Model: m, Diagnostics: notes}, nil
}

// covariance is that of a component, in the shape that was asked for: in one column they differ in
// name.
func (f *fit) covariance(sd float64) (model.Covariance, error) {
	v := sd * sd
	if f.p.KnownCovariance != nil {
		v = f.p.KnownCovariance[0][0]
	}
	switch f.p.Covariance {
	case estimate.Spherical:
		return model.NewSpherical(1, v)
	case estimate.Diagonal:
		return model.NewDiagonal([]float64{v})
	default:
		return model.NewFull(mat.NewSymDense(1, []float64{v}))
	}
}

// constant reports whether nearly all rows have one value.
func (f *fit) constant() (value float64, is bool) {
	if len(f.found) == 0 {
		return 0, false
	}
	d := f.data()
	for _, c := range f.found {
		if d.Atom(c) && c.Rows > allRows*f.rows && f.known.SD == 0 && f.known.Least == 0 {
			low, _ := d.Bin(c)
			return low, true
		}
	}
	return 0, false
}

// point is the outcome of a column in which nearly all rows have one value.
func (f *fit) point(value float64) (estimate.Outcome, error) {
	cov, err := model.NewDiagonal([]float64{0})
	if err != nil {
		return estimate.Outcome{}, err
	}
	m, err := model.New(nil, nil, []model.Gaussian{{Mean: []float64{value}, Cov: cov}})
	if err != nil {
		return f.outsize(), nil
	}
	rows := 0.0
	for _, c := range f.found {
		rows = math.Max(rows, c.Rows)
	}
	return estimate.Outcome{Model: m, Diagnostics: estimate.Diagnostics{
		Components:      []estimate.ComponentNote{{EffectiveRows: rows}},
		ConstantColumns: []int{0},
		Flags:           []string{fmt.Sprintf("the column is constant but for at most about %.0f rows", (1-allRows)*f.rows)},
	}}, nil
}

func (f *fit) refuse(format string, args ...any) estimate.Outcome {
	help := advice(f.p)
	if f.rows > rowsFor(f.p) {
		help = "the rows are enough for a mixture of Gaussians: look for values that are missing, far too large, or repeated in great " +
			"numbers; or use --method general"
	}
	return estimate.Outcome{NoRelease: &estimate.NoRelease{Reason: fmt.Sprintf(format, args...), Advice: help}}
}

// outsize is the outcome for an estimate that a model cannot hold.
func (f *fit) outsize() estimate.Outcome {
	return estimate.Outcome{NoRelease: &estimate.NoRelease{
		Reason: "a released mean or variance is outside the numbers that a model can hold", Advice: "record the column in another unit"}}
}
