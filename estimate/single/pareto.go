package single

import "math"

// pareto is a generalized Pareto tail: count rows have q > from, of which the share (1 + shape (x-from)/scale)^(-1/shape) has q > x.
// Excesses over a high threshold are nearly of this kind for every law with a regular tail: a multivariate t has the shape 2/nu, an
// exponential tail 0, a bounded one a negative shape.
type pareto struct{ from, count, shape, scale float64 }

const noShape = 1e-9

// survival is the share of the tail's rows beyond x >= from.
func (p pareto) survival(x float64) float64 {
	y := (x - p.from) / p.scale
	if math.Abs(p.shape) < noShape {
		return math.Exp(-y)
	}
	return math.Pow(math.Max(0, 1+p.shape*y), -1/p.shape)
}

// excess is the mean of (q-x)_+ over the tail's rows, x >= from; shape < 1.
func (p pareto) excess(x float64) float64 {
	s := p.survival(x)
	if s == 0 {
		return 0
	}
	return s * (p.scale + p.shape*(x-p.from)) / (1 - p.shape)
}

// quantile is the x that the share s > 0 of the tail's rows lies beyond.
func (p pareto) quantile(s float64) float64 {
	if math.Abs(p.shape) < noShape {
		return p.from - p.scale*math.Log(s)
	}
	return p.from + p.scale*(math.Pow(s, -p.shape)-1)/p.shape
}

// points are the tail's rows by strata of geometrically falling shares, each at its mean, with the given share of all rows together.
func (p pareto) points(share float64) []radius2 {
	const strata, perHalf = 100, 4
	var out []radius2
	upper := 1.0
	for k := range strata {
		lower := math.Exp2(-float64(k+1) / perHalf)
		a := p.quantile(upper)
		mass := p.excess(a) + upper*a
		if k == strata-1 {
			lower = 0
		} else {
			b := p.quantile(lower)
			mass -= p.excess(b) + lower*b
		}
		out = append(out, radius2{mass / (upper - lower), share * (upper - lower)})
		upper = lower
	}
	return out
}

// Where a tail starts, and which shapes are tried; the prior for the shape matters where the noise hides the tail. Utility only.
const (
	tailStart     = .1 // of the rows
	tailStartSDs  = 10 // or as many noise sds of a bin
	shapeLeast    = -.5
	shapeMost     = .7
	shapeStep     = .05
	shapeExpected = .2
	shapeSpread   = .25
)

// fitTail fits the bins above edge i by weighted least squares.
func (h *radial) fitTail(i int) pareto {
	from := h.edges[i]
	best, least := pareto{from: from, scale: from}, math.Inf(1)
	for shape := shapeLeast; shape <= shapeMost+noShape; shape += shapeStep {
		for scale := from / 50; scale < 50*from; scale *= 1.1 {
			p := pareto{from: from, shape: shape, scale: scale}
			if loss := h.tailLoss(i, &p); loss < least {
				best, least = p, loss
			}
		}
	}
	return best
}

// tailLoss sets p's count to the best one and returns the weighted sum of squares; the variance of a bin is that of the noise and of
// the rows.
func (h *radial) tailLoss(i int, p *pareto) float64 {
	total := math.Max(h.beyond(i), h.sigma)
	overlap, size, square, above := 0.0, 0.0, 0.0, 1.0
	for b := i + 1; b < len(h.counts); b++ {
		next := h.above(b, p.survival)
		share := above - next
		above = next
		w := 1 / (h.sigma*h.sigma + total*share)
		overlap += w * share * h.counts[b]
		size += w * share * share
		square += w * h.counts[b] * h.counts[b]
	}
	if !(size > 0) {
		return math.Inf(1)
	}
	p.count = math.Min(math.Max(0, overlap/size), h.rows)
	off := (p.shape - shapeExpected) / shapeSpread
	return square - 2*p.count*overlap + p.count*p.count*size + off*off
}

// above is the share of a law beyond bin b.
func (h *radial) above(b int, survival func(float64) float64) float64 {
	if b == len(h.edges) {
		return 0
	}
	return survival(h.edges[b])
}

// How much better a free tail must fit than the Pearson family's before it is believed as much, if nothing is assumed and if the law is taken
// for elliptical; misfitSlope more make it e times as credible. The free tail has three parameters of its own.
const (
	looseMisfit      = 4
	ellipticalMisfit = 8
	misfitSlope      = 2
)

// tailMisfit is how much more the family's tail above edge i loses than the free one.
func (h *radial) tailMisfit(i int, family pearson, free pareto) float64 {
	loss, aboveFamily, aboveFree := 0.0, family.survival(h.edges[i]), 1.0
	total := math.Max(free.count, h.sigma)
	for b := i + 1; b < len(h.counts); b++ {
		nextFamily, nextFree := h.above(b, family.survival), h.above(b, free.survival)
		share := aboveFree - nextFree
		wrong, right := h.counts[b]-h.rows*(aboveFamily-nextFamily), h.counts[b]-free.count*share
		loss += (wrong*wrong - right*right) / (h.sigma*h.sigma + total*share)
		aboveFamily, aboveFree = nextFamily, nextFree
	}
	return loss
}

// bodySDs: a chi-square of the whole histogram this many sds above its expectation makes the family as unlikely as not.
const bodySDs = 5

// bodyTrust is how far the family describes the whole histogram, in [0, 1].
func (h *radial) bodyTrust(family pearson) float64 {
	chi, above, bins := 0.0, 1.0, float64(len(h.counts))
	for b, c := range h.counts {
		next := h.above(b, family.survival)
		want := h.rows * (above - next)
		above = next
		chi += (c - want) * (c - want) / (h.sigma*h.sigma + want)
	}
	return 1 / (1 + math.Exp((chi-bins)/math.Sqrt(2*bins)-bodySDs))
}
