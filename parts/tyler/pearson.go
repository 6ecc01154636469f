package tyler

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mathext"
)

// Pearson is the law of q = |z|^2 for a spherical law of Pearson's types VII and II in D
// dimensions. Inverse > 0 is a multivariate t with 1/Inverse degrees of freedom, 0 the Gaussian,
// Inverse < 0 a bounded law, q/Scale ~ 2m Beta(D/2, m) with m = -1/(2 Inverse); -1/2 is uniform in
// a ball. Scale has the unit of q: the square of z's.
type Pearson struct {
	D       int
	Inverse float64 // below 1/2, or there is no mean
	Scale   float64
}

// Survival returns P(q > x).
func (p Pearson) Survival(x float64) float64 { return p.tail(x, 0) }

// excess returns E (q-x)_+.
func (p Pearson) excess(x float64) float64 { return p.mean()*p.tail(x, 1) - x*p.Survival(x) }

// tail returns E[q^k; q > x]/E q^k for k = 0, 1.
func (p Pearson) tail(x, k float64) float64 {
	half, y := float64(p.D)/2, x/p.Scale
	switch {
	case p.Inverse == 0:
		return mathext.GammaIncRegComp(half+k, y/2)
	case p.Inverse > 0:
		nu := 1 / p.Inverse
		return mathext.RegIncBeta(nu/2-k, half+k, nu/(nu+y))
	default:
		m := -.5 / p.Inverse
		return mathext.RegIncBeta(m, half+k, math.Max(0, 1-y/(2*m)))
	}
}

// mean returns E q.
func (p Pearson) mean() float64 {
	k := float64(p.D)
	switch {
	case p.Inverse > 0:
		return p.Scale * k / (1 - 2*p.Inverse)
	case p.Inverse < 0:
		return p.Scale * k / (1 - k*p.Inverse)
	}
	return p.Scale * k
}

// Law returns the law by points, at the means between the edges.
func (p Pearson) Law(edges []float64) RadialLaw {
	l := RadialLaw{D: p.D}
	above, below, mean := 1.0, 1.0, p.mean() // P(q > x) and E[q; q > x]/E q at the last edge used
	for _, x := range edges {
		if s, m := p.tail(x, 0), p.tail(x, 1); above-s > 1e-12 {
			l.Points = append(l.Points, RadialPoint{mean * (below - m) / (above - s), above - s})
			above, below = s, m
		}
	}
	if above > 0 {
		l.Points = append(l.Points, RadialPoint{mean * below / above, above})
	}
	return l
}

// The members of the family that are tried. Guesses.
const (
	inverseLeast = -.5
	inverseMost  = .35 // nu = 2.9
	inverseStep  = .025
	inverseFirst = 4 // steps at once at first, then single ones between the neighbours of the best
	// inverseSpread is the sd of a prior that matters where the noise hides the tail.
	inverseSpread = .2
)

// FitPearson returns the nearest member of the family; the last drop bins are left out, and then
// the share of the rows in the others is free.
func (h *RadialHistogram) FitPearson(drop int) Pearson {
	best, least := Pearson{D: h.D, Scale: 1}, math.Inf(1)
	try := func(from, to, by int) {
		for i := from; i <= to; i += by {
			p, loss := h.FitScale(float64(i)*inverseStep, drop)
			if loss += math.Pow(p.Inverse/inverseSpread, 2); loss < least {
				best, least = p, loss
			}
		}
	}
	low, high := int(math.Round(inverseLeast/inverseStep)), int(math.Round(inverseMost/inverseStep))
	try(low, high, inverseFirst)
	at := int(math.Round(best.Inverse / inverseStep))
	try(max(low, at-inverseFirst+1), min(high, at+inverseFirst-1), 1)
	return best
}

// FitScale finds the scale for one shape, by golden sections of its logarithm, and its loss (see
// Losses) without the last drop bins.
func (h *RadialHistogram) FitScale(inverse float64, drop int) (Pearson, float64) {
	at := func(x float64) Pearson { return Pearson{h.D, inverse, math.Exp(x)} }
	loss := func(x float64) float64 {
		l, _ := h.Losses(at(x), drop)
		return l
	}
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

// Losses returns the -2 log of the likelihood of the histogram without its last drop bins, up to a
// constant, noise and rows taken for Gaussian, and the sum of squares in it, which is about a
// chi-square if the law is right.
func (h *RadialHistogram) Losses(p Pearson, drop int) (loss, misfit float64) {
	kept := len(h.Counts) - drop
	inside, rows := 1.0, h.Rows
	if drop > 0 { // the bins' own total, as far as it is possible
		inside = 1 - p.Survival(h.Edges[kept-1])
		rows = math.Min(math.Max(floats.Sum(h.Counts[:kept]), h.Rows/2), h.Rows)
	}
	if !(inside > 0) {
		return math.Inf(1), math.Inf(1)
	}
	for b, share := range h.shares(0, p.Survival)[:kept] {
		want := rows * share / inside
		variance, off := h.Sigma*h.Sigma+want, h.Counts[b]-want
		loss += off*off/variance + math.Log(variance)
		misfit += off * off / variance
	}
	return loss, misfit
}
