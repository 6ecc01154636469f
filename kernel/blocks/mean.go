package blocks

import (
	"math"
	"slices"

	"github.com/gauze-dp/gauze/dense"
)

// Mean returns the weighted mean of the core (see Rules), component by component: frame are the
// components of one of its estimates, with lower triangular roots, and means[a] is a symmetric
// positive definite X, D x D, that stands for the lifted matrix L X L', L the lifted factor of
// frame[a] (sqrt(Weight) [[Root, Mean], [0, 1]]). Apart from their order, the components and
// matrices do not depend on whose frame it is.
//
// ok is false if H() < Pass; never otherwise, see Rules.
//
// Source: [PPE] Section B4 of the restatement.
// Differs: each component has a frame of its own, and the way into it is computed with 160 bits.
func (a *agreement) Mean() (frame []Component, means [][]float64, ok bool) {
	if a.H() < a.rules.Pass {
		return nil, nil, false
	}
	anchor := slices.Index(a.popular, slices.Max(a.popular))
	total := 0.0
	for _, q := range a.popular {
		total += a.rules.weight(q)
	}
	k, d := a.rules.Components, a.rules.Columns
	// of each component, the transposed lifted factors of the core's estimates in the anchor's
	// frame
	points := make([][][]float64, k)
	var shares []float64
	p := newPair(k, d)
	for i, q := range a.popular {
		if q < a.rules.Core {
			continue
		}
		labels := a.labels(anchor, i, p)
		if labels == nil {
			return nil, nil, false
		}
		shares = append(shares, a.rules.weight(q)/total)
		for c, other := range labels {
			points[c] = append(points[c], relativeExactly(&a.estimates[anchor].parts[c], &a.estimates[i].parts[other], d))
		}
	}
	for c, f := range a.estimates[anchor].parts {
		frame = append(frame, Component{Weight: f.weight, Mean: f.mean, Root: f.root})
		mean, certain := karcher(points[c], shares, d+1)
		if !certain {
			return nil, nil, false
		}
		means = append(means, mean)
	}
	return frame, means, true
}

// weight returns an estimate's weight in the mean, not normalised.
func (r Rules) weight(q int) float64 {
	return min(1, max(0, float64(q-r.Core+1)/float64(r.Pass-r.Core)))
}

// labels returns, for each component of i, the component of j that belongs to it, through any
// common friend if they are no friends; nil if there is none.
func (a *agreement) labels(i, j int, p *pair) []int {
	t := a.rules.Estimates
	if a.friends[i*t+j] {
		return a.matched(i, j, p)
	}
	for by := range t {
		if !a.friends[i*t+by] || !a.friends[by*t+j] {
			continue
		}
		out, second := a.matched(i, by, p), a.matched(by, j, p)
		for c, middle := range out {
			out[c] = second[middle]
		}
		return out
	}
	return nil
}

// matched returns the labels of friends.
func (a *agreement) matched(i, j int, p *pair) []int {
	out := make([]int, a.rules.Components)
	a.limits.friends(&a.estimates[min(i, j)], &a.estimates[max(i, j)], p) // in the same order as in compare
	for c, other := range p.labels {
		if i < j {
			out[c] = other
		} else {
			out[other] = c
		}
	}
	return out
}

// The end of karcher's iteration, and its guarantee.
const (
	smallGradient  = 1e-9
	mostGradient   = 1e-8
	mostIterations = 1000
)

// karcher returns the mean X of the matrices C_i = B_i B_i', given B_i' and weights that sum to 1:
// argmin f, f(X) = sum of w_i d(X, C_i)^2/2 for d(X, C) = (sum of log^2 of the eigenvalues of X^-1
// C)^(1/2). Any two C_i are within R = 2 MaxRadius of one another, and one of them is I.
//
// X = F F' moves to F exp(s G) F', G = sum of w_i log(F^-1 C_i F^-T): the geodesic of length s|G|
// against the gradient of f, whose norm is |G|.
//   - Certificate. f is 1-strongly convex along geodesics, so X is within |G| of the mean: within 2
//     mostGradient, as rounding moves the computed G by far less than mostGradient.
//   - Convergence. The curvature lies in [-1/2, 0], so the Hessian of f at Y lies between 1 and
//     L(Y) = x coth x, x = max d(Y, C_i)/sqrt 2, which grows by at most 1 per unit of x. On the way
//     x grows by at most s|G|/sqrt 2. With s such that s(1 + L + s|G|/sqrt 2) = 2, the Hessian on
//     the way lies in [1, 2/s - 1], and the gradient at the end, carried back in parallel, is (1 -
//     s H) times that at the start for an average H of them: |G| shrinks to 1-s of itself or less.
//     It starts at R or less, as X = I = C_i. The mean lies within R of every C_i, in the convex
//     balls about them, and X within |G| of the mean, so that x <= 2R/sqrt 2 at all times: with R =
//     12, L <= 17, |G|/sqrt 2 <= 8.5, s > .1, and |G| <= 1e-9 after 23.3/.11 < 220 steps. Rounding
//     in G of size e leaves |G| below 2e/s + e. The iteration ends well below its cap.
//
// Source: [PPE] Section B4 of the restatement.
// Differs: the step, 2/(1+L) in the limit, takes account of how L grows along it, which is what the
// convergence is proved with.
func karcher(factors [][]float64, weights []float64, n int) (mean []float64, ok bool) {
	f, norms, gradient := make([]float64, n*n), make([]float64, n), math.Inf(1) // f is F'
	for i := range n {
		f[i*n+i] = 1
	}
	for range mostIterations {
		inverse, ok := dense.Invert(f, n)
		if !ok {
			return nil, false
		}
		g, farthest := make([]float64, n*n), 0.0
		for i, b := range factors {
			w := dense.Mul(b, inverse, n, n, n)
			dense.Orthogonalize(w, n, norms)
			farthest = max(farthest, addLog(g, w, norms, weights[i], n))
		}
		gradient = math.Sqrt(dense.Dot(g, g))
		if !(gradient > smallGradient) {
			break
		}
		x := max(1e-9, math.Sqrt(farthest/2))
		l := 1 + x/math.Tanh(x) // 1 + L
		step := 4 / (l + math.Sqrt(l*l+8*gradient/math.Sqrt2))
		f = dense.Mul(exp(g, step/2, n), f, n, n, n)
	}
	mean = make([]float64, n*n)
	for i := range n * n {
		for r := 0; r < n*n; r += n {
			mean[i] += f[r+i/n] * f[r+i%n]
		}
	}
	return mean, gradient <= mostGradient
}

// addLog adds weight times log(w'w) to g, where w has orthogonal rows of the given norms, and
// returns the squared norm of the logarithm.
func addLog(g, w, norms []float64, weight float64, n int) float64 {
	total := 0.0
	for r, norm := range norms {
		log := 2 * math.Log(norm)
		total += log * log
		row, f := w[r*n:r*n+n], weight*log/(norm*norm)
		for i, x := range row {
			for j, y := range row {
				g[i*n+j] += f * x * y
			}
		}
	}
	return total
}

// exp returns the exponential of s g.
func exp(g []float64, s float64, n int) []float64 {
	values, vectors := dense.Eigen(g, n)
	out := make([]float64, n*n)
	for r, v := range values {
		for i := range n * n {
			out[i] += math.Exp(s*v) * vectors[i/n*n+r] * vectors[i%n*n+r]
		}
	}
	return out
}
