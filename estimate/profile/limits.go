package profile

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/columns"
	"github.com/gauze-dp/gauze/parts/component"
)

// Where few columns have the cells for a histogram, the declared limits say where values lie, and
// means and standard deviations are sums within them, which a sixth of the rows can pay for.
const (
	// In units in which the limits are -sqrt2 and sqrt2, (z, limitSquares (z^2-1)) is released: a
	// larger one has less noise in the standard deviations and more in the means.
	limitSquares = .7
	// mostLimitNoise is the largest noise of a mean that is worth it, over half the distance of the
	// limits.
	mostLimitNoise = .1
	byLimits       = "too few values for quantiles: mean and standard deviation are sums within the declared limits"
)

// limited returns the columns that have limits, between which values can differ.
func limited(p estimate.Problem) (of []int) {
	for j, l := range p.Limits {
		if half := l[1]/2 - l[0]/2; half > columns.Narrowest && half < math.MaxFloat64/4 {
			of = append(of, j)
		}
	}
	return of
}

// limitRadius is the length of the longest vector (z, limitSquares (z^2-1)) within the limits of d
// columns.
func limitRadius(d int) float64 {
	return math.Sqrt(float64(d) * (2 + limitSquares*limitSquares))
}

// needLimits returns the number of cells from which on means of d columns within limits have little
// enough noise.
func needLimits(p estimate.Problem, d int, mu float64) float64 {
	return program.Factor(p.Relation) * limitRadius(d) / (mu * mostLimitNoise)
}

// limitRows returns the number of rows from which on means within limits are measured; +Inf if no
// column has limits.
func limitRows(p estimate.Problem) float64 {
	d := len(limited(p))
	if d == 0 {
		return math.Inf(1)
	}
	return needLimits(p, d, p.Mu*math.Sqrt(1-byItself.cells.most))
}

// payable returns the columns with limits whose cells are enough for means within them.
func (f *fit) payable() (of []*column) {
	all := limited(f.problem)
	for _, j := range all {
		if c := f.columns[j]; c.cells >= needLimits(f.problem, len(all), parts.Mu(f.Left())) {
			of = append(of, c)
		}
	}
	return of
}

// withinLimits releases means and standard deviations of columns within their limits, with all that
// is left, and holds the others out.
//
// Privacy: one clipped moment release, see query.ClippedMoments. Limits are public.
func (f *fit) withinLimits(of []*column) error {
	for _, c := range f.live {
		c.reason = tooFew
	}
	d, fill, space := len(of), make([]float64, len(f.columns)), component.Space{}
	for _, c := range of {
		c.limits = &f.problem.Limits[c.index]
		c.mean, c.reach, c.reason = c.limits[0]/2+c.limits[1]/2, c.limits[1]/2-c.limits[0]/2, ""
		fill[c.index] = c.mean
		space.Columns, space.Center, space.Scale = append(space.Columns, c.index), append(space.Center, c.mean), append(space.Scale, c.reach/math.Sqrt2)
	}
	frame := space.Affine(make([]float64, d), mat.DenseCopyOf(symmetric.Identity(d)))
	q := query.ClippedMoments{Form: query.ColumnForm, Lift: limitSquares, Components: []query.Component{{Map: frame, Radius: limitRadius(d)}}}
	answer, err := f.In(query.Filled, fill).Sum(columns.MomentsStep.Of(f.prefix), q, parts.Mu(f.Left()))
	if err != nil {
		return err
	}
	sums := component.UnpackSums(q, answer)[0].Over(f.rows)
	// rows without any cell add 0 to the sum of z^2-1: that of z^2 needs the number of the others
	some := sums.Count / f.rows
	m := columns.Moments{Mean: sums.Sum, Cov: sums.Second, MeanSD: sums.SumSD, CovSD: math.Hypot(sums.SecondSD, sums.CountSD/f.rows)}
	for i := range d {
		m.Cov.SetSym(i, i, some+m.Cov.At(i, i)-m.Mean[i]*m.Mean[i])
	}
	for i, c := range of {
		c.read(m, i, space.Scale[i], 0, f.rows)
		c.sd = math.Min(c.sd, c.reach)
	}
	return nil
}
