package tyler

import "math"

// pareto is a generalized Pareto tail: count rows have q > from, of which the share (1 + shape
// (x-from)/scale)^(-1/shape) has q > x. Excesses over a high threshold are nearly of this kind for
// every law with a regular tail: a multivariate t has the shape 2/nu, an exponential tail 0, a
// bounded one a negative shape.
type pareto struct{ from, count, shape, scale float64 }

const noShape = 1e-9

// survival returns the share of the tail's rows beyond x >= from.
func (p pareto) survival(x float64) float64 {
	y := (x - p.from) / p.scale
	if math.Abs(p.shape) < noShape {
		return math.Exp(-y)
	}
	return math.Pow(math.Max(0, 1+p.shape*y), -1/p.shape)
}

// excess returns the mean of (q-x)_+ over the tail's rows, x >= from; shape < 1.
func (p pareto) excess(x float64) float64 {
	s := p.survival(x)
	if s == 0 {
		return 0
	}
	return s * (p.scale + p.shape*(x-p.from)) / (1 - p.shape)
}

// quantile returns the x that the share s > 0 of the tail's rows lies beyond.
func (p pareto) quantile(s float64) float64 {
	if math.Abs(p.shape) < noShape {
		return p.from - p.scale*math.Log(s)
	}
	return p.from + p.scale*(math.Pow(s, -p.shape)-1)/p.shape
}

// points returns the tail's rows by strata of geometrically falling shares, each at its mean, with
// the given share of all rows together.
func (p pareto) points(share float64) []RadialPoint {
	const strata, perHalf = 100, 4
	var out []RadialPoint
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
		out = append(out, RadialPoint{mass / (upper - lower), share * (upper - lower)})
		upper = lower
	}
	return out
}

// Where a tail starts, and which shapes are tried; the prior for the shape matters where the noise
// hides the tail. Utility only, guesses.
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
func (h *RadialHistogram) fitTail(i int) pareto {
	from := h.Edges[i]
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

// tailLoss sets p's count to the best one and returns the weighted sum of squares; the variance of
// a bin is that of the noise and of the rows.
func (h *RadialHistogram) tailLoss(i int, p *pareto) float64 {
	total := math.Max(h.Beyond(i), h.Sigma)
	overlap, size, square := 0.0, 0.0, 0.0
	for b, share := range h.shares(i+1, p.survival) {
		w, count := 1/(h.Sigma*h.Sigma+total*share), h.Counts[i+1+b]
		overlap += w * share * count
		size += w * share * share
		square += w * count * count
	}
	if !(size > 0) {
		return math.Inf(1)
	}
	p.count = math.Min(math.Max(0, overlap/size), h.Rows)
	off := (p.shape - shapeExpected) / shapeSpread
	return square - 2*p.count*overlap + p.count*p.count*size + off*off
}

// shares returns those of a law in the bins from the given one on.
func (h *RadialHistogram) shares(from int, survival func(float64) float64) (shares []float64) {
	above := 1.0
	if from > 0 {
		above = survival(h.Edges[from-1])
	}
	for _, e := range h.Edges[from:] {
		next := survival(e)
		shares, above = append(shares, above-next), next
	}
	return append(shares, above)
}

// misfitSlope more of misfit make the free tail e times as credible. A guess.
const misfitSlope = 2

// tailMisfit returns how much more the family's tail above edge i loses than the free one.
func (h *RadialHistogram) tailMisfit(i int, family Pearson, free pareto) float64 {
	loss, total, wrongly := 0.0, math.Max(free.count, h.Sigma), h.shares(i+1, family.Survival)
	for b, share := range h.shares(i+1, free.survival) {
		wrong, right := h.Counts[i+1+b]-h.Rows*wrongly[b], h.Counts[i+1+b]-free.count*share
		loss += (wrong*wrong - right*right) / (h.Sigma*h.Sigma + total*share)
	}
	return loss
}

// bodySDs: a chi-square of the whole histogram this many sds above its expectation makes the family
// as unlikely as not. A guess.
const bodySDs = 5

// bodyTrust returns how far the family describes the whole histogram, in [0, 1].
func (h *RadialHistogram) bodyTrust(family Pearson) float64 {
	bins := float64(len(h.Counts))
	_, chi := h.Losses(family, 0)
	return 1 / (1 + math.Exp((chi-bins)/math.Sqrt(2*bins)-bodySDs))
}
