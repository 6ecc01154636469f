package paper

import (
	"math"
	"slices"
)

// Constants that only utility and time depend on: how well masses are computed.
const (
	massPoints  = 1 << 19 // points over all Gaussians, in two dimensions and more
	massChecks  = 1 << 30 // points times sets
	leastPoints = 32      // of one Gaussian
	mostPoints  = 4000
	// of one Gaussian in one dimension, where masses are exact but for sets that change twice
	// between two of them
	linePoints = 64
	reach      = 8 // standard deviations beyond which a Gaussian on the line has no mass
)

// cut is the logarithm of the density, relative to the largest, from which on kernel/query takes it
// for 0.
const cut = -25

// A blend computes the densities of the mixtures that make sets as kernel/query does.
type blend struct {
	gaussians []Gaussian
	terms     [][]term // of each mixture
	sets      [][2]int // pairs of entries of terms
	logs      []float64
	mixed     []float64
}

type term struct {
	gaussian int // an entry of blend.gaussians
	share    float64
}

func (l *List) blend(sets [][2]int) *blend {
	b := &blend{sets: make([][2]int, len(sets))}
	place, mixture := map[int]int{}, map[int]int{}
	for j, pair := range sets {
		for side, i := range pair {
			if _, ok := mixture[i]; !ok {
				mixture[i] = len(b.terms)
				b.terms = append(b.terms, nil)
				index, share := l.Terms(i)
				for t, g := range index {
					if _, ok := place[g]; !ok {
						place[g] = len(b.gaussians)
						b.gaussians = append(b.gaussians, l.Gaussians[g])
					}
					b.terms[mixture[i]] = append(b.terms[mixture[i]], term{place[g], share[t]})
				}
			}
			b.sets[j][side] = mixture[i]
		}
	}
	b.logs, b.mixed = make([]float64, len(b.gaussians)), make([]float64, len(b.terms))
	return b
}

// at fills mixed with the densities of the mixtures at x, relative to the largest of a Gaussian.
func (b *blend) at(x []float64) {
	best := math.Inf(-1)
	for i, g := range b.gaussians {
		b.logs[i] = g.logDensity(x)
		if b.logs[i] > best {
			best = b.logs[i]
		}
	}
	for i, l := range b.logs {
		b.logs[i] = 0
		if l -= best; l > cut {
			b.logs[i] = math.Exp(l)
		}
	}
	for i, terms := range b.terms {
		b.mixed[i] = 0
		for _, t := range terms {
			b.mixed[i] += t.share * b.logs[t.gaussian]
		}
	}
}

// masses returns those of every Gaussian of the list in every set: shares of points that fill the
// Gaussian evenly, the same at every run, or, on the line, of the intervals that the sets consist
// of.
func (l *List) masses(sets [][2]int) [][]float64 {
	mass := make([][]float64, len(l.Gaussians))
	for g := range mass {
		mass[g] = make([]float64, len(sets))
	}
	b := l.blend(sets)
	if len(l.Gaussians[0].Mean) == 1 {
		l.lineMasses(b, mass)
		return mass
	}
	n := max(leastPoints, min(mostPoints, massPoints/len(l.Gaussians), massChecks/len(sets)/len(l.Gaussians)))
	points := evenPoints(n, len(l.Gaussians[0].Mean))
	for i, g := range l.Gaussians {
		held := make([]int, len(sets))
		for _, z := range points {
			b.at(g.at(z))
			for j, pair := range b.sets {
				one := 0
				if b.mixed[pair[0]] > b.mixed[pair[1]] { // without a branch: which side is larger is hard to predict
					one = 1
				}
				held[j] += one
			}
		}
		for j, h := range held {
			mass[i][j] = float64(h) / float64(n)
		}
	}
	return mass
}

// lineMasses finds where each set begins and ends: between points of a grid that fills every
// Gaussian of the sets, then by bisection.
func (l *List) lineMasses(b *blend, mass [][]float64) {
	var grid []float64
	for _, g := range b.gaussians {
		for i := range linePoints {
			grid = append(grid, g.Mean[0]+g.L.At(0, 0)*normalQuantile((float64(i)+.5)/linePoints))
		}
		grid = append(grid, g.Mean[0]-reach*g.L.At(0, 0), g.Mean[0]+reach*g.L.At(0, 0))
	}
	slices.Sort(grid)
	density := make([][]float64, len(b.terms)) // of a mixture, along the grid
	for _, x := range grid {
		b.at([]float64{x})
		for i, v := range b.mixed {
			density[i] = append(density[i], v)
		}
	}
	for j, pair := range b.sets {
		f, g := density[pair[0]], density[pair[1]]
		var ends []float64 // where the set begins, ends, begins, ..
		if f[0] > g[0] {
			ends = append(ends, math.Inf(-1))
		}
		for i := 1; i < len(grid); i++ {
			if up := f[i] > g[i]; up != (f[i-1] > g[i-1]) {
				ends = append(ends, b.crossing(pair, grid[i-1], grid[i], up))
			}
		}
		if len(ends)%2 == 1 {
			ends = append(ends, math.Inf(1))
		}
		for i, g := range l.Gaussians {
			m, s, p := g.Mean[0], g.L.At(0, 0)*math.Sqrt2, 0.0
			for e := 0; e < len(ends); e += 2 {
				p += (math.Erf((ends[e+1]-m)/s) - math.Erf((ends[e]-m)/s)) / 2
			}
			if p > 0 { // not for NaN, which the ends of float64's range can give
				mass[i][j] = math.Min(1, p)
			}
		}
	}
}

// crossing returns where, between low and high, the difference of the two densities changes its
// sign: it becomes positive if up.
func (b *blend) crossing(pair [2]int, low, high float64, up bool) float64 {
	for range 60 {
		x := low + (high-low)/2
		if b.larger(pair, x) == up {
			high = x
		} else {
			low = x
		}
	}
	return low + (high-low)/2
}

// larger reports whether the first mixture of the pair has the larger density at x, by their own
// Gaussians alone.
func (b *blend) larger(pair [2]int, x float64) bool {
	at, best := [1]float64{x}, math.Inf(-1)
	for _, i := range pair {
		for _, t := range b.terms[i] {
			b.logs[t.gaussian] = b.gaussians[t.gaussian].logDensity(at[:])
			best = math.Max(best, b.logs[t.gaussian])
		}
	}
	var f [2]float64
	for side, i := range pair {
		for _, t := range b.terms[i] {
			f[side] += t.share * math.Exp(b.logs[t.gaussian]-best)
		}
	}
	return f[0] > f[1]
}

// normalQuantile returns the p-quantile of N(0, 1).
func normalQuantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }

// evenPoints returns n points whose distribution is close to N(0, I) in d dimensions: Halton's,
// through the quantiles.
func evenPoints(n, d int) [][]float64 {
	points := make([][]float64, n)
	for i := range points {
		for _, base := range primes(d) {
			points[i] = append(points[i], normalQuantile(radicalInverse(i+1, base)))
		}
	}
	return points
}

// radicalInverse writes i in the base and mirrors the digits at the point: Halton's sequence.
func radicalInverse(i, base int) float64 {
	v, f := 0.0, 1.0
	for ; i > 0; i /= base {
		f /= float64(base)
		v += f * float64(i%base)
	}
	return v
}

func primes(n int) (p []int) {
	for v := 2; len(p) < n; v++ {
		if !slices.ContainsFunc(p, func(q int) bool { return v%q == 0 }) {
			p = append(p, v)
		}
	}
	return p
}
