package stable

import (
	"math"
	"slices"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/parallel"
)

// paramSlack is what Popularity subtracts from its radius for rounding.
const paramSlack = 1e-7

// ParamDistance is the distance of two mixtures: of all ways to match their components, the least
// of the largest distance of a matched pair. That of two components is the largest of |w1 - w2|,
// the length of the difference of their means in the units of either covariance, and the Frobenius
// norms of S1^-1/2 S2 S1^-1/2 - I and of the same with the two exchanged. Infinite if one of the
// mixtures is not valid (weights, entries and condition as for Rules), or if they differ in the
// numbers of components or columns.
//
// Source: [PPE] Section A1 of the restatement.
func ParamDistance(a, b []Component) float64 {
	x, y := ownFactors(a), ownFactors(b)
	costs := paramCosts(x, y)
	for _, radius := range slices.Sorted(slices.Values(costs)) {
		if matches(costs, len(x), radius) {
			return radius
		}
	}
	return math.Inf(1)
}

// Popularity counts for each mixture those within radius of it, by ParamDistance: itself included
// if it is valid, and none if it is not. A pair counts if its computed distance leaves 1e-7 for
// rounding, so that the true one is at most radius.
//
// Source: [PPE] Section A2 of the restatement (Algorithm 1).
func Popularity(mixtures [][]Component, radius float64) []int {
	t := len(mixtures)
	own := make([][]factor, t)
	parallel.Run(t, func(i int) { own[i] = ownFactors(mixtures[i]) })
	_, counts := pairs(t, 0, 0, func(i, j int, _ *pair) bool {
		return i == j && own[i] != nil || i < j && matches(paramCosts(own[i], own[j]), len(own[i]), radius-paramSlack)
	})
	return counts
}

// ownFactors are the factors of a mixture of any number of components and columns.
func ownFactors(m []Component) []factor {
	if len(m) == 0 || len(m) > mostParts || len(m[0].Mean) == 0 {
		return nil
	}
	return factors(m, len(m), len(m[0].Mean))
}

// paramCosts are the distances of all pairs of components; none if the mixtures cannot be compared.
func paramCosts(x, y []factor) []float64 {
	if x == nil || y == nil || len(x) != len(y) || len(x[0].mean) != len(y[0].mean) {
		return nil
	}
	p := newPair(len(x), len(x[0].mean))
	costs := make([]float64, 0, len(x)*len(y))
	for a := range x {
		for b := range y {
			costs = append(costs, p.param(&x[a], &y[b]))
		}
	}
	return costs
}

// param is the distance of two components, infinite if something overflows.
func (p *pair) param(x, y *factor) float64 {
	p.relative(p.forth, x, y)
	p.relative(p.back, y, x)
	if most := max(math.Abs(x.weight-y.weight), p.paramOf(p.forth), p.paramOf(p.back)); !math.IsNaN(most) {
		return most
	}
	return math.Inf(1)
}

// paramOf is the larger of |m| and of the Frobenius norm of K K' - I, for c = scale [[K, m], [0,
// 1]].
func (p *pair) paramOf(c []float64) float64 {
	d, n := p.d, p.d+1
	scale := c[n*n-1] * c[n*n-1]
	mean, covariance := 0.0, 0.0
	for i := range d {
		mean += square(c[i*n+d])
		for j := range i + 1 {
			s := dense.Dot(c[i*n:i*n+j+1], c[j*n:]) / scale
			if i == j {
				covariance += square(s - 1)
			} else {
				covariance += 2 * square(s)
			}
		}
	}
	return math.Sqrt(max(mean/scale, covariance))
}

// matches says whether the components can be matched at costs of at most radius, by augmenting
// paths.
func matches(costs []float64, k int, radius float64) bool {
	if len(costs) == 0 {
		return false
	}
	of := make([]int, k) // the component of x, plus one, that each one of y is matched to
	for a := range k {
		var seen uint64
		var augment func(a int) bool
		augment = func(a int) bool {
			for b := range k {
				if costs[a*k+b] <= radius && seen>>b&1 == 0 {
					if seen |= 1 << b; of[b] == 0 || augment(of[b]-1) {
						of[b] = a + 1
						return true
					}
				}
			}
			return false
		}
		if !augment(a) {
			return false
		}
	}
	return true
}
