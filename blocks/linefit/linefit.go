// Package linefit fits a mixture of Gaussians on a line to noisy histograms of its rows: weighted least squares of the bins' counts by
// Levenberg-Marquardt steps with analytic derivatives, and a deterministic search for the number and the places of the components.
//
// All of it is post-processing of released values. Everything is centred: a component's mean is an offset from an origin near it, so that a
// mean of 1e12 with a standard deviation of 1e-2 loses no digit to the fit.
//
// Source: [AAL21] Section 5 of the restatement (step 5).
// Differs: one fit of all histograms over the whole line, not one per root; components are added where the counts ask for them, and exchanged,
// not drawn at random; so it needs neither random starts nor a division of the components among roots.
package linefit

import (
	"math"
	"slices"

	"github.com/gauze-dp/gauze/blocks/roots"
)

// A Component holds about Rows rows, spread as N(Origin+Offset, SD^2).
type Component struct{ Rows, Origin, Offset, SD float64 }

// Mean is Origin+Offset, rounded.
func (c Component) Mean() float64 { return c.Origin + c.Offset }

// z is where x lies, in standard deviations.
func (c Component) z(x float64) float64 { return ((x - c.Origin) - c.Offset) / c.SD }

// centred is c with an origin near its mean.
func (c Component) centred() Component {
	if m := c.Mean(); math.Abs(c.Offset) > 16*c.SD && m != c.Origin {
		// x - c.Origin is exact near the origin, and m is a number: what is left is the rounding of m.
		c.Offset -= m - c.Origin
		c.Origin = m
	}
	return c
}

// Data are histograms of the same rows, ready to be fitted.
type Data struct {
	sets   []set
	count  []float64 // of the bins of all sets, one set after another
	noise2 []float64 // variance of their noise
	share  []float64 // of what the rows' own chance is worth, that the bin's set has: see New
	weight []float64 // one over the variance of count minus its expectation
	sd     float64   // of all components, if it is known; else 0
}

// A set is one histogram: its edges, and where its bins begin.
type set struct {
	edges []float64
	first int
}

// New prepares histograms of the same rows. If sd is positive, all components have it.
//
// The rows' own chance is in all histograms: were the bins the same, the best estimate of their counts would have precision 1/(s + S),
// S = 1/sum(1/sigma_i^2), for chance of variance s. Giving histogram i the variance sigma_i^2 + s/share_i with share_i = S/sigma_i^2 comes to
// the same, and bins of different histograms need no common refinement.
func New(histograms []roots.Histogram, sd float64) *Data {
	d := &Data{sd: sd}
	precision := 0.0
	for _, h := range histograms {
		precision += 1 / (h.Sigma * h.Sigma)
	}
	for _, h := range histograms {
		d.sets = append(d.sets, set{h.Edges, len(d.count)})
		d.count = append(d.count, h.Counts...)
		share := 1 / (h.Sigma * h.Sigma) / precision
		for b := range h.Counts {
			d.noise2 = append(d.noise2, h.Variance(b))
			d.share = append(d.share, share)
		}
	}
	d.weight = make([]float64, len(d.count))
	d.weigh(d.count)
	return d
}

// weigh sets the weights for counts expected to be those.
func (d *Data) weigh(expected []float64) {
	for b, e := range expected {
		d.weight[b] = 1 / (d.noise2[b] + math.Max(e, 1)/d.share[b])
	}
}

// Weigh sets the weights for counts as the components have them; New sets them for the counts themselves.
func (d *Data) Weigh(cs []Component) { d.weigh(d.Expected(cs)) }

// Expected are the counts that the components have in all bins.
func (d *Data) Expected(cs []Component) []float64 {
	out := make([]float64, len(d.count))
	var t terms
	for _, c := range cs {
		d.fill(&t, c)
		t.addTo(out, c.Rows)
	}
	return out
}

// Cost is the sum of squared residuals over their variances.
func (d *Data) Cost(cs []Component) float64 { return d.costOf(d.Expected(cs)) }

func (d *Data) costOf(expected []float64) (cost float64) {
	for b, e := range expected {
		r := d.count[b] - e
		cost += r * r * d.weight[b]
	}
	return cost
}

// terms are the probabilities that a component has in the bins, and their derivatives by its offset in sds and by the log of its sd. Bins in
// no span have none.
type terms struct {
	spans      []span
	p, dm, ds  []float64 // of the spans' bins, one span after another
	previousID int
}

// A span is a run of bins [from, to) of one set; its terms begin at `at`.
type span struct{ from, to, at int }

// reach is how far out, in sds, a component has rows.
const reach = 8.5

// fill computes the terms of c.
func (d *Data) fill(t *terms, c Component) {
	t.spans, t.p, t.dm, t.ds = t.spans[:0], t.p[:0], t.dm[:0], t.ds[:0]
	for _, s := range d.sets {
		n := len(s.edges)
		low := lowerBound(s.edges, c, -reach)
		high := lowerBound(s.edges, c, reach)
		sp := span{from: s.first + low, to: s.first + high + 1, at: len(t.p)}
		cdf, pdf, zpdf := 0.0, 0.0, 0.0
		for b := low; b <= high; b++ {
			cdf1, pdf1, zpdf1 := 1.0, 0.0, 0.0
			if b < n && b < high {
				z := c.z(s.edges[b])
				cdf1 = math.Erfc(-z/math.Sqrt2) / 2
				pdf1 = math.Exp(-z*z/2) * (1 / (math.Sqrt2 * math.SqrtPi))
				zpdf1 = z * pdf1
			}
			t.p = append(t.p, cdf1-cdf)
			t.dm = append(t.dm, pdf-pdf1)
			t.ds = append(t.ds, zpdf-zpdf1)
			cdf, pdf, zpdf = cdf1, pdf1, zpdf1
		}
		t.spans = append(t.spans, sp)
	}
}

// lowerBound is the first edge at or beyond z standard deviations of c.
func lowerBound(edges []float64, c Component, z float64) int {
	lo, hi := 0, len(edges)
	for lo < hi {
		if mid := (lo + hi) / 2; c.z(edges[mid]) < z {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

func (t *terms) addTo(expected []float64, rows float64) {
	for _, s := range t.spans {
		own := expected[s.from:s.to]
		for i, p := range t.p[s.at : s.at+len(own)] {
			own[i] += rows * p
		}
	}
}

// floor is the least standard deviation of a component at c: what its bin, in the finest histogram there, can still tell from a point.
func (d *Data) floor(c Component) float64 {
	low, high := d.Bin(c)
	if math.IsInf(low, 0) || math.IsInf(high, 0) {
		return 0
	}
	return floorOfBin * (high - low)
}

// Utility constants: of the width of a bin.
const (
	floorOfBin  = .15
	resolvedBin = .45
)

// Resolved reports whether some histogram has bins narrow enough for the component's spread to be seen.
func (d *Data) Resolved(c Component) bool { return c.SD > resolvedBin/floorOfBin*d.floor(c) }

// Bin is the narrowest bin with the component's mean; it may be unbounded.
func (d *Data) Bin(c Component) (low, high float64) {
	low, high = math.Inf(-1), math.Inf(1)
	for _, s := range d.sets {
		if b := lowerBound(s.edges, c, 0); b > 0 && b < len(s.edges) && s.edges[b]-s.edges[b-1] < high-low {
			low, high = s.edges[b-1], s.edges[b]
		}
	}
	return low, high
}

// Bins is the number of bins of all histograms.
func (d *Data) Bins() int { return len(d.count) }

// clone is for searches that keep what they have.
func clone(cs []Component) []Component { return slices.Clone(cs) }
