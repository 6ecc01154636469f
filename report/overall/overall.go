// Package overall computes what a released mixture says of a table as a whole: mean, standard
// deviation, quantiles and correlations of its columns, each with the standard deviations that
// noise and sampling cause, separately. It reads the release and nothing else.
package overall

import (
	"math"

	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/release"
)

// An Amount is a number with the standard deviations of its two errors: the noise of the fit, and
// the sampling of the rows from some larger population. Either is NaN where it is not known.
//
// Noise is an upper estimate: a component's effective noise is that of its worst direction, and is
// used for all of its numbers. Both are to first order.
type Amount struct{ Value, Noise, Sampling float64 }

// Levels are the parts of the rows below the quantiles of a Column.
var Levels = [...]float64{.05, .25, .5, .75, .95}

// A Column describes one column of the mixture, in its units.
type Column struct {
	Mean, SD  Amount
	OfShape   float64 // the part of SD.Noise that is none: of backgrounds, and of other shapes
	Quantiles [len(Levels)]Amount
}

// A Table describes all columns of the mixture.
type Table struct {
	Columns      []Column
	Correlations [][]Amount // d x d; 0 for a column without spread
	Rows         float64    // n, or the noisy sum of the rows behind components; NaN if unknown
}

// Of returns the table of a release that has a valid model. Quantiles of a column are those of
// drawn rows where these follow what was counted of it and not the components. Limits of columns
// are kept column by column: for correlated columns with limits on both this is not exact.
// Correlations of a column of logarithms are those of the logarithms.
func Of(r *release.Release) Table {
	t := Table{Rows: rowsOf(r)}
	m, noise, misfit := told(r)
	columns := make([]column, m.Dim())
	for j := range columns {
		columns[j] = newColumn(m, j, noise, misfit)
		c := columns[j]
		named := Column{Mean: c.meanAmount(t.Rows), SD: c.sdAmount(t.Rows)}
		if c.sd > 0 && !c.cell.Log.Maps() {
			named.OfShape = c.unit * c.ofShape()
		}
		for i, level := range Levels {
			named.Quantiles[i] = c.quantileAmount(level, t.Rows)
		}
		if f := r.Model.Follows(j); f != nil {
			for i, level := range Levels {
				named.Quantiles[i] = followed(f, level, t.Rows)
			}
		}
		if c.cell.Log.Maps() {
			c.ownUnits(&named, t.Rows)
		}
		t.Columns = append(t.Columns, named)
	}
	t.Correlations = make([][]Amount, len(columns))
	for i := range columns {
		t.Correlations[i] = make([]Amount, len(columns))
		for j := range columns {
			t.Correlations[i][j] = correlation(m, columns, i, j, t.Rows)
		}
	}
	return t
}

// LeastBackground is the share of the rows from which on a background is reported. Fits to tables
// without outliers have one of about .08 %, which is a floor and no finding, and would make the
// standard deviations of all columns 1.5 % too large. A guess.
const LeastBackground = .005

// told returns the mixture with the noise and the misfit of its components, without a background
// that is too small to report.
func told(r *release.Release) (m *model.Mixture, noise, misfit []float64) {
	noise, misfit = noiseOf(r), make([]float64, len(r.Model.Components))
	for i := range min(len(misfit), len(r.Diagnostics.Components)) {
		misfit[i] = r.Diagnostics.Components[i].Misfit
	}
	rest, share := r.Model.WithoutBackground()
	if rest == r.Model || share >= LeastBackground {
		return r.Model, noise, misfit
	}
	groups, _ := r.Model.Split()
	of := func(all []float64) (kept []float64) {
		for _, i := range groups {
			kept = append(kept, all[i])
		}
		return kept
	}
	return rest, of(noise), of(misfit)
}

// rowsOf returns n where it is public, and else the noisy number of rows behind all components.
func rowsOf(r *release.Release) float64 {
	if r.Certificate.Rows != nil && *r.Certificate.Rows > 0 {
		return float64(*r.Certificate.Rows)
	}
	sum := 0.
	for _, c := range r.Diagnostics.Components {
		sum += c.EffectiveRows
	}
	if sum < 1 {
		return math.NaN()
	}
	return sum
}

// lightest is the weight below which a component whose noise is not known, such as a background, is
// left out of the noise of the whole. A guess.
const lightest = .02

// noiseOf returns the effective noise of each component: NaN if unknown. That of a background is of
// its weight, as precise as the count of the rows that no group has.
func noiseOf(r *release.Release) []float64 {
	out := make([]float64, len(r.Model.Components))
	for i := range out {
		if i < len(r.Diagnostics.Components) {
			out[i] = r.Diagnostics.Components[i].EffectiveNoise
		}
		switch {
		case out[i] > 0:
		case r.Model.Weights[i] < lightest:
			out[i] = 0
		case r.Model.Background != nil && r.Model.Background[i] && r.Diagnostics.Undescribed != nil:
			out[i] = r.Diagnostics.Undescribed.Noise / r.Model.Weights[i] / countNoise(r.Model.Dim())
		default:
			out[i] = math.NaN()
		}
	}
	return out
}
