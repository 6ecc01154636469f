package columns

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/tyler"
)

// Utility constants, guesses.
const (
	// radiusPart of a release is for the histogram of the radii.
	radiusPart = .08
	// How much nearer a fitted tail must be than the family's: see tyler.RadialHistogram.Law. At 4
	// noise alone feigned a tail in 5 of 100 histograms of 4,000 Gaussian rows of 12 columns, and
	// all sds of such a fit came out a third too large. Chosen of 4, 7, 10 and 14, on histograms of
	// made-up laws (Gaussian, t of 3 degrees, rows far out, lognormal) in 4 and 12 columns, in
	// November 2026.
	misfit = 10
	// How much what clipping hides counts beside noise, tyler.RadialLaw.Clipping, is more for the
	// columns' variances, in which all of it is, than for their covariances, of which there are
	// many.
	AnyExcess, excessHere = .15, .6
)

// Moments are means over the rows in the coordinates of a frame, rows clipped to radius R.
type Moments struct {
	Mean []float64     // from the frame's centre
	Cov  *mat.SymDense // about the mean; it need not be positive
	R2   float64
	// MeanSD is the noise sd of an entry of Mean. CovSD is that of a diagonal entry of Cov where
	// the mean is 0, and off-diagonal ones have CovSD/sqrt2; see CovNoise2.
	MeanSD, CovSD float64
	// ClippedTrace is what clipping took from the trace, by the law of the radii; Beyond the share
	// of rows outside of the radius, and BeyondSD its noise.
	ClippedTrace, Beyond, BeyondSD float64
}

// CovNoise2 returns the noise variance of the entries i, j and j, i of Cov, and half of that of a
// diagonal entry. The square of the mean, which is taken off, has the more noise the farther the
// mean lies from the frame's centre.
func (m Moments) CovNoise2(i, j int) float64 {
	return m.CovSD*m.CovSD/2 + (m.Mean[i]*m.Mean[i]+m.Mean[j]*m.Mean[j])*m.MeanSD*m.MeanSD
}

// ErrOverflow is the error of a release in coordinates that float64 does not hold.
var ErrOverflow = errors.New("marginal: the columns' coordinates do not fit float64")

// ReleaseMoments measures mean and covariance in the coordinates of frame, in which rows should
// have a mean square of about 1 each, with the part mu2 of mu^2: a histogram of the radii chooses
// the radius, least2^.5 or more, that balances noise with what clipping hides, weighted by excess.
//
// Source: [TYLERPRESS] Section 3.
func ReleaseMoments(a *kernel.SubBudget, prefix string, frame query.Affine, rows, mu2, least2, excess float64) (m Moments, err error) {
	d := frame.Out()
	if frame.Validate(a.Session().Columns()) != nil {
		return m, ErrOverflow
	}
	h, err := tyler.CountRadii(a, stepRadii.Of(prefix), frame, parts.Mu(radiusPart*mu2), tyler.RadialEdges(d), rows)
	if err != nil {
		return m, err
	}
	law, _ := h.Law(misfit)
	mu := parts.Mu((1 - radiusPart) * mu2)
	c := law.Clipping(a.Session().Relation(), rows, mu, excess, false)
	if !(c.R2 > 0) {
		c.R2, c.Lift = law.Mean(), .2 // all radii lose: any will do
	}
	c.R2 = math.Max(c.R2, least2)
	q := query.ClippedMoments{Form: query.FullForm, Lift: math.Sqrt(c.Lift), Components: []query.Component{{Map: frame, Radius: math.Sqrt(c.R2)}}}
	answer, err := a.Sum(MomentsStep.Of(prefix), q, mu)
	if err != nil {
		return m, err
	}
	sums := component.UnpackSums(q, answer)[0].Over(rows)
	m.R2, m.MeanSD, m.CovSD = c.R2, sums.SumSD, sums.SecondSD
	m.Mean, m.Cov, m.ClippedTrace = sums.Sum, sums.Second, law.Clip(c.R2).Excess
	m.Cov.SymRankOne(m.Cov, -1, mat.NewVecDense(d, m.Mean))
	for i := len(h.Edges) - 1; i >= 0 && h.Edges[i] >= c.R2; i-- {
		m.Beyond, m.BeyondSD = h.Beyond(i)/rows, h.Sigma*math.Sqrt(float64(len(h.Edges)-i))/rows
	}
	return m, nil
}

// A Summary is what MeasureReach, Closer and Release found: moments in the columns' units, every
// column by itself or two of them together.
type Summary struct {
	Space   component.Space // centred, in units of the reaches
	Seen    component.Space // as Columns has it
	Columns []Column
	Moments
	// Given is by column the part of its variance that is an estimate of what clipping took.
	Given []float64
}

// Release measures the columns' moments, each in units of its reach.
func (t *Summary) Release(a *kernel.SubBudget, prefix string, rows, mu2 float64) (err error) {
	excess := AnyExcess
	if slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Tail > 0 || c.Atom > someAtom }) {
		excess = excessHere
	}
	var frame query.Affine
	var least2 float64
	t.Space, frame, least2 = units(t.Seen, t.Columns)
	if t.Moments, err = ReleaseMoments(a, prefix, frame, rows, mu2, least2, excess); err == nil {
		t.giveBack()
	}
	return err
}

// OutsideReach: rows this many times as far out as a column is seen to reach are outside, if that
// is also outsideSDs more than a Gaussian row with the columns' covariance has. Guesses.
const OutsideReach, outsideSDs = 2, 6

// Outside returns the frame of Release, and the square of the distance in it beyond which rows are
// outside.
func (t *Summary) Outside() (query.Affine, float64) {
	_, frame, reach2 := units(t.Seen, t.Columns)
	return frame, OutsideReach*OutsideReach*reach2 + mat.Trace(t.Cov) + outsideSDs*math.Sqrt2*mat.Norm(t.Cov, 2)
}

// giveBack shares what clipping took from the trace among the columns: of a clipped row most is in
// columns in which it is far out, as the histograms show, and the others lose the part of the rows
// that are clipped.
func (t *Summary) giveBack() {
	d, all := len(t.Columns), 0.0
	weight, factor := make([]float64, d), mat.NewDense(d, d, nil)
	t.Given = make([]float64, d)
	for i, c := range t.Columns {
		unit := t.Space.Scale[i] / t.Seen.Scale[i]
		weight[i] = c.SquareFrom(outer*math.Sqrt(t.R2)*unit)/(unit*unit) + math.Max(t.Beyond, t.BeyondSD)*t.Cov.At(i, i)
		all += weight[i]
	}
	for i := range d {
		factor.Set(i, i, 1)
		if gain := t.ClippedTrace * weight[i] / (all * t.Cov.At(i, i)); gain > 0 { // false for NaN: of noise alone all may be 0
			factor.Set(i, i, math.Sqrt(1+gain))
			t.Given[i] = gain / (1 + gain)
		}
	}
	t.Cov = symmetric.Congruence(factor, t.Cov)
}

// outer: a row this part of the radius out in one column is clipped for that column's sake, most
// likely. A guess.
const outer = .5

// units returns the space with its columns in units in which they all reach equally far, the mean
// square of a row being the number of columns; its frame; and the square of that reach.
func units(space component.Space, columns []Column) (component.Space, query.Affine, float64) {
	u := component.Space{Columns: space.Columns, Center: space.Center}
	one := mat.DenseCopyOf(symmetric.Identity(len(columns)))
	square := parts.Sum(columns, func(c Column) float64 { return c.Square / (c.Reach * c.Reach) })
	reach2 := float64(len(columns)) / square
	for i, c := range columns {
		u.Scale = append(u.Scale, c.Reach*space.Scale[i]/math.Sqrt(reach2))
	}
	return u, u.Affine(make([]float64, len(columns)), one), reach2
}
