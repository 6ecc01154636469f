package pearson

import (
	"math"

	"github.com/gauze-dp/gauze/dense"
)

// literalStep is h: how far the other directions are from the first.
const literalStep = .3

// literalStarts is the number of directions u0 that are tried.
const literalStarts = 20

// literal returns the source's own way to all columns, from each of the clearest directions; the
// likeliest result is kept.
//
// Source: [KMV10] the algorithm in n dimensions; [PPE] Section C3 of the restatement.
// Differs: several u0, of which the likelihood chooses.
func literal(t table, us [][]float64) ([]gauss, bool) {
	var best []gauss
	value := math.Inf(-1)
	sights := clearest(t, us)
	for _, first := range sights[:min(len(sights), literalStarts)] {
		if m, ok := literalFrom(t, first); ok {
			if v := likelihood(t, m); v > value {
				best, value = m, v
			}
		}
	}
	return best, best != nil
}

// literalFrom solves for univariate mixtures along u0 and along u0 +- h (e_i + e_j), matches their
// components to those along u0 by the nearest (mean, variance), and finds mu and Sigma from <u, mu>
// and u^T Sigma u by least squares.
//
// Source: [KMV10] the algorithm in n dimensions; [PPE] Section C3 of the restatement.
// Differs: both signs of h, and as many equations as there are directions.
func literalFrom(t table, first sight) ([]gauss, bool) {
	d := t.d
	views := []sight{first}
	for i := range d {
		for j := range i + 1 {
			for _, h := range []float64{literalStep, -literalStep} {
				u := append([]float64(nil), first.u...)
				u[i] += h
				u[j] += h
				if line, ok := nearest(t.project(u).moments(), first.line); ok {
					views = append(views, sight{u: u, line: line})
				}
			}
		}
	}
	return assemble(views, d)
}

// nearest returns the mixture with these moments whose components, in some order, are nearest to
// those of a line; in that order.
func nearest(m moments, line []gauss) ([]gauss, bool) {
	lines, _ := m.candidates()
	var best []gauss
	least := math.Inf(1)
	for _, l := range lines {
		for _, order := range [][]gauss{{l[0], l[1]}, {l[1], l[0]}} {
			if v := distance(order, line); v < least {
				best, least = order, v
			}
		}
	}
	return best, best != nil
}

// distance of matched components on a line, by means and standard deviations.
func distance(a, b []gauss) float64 {
	s := 0.0
	for i, g := range a {
		m, v := g.mean[0]-b[i].mean[0], g.root[0]*g.root[0]-b[i].root[0]*b[i].root[0]
		s += m*m + v*v
	}
	return s
}

// assemble solves <u, mu> = m and u^T Sigma u = v over the views, by least squares, for every
// component. Weights are the views' mean.
func assemble(views []sight, d int) ([]gauss, bool) {
	linear, quadratic := make([]float64, 0, len(views)*d), make([]float64, 0, len(views)*d*(d+1)/2)
	for _, s := range views {
		linear = append(linear, s.u...)
		for i := range d {
			for j := range i + 1 {
				v := s.u[i] * s.u[j]
				if i != j {
					v *= 2
				}
				quadratic = append(quadratic, v)
			}
		}
	}
	out := make([]gauss, len(views[0].line))
	for a := range out {
		means, variances := make([]float64, len(views)), make([]float64, len(views))
		for i, s := range views {
			g := s.line[a]
			means[i], variances[i] = g.mean[0], g.root[0]*g.root[0]
			out[a].weight += g.weight / float64(len(views))
		}
		mean, ok := leastSquares(linear, means, len(views), d)
		if !ok {
			return nil, false
		}
		triangle, ok := leastSquares(quadratic, variances, len(views), d*(d+1)/2)
		if !ok {
			return nil, false
		}
		s, at := make([]float64, d*d), 0
		for i := range d {
			for j := range i + 1 {
				s[i*d+j], s[j*d+i] = triangle[at], triangle[at]
				at++
			}
		}
		root, ok := positive(s, d)
		if !ok || math.IsNaN(dense.Norm(mean)) {
			return nil, false
		}
		out[a].mean, out[a].root = mean, root
	}
	return out, true
}
