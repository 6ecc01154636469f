package gaussian

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/gauze-dp/gauze/parts/columns"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/tyler"
)

// shape is what the released radii of rounded rows say of their law.
type shape struct {
	// far is the share of rows with |z|^2 > 25 d, less noise, as Fit.OutlierShare has it.
	far float64
	// outliers: more rows are beyond a Gaussian's reach than noise explains.
	outliers bool
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
// Far rows are contamination, not a heavy tail: the law is fitted to the rows within a
// Gaussian's reach only. Then the error that the Gaussian's inversion would make of such a law is
// compared with what doing without it costs.
//
// Source: [TYLERPRESS] Sections 4.3 and 4.5 (a).
// Differs: a histogram in place of one tail count, so that the choice between Gaussian and moments
// mode is made from released values.
func (f fit) look(st *tyler.State) (shape, error) {
	root := st.Root()
	if _, ok := st.Affine(root); !ok {
		return shape{far: 1}, nil
	}
	h, err := f.Radii(stepRadii, st, root, f.upTo(f.ShapePart*f.Mu2), shapeEdges(st.Rank()))
	if err != nil {
		return shape{}, err
	}
	return f.judge(h, f.Tyler.Information(st)), nil
}

// judge returns the shape that look's histogram shows, from released values alone; information is
// that of predict.
func (f fit) judge(h *tyler.RadialHistogram, information float64) shape {
	last := len(h.Counts) - 1
	s := shape{far: (h.Counts[last] - farShareSDs*h.Sigma) / h.Rows}
	s.outliers = h.Beyond(last-strayBins) > f.OutlierSDs*h.Sigma*math.Sqrt(strayBins)
	gauss, gaussLoss := h.FitScale(0, strayBins)
	law := h.FitPearson(strayBins)
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

// reach2 returns a |z|^2 that about strayRows rows of a Gaussian reach, in coordinates that noise
// makes wider the more the fewer rows there are. Guesses.
func (f fit) reach2(d int) float64 {
	wider := 1 + strayWider/math.Sqrt(f.Rows/RowsNeeded(f.Problem))
	return wider * 2 * mathext.GammaIncRegCompInv(float64(d)/2, strayRows/math.Max(f.Rows, 10*strayRows))
}

const strayRows, strayWider = 3, .5

// straySDs: where a large epsilon leaves no noise, one fit in 100 of so many rows had eight and
// more of them, two sds above strayRows; ten have a chance of .001. A guess.
const straySDs = 4
