package kv18

import (
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts/component"
)

// misfit weighs what clipping hides of a tail that is not a Gaussian's. A utility constant of
// component.ClippingRadius2.
const misfit = .1

// radius that rows are clipped to, in bin widths, for n rows and a last release at a cost.
func (c Constants) radius(p estimate.Problem, n, cost float64) float64 {
	if c.Radius > 0 {
		return c.Radius * math.Sqrt(math.Log(n/c.FailureProb))
	}
	return (offCenter + sdOfWidth*math.Sqrt(component.ClippingRadius2(1, n, component.Noise{Second: squareNoise(p, cost)}, misfit))) / c.Width
}

// lift is b/r of the moment release: the mean's part of it.
const lift = .45

// release spends all that is left on one clipped release of mean and second moment.
//
// Source: [KV18] Section 3 of the restatement; [TYLERPRESS] Section 4.3 with d = 1. Differs: one
// release of both moments, whose clipping is undone for a Gaussian; see radius and form.
func (r *run) release() (doubt string, err error) {
	left := r.Left()
	radius := r.c.radius(r.Problem, r.rows, left)
	frame := query.Affine{Center: []float64{r.center}, W: [][]float64{{1 / r.width}}}
	q := query.ClippedMoments{Components: []query.Component{{Map: frame, Radius: radius}}, Form: form(r.Problem), Lift: lift}
	answer, err := r.sum(stepMoments, q, left)
	if err != nil {
		return "", err
	}
	s := component.UnpackSums(q, answer)[0]
	first, second, noise := s.Sum[0]/r.rows, s.Trace/r.rows, s.TraceSD/r.rows
	switch spread := second - first*first; {
	case !(noise <= noiseLimit*spread):
		return "the noise hides the spread of the rows", nil
	case math.Abs(first) > leaning*radius || second > leaning*radius*radius:
		return "most rows lie outside the range that the histograms gave", nil
	default:
		r.noise = noise / spread
	}
	mean, sd := unclip(first, second, radius)
	r.mean, r.sd = r.center+mean*r.width, sd*r.width
	return "", nil
}
