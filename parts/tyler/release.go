package tyler

import (
	"math"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/component"
)

// CountRadii releases the histogram of |z|^2 between edges, z the image of a row under frame. All
// bins together cost mu: a row is in one of them. rows is public or released.
//
// Source: [TYLERPRESS] Section 3, private radius.
// Differs: one histogram in place of a bisection. It costs no more and shows the whole law: also
// what clipping cuts off.
func CountRadii(a *kernel.SubBudget, step string, frame query.Affine, mu float64, edges []float64, rows float64) (*RadialHistogram, error) {
	answer, err := a.Sum(step, query.Counts{Map: frame, Edges: [][]float64{parts.Map(edges, math.Sqrt)}}, mu)
	return &RadialHistogram{D: frame.Out(), Edges: edges, Counts: answer.Values, Sigma: answer.Sigma, Rows: rows}, err
}

// The least that a clipping radius must leave. Guesses.
const (
	// leastRadius2: smaller radii, in mean |z|^2, lose more by clipping than they can save.
	leastRadius2 = .1
	// leastGain: where less of the trace than this is within the radius, the trace of the clipped
	// rows hardly tells their size.
	leastGain = .05
)

// Clipping balances noise against what clipping hides, for rows in rounded coordinates whose radii
// follow the law. misfit is how wrong the law's word on that may be; undo says that the effect of
// clipping on the shape will be undone.
func (l RadialLaw) Clipping(rel privacy.Relation, rows, mu, misfit float64, undo bool) component.ClippingRadius {
	k, size := float64(l.D), l.Mean()/float64(l.D)
	return component.CheapestRadius(l.D, RadialEdges(l.D), func(r2, lift float64) (cov, mean float64) {
		c, slope := l.Clip(r2), size
		if undo {
			slope = c.B1
		}
		if r2 < leastRadius2*size*k || !(slope > 0 && c.A1 > 0 && c.Gain > leastGain*size) {
			return math.NaN(), math.NaN()
		}
		sg2 := component.ClippedNoise2(rel, rows, mu, r2, lift)
		cov = (k*(k+1)/2-1)*(2*c.V/rows+sg2)/(slope*slope) + (c.VM/rows+sg2)/(size*size) + misfit*c.Excess*c.Excess/k/(size*size)
		return cov, k * (c.A/rows + sg2/(2*lift*r2)) / (c.A1 * c.A1 * size)
	})
}
