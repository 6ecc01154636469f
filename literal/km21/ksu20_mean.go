package km21

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/component"
)

const (
	stepStart = "start of the mean"
	stepMean  = "mean"
)

// heavyTailedMean estimates the mean, known to lie within the given distance of the origin, of rows
// whose covariance is about that of e, with all that the sample's sub-budget has left: rows are
// whitened and clipped to the ball of radius
//
//	R = sqrt d (n mu/sqrt d)^(1/(2k))
//
// about a start, and averaged. In the whitened coordinates the error is about sqrt(d/n) + sqrt d
// (sqrt d/(n mu))^(1-1/(2k)): clipping moves the mean by at most E|z| 1{|z| > R} <= C d^k/R^(2k-1),
// and the noise is 2R sqrt d/(n mu) or so, the same power of n mu. The start is the origin if the
// ball that holds the mean has radius sqrt d or less there, when it costs a constant; else a first
// mean, rows clipped to a ball that holds the other and R more. none says that this mean would not
// be known to sqrt d.
//
// Source: [KSU20] Section 1 of the restatement.
// Differs: the start is a clipped mean, where the paper has histograms of every coordinate; rows
// are whitened by a released covariance; the whole budget is on all rows at both stages, where the
// paper splits the rows.
func heavyTailedMean(x sample, e estimated, within float64) (mean []float64, none *estimate.NoRelease, err error) {
	mean = make([]float64, x.d)
	r := within * mat.Norm(e.Whitener, 2)
	if !(r <= math.Sqrt(float64(x.d))) {
		mu := parts.Mu(x.StartShare * x.a.Left())
		if radius := r + x.clipRadius(mu); !(x.startError(r, mu) <= math.Sqrt(float64(x.d))) {
			return nil, &estimate.NoRelease{
				Reason: fmt.Sprintf("the mean is known to within %.2g standard deviations only: the noise of a first mean is too large", r)}, nil
		} else if mean, err = x.clippedMean(stepStart, e, mean, radius, mu); err != nil {
			return nil, nil, err
		}
	}
	mu := x.a.LeftMu()
	mean, err = x.clippedMean(stepMean, e, mean, x.clipRadius(mu), mu)
	return mean, nil, err
}

// clipRadius returns R.
func (x design) clipRadius(mu float64) float64 {
	root := math.Sqrt(float64(x.d))
	return root * math.Pow(math.Max(1, x.rows*mu/root), 1/float64(2*x.k))
}

// startError bounds, but with probability FailureProb or so, the distance of the start from the
// mean, which is within r.
func (x design) startError(r, mu float64) float64 {
	d := float64(x.d)
	clip := x.clipRadius(mu)
	bias := math.Exp(x.bound+float64(x.k)*math.Log(d)) / math.Pow(clip, float64(2*x.k-1))
	sampling := math.Sqrt(2 * d / (x.FailureProb * x.rows))
	return bias + sampling + x.meanSD(r+clip, mu)*(math.Sqrt(d)+math.Sqrt(2*math.Log(2/x.FailureProb)))
}

// meanSD returns the noise of a coordinate of a clipped mean: the spherical form of clipped moments
// has 3/2 of the noise that a mean alone needs under add-or-remove-one, and 1.06 of it under
// replace-one.
func (x design) meanSD(radius, mu float64) float64 {
	sd := 1.5 * radius / (x.rows * mu)
	if x.relation == privacy.ReplaceOne {
		sd *= math.Sqrt2
	}
	return sd
}

// clippedMean returns the mean of the rows, clipped to the radius about center in whitened
// coordinates.
func (x sample) clippedMean(step string, e estimated, center []float64, radius, mu float64) ([]float64, error) {
	return x.clipped(e, center, radius, func(q query.ClippedMoments) (kernel.Answer, error) { return x.a.Sum(step, q, mu) })
}

// clipped returns clippedMean by what ask answers.
func (x design) clipped(e estimated, center []float64, radius float64, ask func(query.ClippedMoments) (kernel.Answer, error)) ([]float64, error) {
	frame := frameOf(e.Whitener)
	frame.Center = center
	q := query.ClippedMoments{Form: query.SphericalForm, Components: []query.Component{{Map: frame, Radius: radius}}}
	ans, err := ask(q)
	if err != nil {
		return nil, err
	}
	z := mat.NewVecDense(x.d, component.UnpackSums(q, ans)[0].Sum)
	z.ScaleVec(1/math.Max(1, x.rows), z)
	var move mat.VecDense
	move.MulVec(e.Factor, z)
	mean := make([]float64, x.d)
	for j := range mean {
		mean[j] = center[j] + move.AtVec(j)
	}
	return mean, nil
}
