package single

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// pearson is the law of q = |z|^2 for a spherical law of Pearson's types VII and II in d dimensions. inverse > 0 is a multivariate t with
// 1/inverse degrees of freedom, 0 the Gaussian, inverse < 0 a bounded law, q/scale ~ 2m Beta(d/2, m) with m = -1/(2 inverse); -1/2 is
// uniform in a ball.
type pearson struct {
	d       int
	inverse float64
	scale   float64
}

// survival is P(q > x).
func (p pearson) survival(x float64) float64 { return p.tail(x, 0) }

// excess is E (q-x)_+.
func (p pearson) excess(x float64) float64 { return p.mean()*p.tail(x, 1) - x*p.survival(x) }

// tail is E[q^k; q > x]/E q^k for k = 0, 1.
func (p pearson) tail(x, k float64) float64 {
	half, y := float64(p.d)/2, x/p.scale
	switch {
	case p.inverse == 0:
		return mathext.GammaIncRegComp(half+k, y/2)
	case p.inverse > 0:
		nu := 1 / p.inverse
		return mathext.RegIncBeta(nu/2-k, half+k, nu/(nu+y))
	default:
		m := -.5 / p.inverse
		return mathext.RegIncBeta(m, half+k, math.Max(0, 1-y/(2*m)))
	}
}

// mean is E q.
func (p pearson) mean() float64 {
	k := float64(p.d)
	switch {
	case p.inverse > 0:
		return p.scale * k / (1 - 2*p.inverse)
	case p.inverse < 0:
		return p.scale * k / (1 - k*p.inverse)
	}
	return p.scale * k
}

// law is the law by points, at the means between the edges.
func (p pearson) law(edges []float64) law {
	l := law{d: p.d}
	above, below := 1.0, 0.0 // P(q > x) and E[q; q > x]/E q at the last edge used
	mean := p.mean()
	below = 1
	for _, x := range edges {
		if s, m := p.tail(x, 0), p.tail(x, 1); above-s > 1e-12 {
			l.points = append(l.points, radius2{mean * (below - m) / (above - s), above - s})
			above, below = s, m
		}
	}
	if above > 0 {
		l.points = append(l.points, radius2{mean * below / above, above})
	}
	return l
}

// What members of the family are tried.
const (
	inverseLeast = -.5
	inverseMost  = .35 // nu = 2.9
	inverseStep  = .025
	// inverseSpread is the sd of a prior that matters where the noise hides the tail.
	inverseSpread = .2
)

// fitPearson is the nearest member of the family; the last drop bins are left out, and then the share of the rows in the others is free.
func (h *radial) fitPearson(drop int) pearson {
	best, least := pearson{d: h.d, scale: 1}, math.Inf(1)
	for i := int(math.Round(inverseLeast / inverseStep)); i <= int(math.Round(inverseMost/inverseStep)); i++ {
		p, loss := h.fitScale(float64(i)*inverseStep, drop)
		if loss += math.Pow(p.inverse/inverseSpread, 2); loss < least {
			best, least = p, loss
		}
	}
	return best
}

// fitScale finds the scale for one shape, by golden sections of its logarithm.
func (h *radial) fitScale(inverse float64, drop int) (pearson, float64) {
	at := func(x float64) pearson { return pearson{d: h.d, inverse: inverse, scale: math.Exp(x)} }
	loss := func(x float64) float64 { return h.loss(at(x), drop) }
	const golden, coarse = .6180339887498949, .25
	center, least := 0.0, math.Inf(1)
	for x := -3.; x <= 6; x += coarse {
		if l := loss(x); l < least {
			center, least = x, l
		}
	}
	lo, hi := center-coarse, center+coarse
	a, b := hi-golden*(hi-lo), lo+golden*(hi-lo)
	atA, atB := loss(a), loss(b)
	for range 14 {
		if atA < atB {
			hi, b, atB = b, a, atA
			a = hi - golden*(hi-lo)
			atA = loss(a)
		} else {
			lo, a, atA = a, b, atB
			b = lo + golden*(hi-lo)
			atB = loss(b)
		}
	}
	return at((lo + hi) / 2), math.Min(atA, atB)
}

// loss is the first of losses.
func (h *radial) loss(p pearson, drop int) float64 {
	loss, _ := h.losses(p, drop)
	return loss
}

// losses are -2 log of the likelihood of the histogram without its last drop bins, up to a constant, noise and rows taken for Gaussian,
// and the sum of squares in it, which is about a chi-square if the law is right.
func (h *radial) losses(p pearson, drop int) (loss, misfit float64) {
	kept := len(h.counts) - drop
	inside, rows := 1.0, h.rows
	if drop > 0 { // the bins' own total, as far as it is possible
		inside = 1 - p.survival(h.edges[kept-1])
		total := 0.0
		for _, c := range h.counts[:kept] {
			total += c
		}
		rows = math.Min(math.Max(total, h.rows/2), h.rows)
	}
	if !(inside > 0) {
		return math.Inf(1), math.Inf(1)
	}
	sum, above := 0.0, 1.0
	for b, c := range h.counts[:kept] {
		next := h.above(b, p.survival)
		want := rows * (above - next) / inside
		above = next
		variance := h.sigma*h.sigma + want
		sum += (c-want)*(c-want)/variance + math.Log(variance)
		misfit += (c - want) * (c - want) / variance
	}
	return sum, misfit
}
