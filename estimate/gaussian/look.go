package gaussian

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts/columns"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/tyler"
)

// shape is what the released radii of rounded rows say of their law.
type shape struct {
	// far is the share of rows with |z|^2 > 25 d, less two noise sds, as Fit.Far has it.
	far float64
	// stray is the share of rows farther out than any Gaussian row, 0 where the noise hides it, and
	// gate the |z|^2 beyond which they are.
	stray, gate float64
	// heavy: clipped moments without the Gaussian's inversion are expected to have less error than
	// with it.
	heavy bool
}

// shapeEdges returns the quantiles of chi-square, then the ends of a Gaussian and of the tail
// query: public.
func shapeEdges(d int) []float64 {
	var edges []float64
	for _, p := range [...]float64{.02, .1, .25, .5, .75, .9, .97, .99, .999} {
		edges = append(edges, 2*mathext.GammaIncRegInv(float64(d)/2, p))
	}
	return append(edges, nearest2(d), farRadius2*float64(d))
}

// strayBins of the histogram are beyond the end of a Gaussian: what they hold is contamination or a
// tail, and says nothing about the rest. A guess.
const strayBins = 2

// look releases one histogram of the radii in the coordinates of the state and judges it.
//
// Far rows are contamination, not a heavy tail: the law is fitted to the rows within a Gaussian's
// reach only. Then the error that the Gaussian's inversion would make of such a law is compared
// with what doing without it costs.
//
// Source: [TYLERPRESS] Sections 4.3 and 4.5 (a).
// Differs: a histogram in place of one tail count, so that the choice between Gaussian and moments
// mode is made from released values.
func (f fit) look(st *tyler.State) (shape, error) {
	root := st.Root()
	if _, ok := st.Frame(root); !ok {
		return shape{far: 1}, nil
	}
	h, err := f.Radii("tail", st, root, math.Min(math.Sqrt(f.ShapePart*f.Mu2), f.LeftMu()), shapeEdges(st.Rank()))
	if err != nil {
		return shape{}, err
	}
	return f.judge(h, f.Tyler.Information(st)), nil
}

// judge is the public part of look; information is that of predict.
func (f fit) judge(h *tyler.RadialHistogram, information float64) shape {
	last := len(h.Counts) - 1
	s := shape{far: (h.Counts[last] - 2*h.Sigma) / h.Rows}
	gauss, gaussLoss := h.FitScale(0, strayBins)
	law := h.FitPearson(strayBins)
	s.gate = f.GateFactor * math.Max(1, gauss.Scale) * nearest2(h.D)
	if stray := h.Beyond(last - strayBins); stray > f.StraySDs*h.Sigma*math.Sqrt(strayBins) {
		s.stray = math.Min(stray/h.Rows, 1)
	}
	if loss, _ := h.Losses(law, strayBins); gaussLoss-loss < f.HeavyLoss {
		_, misfit := h.Losses(gauss, strayBins)
		s.heavy = misfit > f.Unlikely // no law of the family explains it: an atom, or several groups
		return s
	}
	end := f.last(h.D, h.Rows, information)
	end.completed = false // as what it is compared with
	best := end.bestRadius2()
	l := law.Law(tyler.RadialEdges(h.D))
	free := l.Clipping(f.Problem.Relation, h.Rows, end.mu*math.Sqrt(1-radiusPart), columns.AnyExcess, false)
	s.heavy = free.R2 > 0 && best.Cov+gaussianBias2(l, best.R2) > free.Cov
	return s
}

// gaussianBias2 returns the squared error of the covariance when the clipping of rows of the law l
// is undone as if they were Gaussian.
func gaussianBias2(l tyler.RadialLaw, r2 float64) float64 {
	k := float64(l.D)
	size := l.Mean() / k
	return k * math.Pow(component.ClippedVariance(l.D, k*l.Clip(r2).A, r2)/size-1, 2)
}

// momentsWithin returns Fit.Moments for the rows with |z|^2 <= seen.gate: beyond it they lose
// their share quickly, to a background that releases nothing, so that stray rows add not even a
// clipped vector.
//
// Source: [TYLERPRESS] Section 4.5. Differs: the source clips stray rows.
func (f fit) momentsWithin(st *tyler.State, root float64, c component.ClippingRadius, mu float64, seen shape) (component.Sums, error) {
	frame, _ := st.Frame(root)
	point := query.Affine{Columns: frame.Columns, Center: frame.Center, W: [][]float64{make([]float64, len(frame.Center))}}
	sums, err := f.ClippedSums(st, root, c, mu, query.Component{Frame: point, Radius: 1, GateOnly: true, LogWeight: -seen.gate / 2})
	if err != nil {
		return sums, err
	}
	var rows component.RowCount
	rows.Add(sums.Count, sums.CountSD)
	rows.Add(f.Good()*(1-seen.stray), math.Sqrt(2*strayBins)/math.Sqrt(f.ShapePart*f.Mu2))
	return sums.Over(math.Max(rows.Mean(), f.Good()/2)), nil
}
