package gaussian

import (
	"math"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/tyler"
)

// gaussian spends all that is left on one clipped moment release, and finds the Gaussian that it
// and the steps before it agree on: what the preconditioner cost is not lost. Stray rows, if the
// radii showed any, are left out of it; then the steps, which they leaned on, have no say either.
//
// The result is scaled by 1/(1 + Shrink (d+1) v), v the noise variance of a coordinate: the frame
// comes from noisy steps that the answer uses again, so directions that noise made too wide weigh
// less than they should when the last release decides the scale; and an error relative to the truth
// is least for a little less than the middle of what may be true.
//
// Source: [TYLERPRESS] Sections 4.3 and 4.6. Differs: the number of rows is the combined released
// count under both relations.
func (f fit) gaussian(st *tyler.State) (none estimate.Outcome, err error) {
	d, k, root := st.Rank(), float64(st.Rank()), st.Root()
	information := f.Tyler.Information(st)
	best, ok := f.hopefulLast(d, information, true)
	if !ok {
		return none, f.Refuse(hiddenCovariance)
	}
	m, err := f.Moments(st, root, best, f.LeftMu())
	if err != nil {
		return none, err
	}
	law, own := component.ClippedGaussian(d, best.R2), released(m, best)
	var views []component.View
	if information > 0 {
		gain := st.Gain()
		views = f.Tyler.Views(st, root, math.Max(0, 2*gain/(k+st.Nu)-2*law.V/(law.B1*law.B1))/(f.Rows*gain*gain))
	}
	delta, spread, err := component.InvertClipping(f.Context, own, views)
	if err != nil {
		return none, err
	}
	var told []estimate.Flag
	if expected, _ := component.NewPoints(d).Moments(delta, spread, own.R2); len(views) > 0 && meansApart(own.Mean, expected, own.MeanSD) {
		information = 0
		middle := delta
		if delta, spread, err = component.InvertClipping(f.Context, own, nil); err != nil {
			return none, err
		}
		told = append(told, flags.New(flags.NotGaussian, noMiddle).In(f.moved(st, middle, delta, apartSDs*own.MeanSD/law.A1)...))
	}
	variance := 1 / (information + law.B1*law.B1/(own.SecondSD*own.SecondSD))
	noise := math.Sqrt(2 * k * variance)
	if least, collapsed := component.LeastVariance(spread); collapsed || noise > noiseLimit*least {
		if f.mayEndAlone() {
			return f.withoutCorrelations(st, root, delta, spread, math.Sqrt(2*variance), told...)
		}
		return none, f.Refuse("the noise hides the spread in some directions")
	}
	spread.ScaleSym(1/math.Sqrt(1+f.Shrink*(k+1)*variance), spread)
	return f.Finish(st, root, delta, spread, noise, told)
}

// noMiddle is said where the steps' centre, which is a Gaussian's mean, is not that of the rows:
// they are skew or in groups. Then mean and covariance are those of the last release alone.
const noMiddle = "not bell-shaped: the rows are skew or in groups, and the mean has more noise than a Gaussian's"

// moved returns the columns in which the means a and b differ by more than noise in a coordinate
// explains.
func (f fit) moved(st *tyler.State, a, b []float64, noise float64) (columns []int) {
	for i, j := range f.Space.Columns {
		row, by := st.Wi.RawRowView(i), 0.0
		for l, w := range row {
			by += w * (b[l] - a[l])
		}
		if math.Abs(by) > noise*math.Sqrt(dense.Norm2(row)) {
			columns = append(columns, j)
		}
	}
	return columns
}

// released returns the moments as what is inverted.
func released(m component.Sums, c component.ClippingRadius) component.ClippedRelease {
	return component.ClippedRelease{Mean: m.Sum, Second: m.Second, R2: c.R2, MeanSD: m.SumSD, SecondSD: m.SecondSD}
}
