package gaussian

import (
	"math"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts/radial"
)

// How the last release treats rows that are not Gaussian. Utility only.
const (
	radiusPart = .12 // of what is left, for the histogram of the radii
	// How wrong, squared and relative, the law's word on what clipping hides may be: if nothing is
	// assumed; for an elliptical law of the Pearson family; for another one.
	looseExcess   = .15
	trustedExcess = .005
	freeExcess    = .1
	// By how much a free tail must be nearer to the histogram than the Pearson family's before it
	// is believed as much, if nothing is assumed and if the law is taken for elliptical: limits of
	// radial.Histogram.Law.
	looseMisfit      = 4
	ellipticalMisfit = 8
	// outsideSDs of rows beyond the last radius of the grid are too many.
	outsideSDs = 4
	// Of a law that is surely none of the family, what clipping takes is uncertain; then only so
	// much less noise is borne.
	strange      = .01
	strangeNoise = 2.5
	heavyTail    = "many rows are far from Gaussian (repeated values, zero-inflated columns or heavy tails): mean and covariance are the rows' own, " +
		"the Gaussian shape is not"
)

// countRadii releases the histogram of |root W(y-m)|^2 between edges. All bins together cost mu: a
// row is in one of them. ok is false if the frame does not fit float64.
//
// Source: [TYLERPRESS] Section 3, private radius.
// Differs: one histogram in place of a bisection. It costs no more and shows the whole law: also
// what clipping cuts off.
func (r *run) countRadii(step string, st *state, root, mu float64, edges []float64) (h *radial.Histogram, ok bool, err error) {
	frame, ok := st.frame(root)
	if !ok {
		return nil, false, nil
	}
	roots := make([]float64, len(edges))
	for i, e := range edges {
		roots[i] = math.Sqrt(e)
	}
	answer, err := r.a.Sum(r.prefix+step, query.Counts{Frame: frame, Edges: [][]float64{roots}}, mu)
	if err != nil {
		return nil, false, err
	}
	return &radial.Histogram{D: st.rank(), Edges: edges, Counts: answer.Values, Sigma: answer.Sigma, Rows: r.goodRows()}, true, nil
}

// A clipping is a radius^2 and b^2/R^2 for the moment release, and the squared errors that are
// expected of it, of the covariance and of the mean.
type clipping struct{ r2, lift, cov, mean float64 }

// bestClipping balances noise against what clipping hides, for rows in rounded coordinates whose
// radii follow the law. misfit is how wrong the law's word on that may be; undo says that the
// effect of clipping on the shape will be undone.
func bestClipping(rel privacy.Relation, l radial.Law, rows, mu, misfit float64, undo bool) clipping {
	k, size := float64(l.D), l.Mean()/float64(l.D)
	best, least := clipping{}, math.Inf(1)
	for _, r2 := range radial.Edges(l.D) {
		if r2 < leastRadius2*size*k {
			continue
		}
		c := l.Clip(r2)
		slope := size
		if undo {
			slope = c.B1
		}
		if !(slope > 0 && c.A1 > 0 && c.Gain > leastGain*size) {
			continue
		}
		for _, lift := range [...]float64{.05, .1, .2} {
			sg2 := noise2(rel, rows, mu, r2, lift)
			cov := (k*(k+1)/2-1)*(2*c.V/rows+sg2)/(slope*slope) + (c.VM/rows+sg2)/(size*size) + misfit*c.Excess*c.Excess/k/(size*size)
			mean := k * (c.A/rows + sg2/(2*lift*r2)) / (c.A1 * c.A1 * size)
			if e := cov/(k*(k+1)) + meanWeight*mean/k; e < least {
				best, least = clipping{r2, lift, cov, mean}, e
			}
		}
	}
	return best
}

// leastRadius2: smaller radii, in mean |z|^2, lose more by clipping than they can save.
const leastRadius2 = .1

// leastGain: where less of the trace than this is within the radius, the trace of the clipped rows
// hardly tells their size.
const leastGain = .05

// finalMoments is the last release for rows that are not Gaussian, and assumes nothing of their
// shape: a private radius, clipped moments, and what clipping took from the trace given back in
// proportion.
//
// Source: [TYLERPRESS] Sections 3 and 4.3, moments mode.
// Differs: the radius balances predicted errors over a released histogram of all radii; the source
// bisects for a count of rows beyond it and leaves the clipping bias in.
func (r *run) finalMoments(st *state) (estimate.Outcome, error) {
	return r.finalHeavy(st, false, []string{heavyTail})
}

// finalHeavy spends a part on the radii and the rest on clipped moments, and undoes the clipping:
// for an elliptical law, or as far as any law allows it.
func (r *run) finalHeavy(st *state, elliptical bool, flags []string) (estimate.Outcome, error) {
	root := math.Sqrt(consistency(st.rank(), st.nu))
	h, ok, err := r.countRadii("radius", st, root, math.Sqrt(radiusPart*r.a.Left()), radial.Edges(st.rank()))
	if err != nil {
		return estimate.Outcome{}, err
	}
	if !ok {
		return r.refuse("the preconditioner does not fit float64")
	}
	if h.Beyond(len(h.Edges)-1) > outsideSDs*h.Sigma {
		return r.refuseFar("the rows reach too far for any clipping radius")
	}
	limit := float64(looseMisfit)
	if elliptical {
		limit = ellipticalMisfit
	}
	l, trust := h.Law(limit)
	misfit := looseExcess
	if elliptical {
		misfit = trust*trustedExcess + (1-trust)*freeExcess
	}
	mu := r.a.LeftMu()
	best := bestClipping(r.problem.Relation, l, r.rows, mu, misfit, elliptical)
	if !(best.r2 > 0) {
		return r.refuseFar("the rows reach too far for any clipping radius")
	}
	mean, second, noise, err := r.momentsAt(st, root, math.Sqrt(best.r2), best.lift, mu)
	if err != nil {
		return estimate.Outcome{}, err
	}
	if second == nil {
		return r.refuse("the preconditioner does not fit float64")
	}
	bear := noise
	if trust < strange {
		bear *= strangeNoise
	}
	if !trusted(second, bear) {
		return r.refuseFar("the rows reach so far that the noise of the last release is as large as what it measures")
	}
	delta, cov := l.Proportional(mean, second, best.r2)
	if elliptical {
		delta, cov = l.Elliptical(mean, second, best.r2, leastEigen)
	}
	_, spread := symmetric.FlooredRoot(cov, leastEigen)
	if collapsed(spread) {
		return r.refuse("the noise hides the spread in some directions")
	}
	return r.finish(st, root, delta, spread, noise, flags)
}
