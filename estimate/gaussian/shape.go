package gaussian

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"

	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts/clip"
	"github.com/gauze-dp/gauze/parts/moments"
	"github.com/gauze-dp/gauze/parts/radial"
)

// How the shape of the rows is judged. Utility only.
const (
	shapePart = .015 // of mu^2, for the histogram of the radii
	// heavyLoss: the Pearson family must explain the radii better than the Gaussian by this much,
	// in -2 log likelihood with one parameter more. For a Gaussian that is a chance of 5e-4
	// (chi-square with one degree), less what the decision on the loss takes off.
	heavyLoss = 12
	// unlikely: a sum of squares of ten bins, two of them fitted, that a Gaussian reaches with a
	// chance of 1e-6.
	unlikely = 45
	// straySDs: stray rows are gated only if there are more than this many noise sds of them.
	straySDs = 4
	// gateFactor: rows beyond this much of the farthest that a Gaussian has are left out of a gated
	// release.
	gateFactor = 1.2
)

// shape is what the released radii of rounded rows say of their law.
type shape struct {
	// far is the share of rows with |z|^2 > 25 d, less two noise sds, as tailShare has it.
	far float64
	// stray is the share of rows farther out than any Gaussian row, 0 where the noise hides it, and
	// gate the |z|^2 beyond which they are.
	stray, gate float64
	// heavy: clipped moments without the Gaussian's inversion are expected to have less error than
	// with it.
	heavy bool
	// law is the nearest law of the Pearson family.
	law radial.Pearson
}

// nearest2 is a |z|^2 that one row in 2e4 of a Gaussian reaches, and at most .8 of the tail
// query's.
func nearest2(d int) float64 {
	k := float64(d)
	return math.Min(k+2*math.Sqrt(10*k)+20, .8*tailRadius2*k)
}

// shapeEdges are quantiles of chi-square, then the ends of a Gaussian and of the tail query:
// public.
func shapeEdges(d int) []float64 {
	var edges []float64
	for _, p := range [...]float64{.02, .1, .25, .5, .75, .9, .97, .99, .999} {
		edges = append(edges, 2*mathext.GammaIncRegInv(float64(d)/2, p))
	}
	return append(edges, nearest2(d), tailRadius2*float64(d))
}

// strayBins of the histogram are beyond the end of a Gaussian: what they hold is contamination or a
// tail, and says nothing about the rest.
const strayBins = 2

// radialShape releases one histogram of the radii in the coordinates of the state and judges it. It
// takes the place of tailShare.
//
// Far rows are contamination, not a heavy tail: the law is fitted to the rows within a Gaussian's
// reach only. Then the error that the Gaussian's inversion would make of such a law is compared
// with what doing without it costs.
//
// Source: [TYLERPRESS] Sections 4.3 and 4.5 (a).
// Differs: a histogram in place of one tail count, so that the choice between Gaussian and moments
// mode is made from released values.
func (r *run) radialShape(st *state, nu float64) (shape, error) {
	d := st.rank()
	root := math.Sqrt(consistency(d, nu))
	mu := math.Min(math.Sqrt(shapePart*r.mu2), r.a.LeftMu())
	h, ok, err := r.countRadii("tail", st, root, mu, shapeEdges(d))
	if err != nil || !ok {
		return shape{far: 1}, err
	}
	return r.judge(h, r.information(st)), nil
}

// judge is the public part of radialShape; information is that of predict.
func (r *run) judge(h *radial.Histogram, information float64) shape {
	last := len(h.Counts) - 1
	s := shape{far: (h.Counts[last] - 2*h.Sigma) / h.Rows}
	gauss, gaussLoss := h.FitScale(0, strayBins)
	s.law = h.FitPearson(strayBins)
	s.gate = gateFactor * math.Max(1, gauss.Scale) * nearest2(h.D)
	if stray := h.Beyond(last - strayBins); stray > straySDs*h.Sigma*math.Sqrt(strayBins) {
		s.stray = math.Min(stray/h.Rows, 1)
	}
	if loss, _ := h.Losses(s.law, strayBins); gaussLoss-loss < heavyLoss {
		_, misfit := h.Losses(gauss, strayBins)
		s.heavy = misfit > unlikely // no law of the family explains it: an atom, or several groups
		return s
	}
	mu := r.a.LeftMu()
	r2, lift := bestRadius2(r.problem.Relation, h.D, h.Rows, mu, information)
	cov, _ := predict(r.problem.Relation, h.D, h.Rows, mu, r2, lift, information)
	l := s.law.Law(radial.Edges(h.D))
	free := bestClipping(r.problem.Relation, l, h.Rows, mu*math.Sqrt(1-radiusPart), looseExcess, false)
	s.heavy = free.r2 > 0 && cov+gaussianBias2(l, r2) > free.cov
	return s
}

// gaussianBias2 is the squared error of the covariance when the clipping of rows of the law l is
// undone as if they were Gaussian.
func gaussianBias2(l radial.Law, r2 float64) float64 {
	k := float64(l.D)
	size := l.Mean() / k
	return k * math.Pow(clip.Variance(l.D, k*l.Clip(r2).A, r2)/size-1, 2)
}

// momentsWithin is momentsAt for the rows with |z|^2 <= gate: beyond it they lose their share
// quickly, to a background that releases nothing, so that stray rows add not even a clipped vector.
// stray is the share of such rows, as released before.
//
// Source: [TYLERPRESS] Section 4.5. Differs: the source clips stray rows.
func (r *run) momentsWithin(st *state, root, radius, lift, gate, stray, mu float64) (mean []float64, second *mat.SymDense, noise float64, err error) {
	frame, ok := st.frame(root)
	if !ok {
		return nil, nil, 0, nil
	}
	point := query.Affine{Columns: frame.Columns, Center: frame.Center, W: [][]float64{make([]float64, len(frame.Center))}}
	q := query.ClippedMoments{Form: query.FullForm, Lift: math.Sqrt(lift), Components: []query.Component{
		{Frame: frame, Radius: radius},
		{Frame: point, Radius: 1, GateOnly: true, LogWeight: -gate / 2},
	}}
	answer, err := r.a.Sum(r.prefix+"moments", q, mu)
	if err != nil {
		return nil, nil, 0, err
	}
	sums := moments.Unpack(q, answer)[0]
	var rows tally
	rows.add(sums.Count, sums.CountSD)
	rows.add(r.goodRows()*(1-stray), math.Sqrt(2*strayBins)/math.Sqrt(shapePart*r.mu2))
	inside := math.Max(rows.sum/rows.weight, r.goodRows()/2)
	mean, second = sums.Sum, sums.Second
	for i := range mean {
		mean[i] /= inside
	}
	second.ScaleSym(1/inside, second)
	return mean, second, sums.SecondSD / inside * math.Sqrt(2*float64(len(mean))), nil
}
