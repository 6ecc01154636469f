package blocks

import (
	"math"
	"slices"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/parallel"
)

const (
	slack           = 1e-7 // the room for rounding that Friends subtracts from its radius
	metricMostParts = 64   // components; matches keeps sets of them as bits
)

// Distance returns the distance of two mixtures: over all ways to match their components, the least
// of the largest distance of a matched pair. The distance of two components is the largest of
// |w1 - w2|,
// the length of the difference of their means in the units of either covariance, and the Frobenius
// norms of S1^-1/2 S2 S1^-1/2 - I and of the same with the two exchanged. It is infinite if one of
// the mixtures is not valid (weights, entries and condition as for Rules), or if they differ in the
// numbers of components or columns.
//
// Source: [PPE] Section A1 of the restatement.
func Distance(a, b []Component) float64 {
	of := costs(validated(a), validated(b))
	for _, radius := range slices.Sorted(slices.Values(of)) {
		if matches(of, len(a), radius) {
			return radius
		}
	}
	return math.Inf(1)
}

// Friends returns for each mixture the number of mixtures within radius of it, by Distance: itself
// included if it is valid, and none if it is not. A pair counts if its computed distance leaves
// 1e-7 for rounding, so that the true one is at most radius.
//
// Source: [PPE] Section A2 of the restatement (Algorithm 1).
func Friends(mixtures [][]Component, radius float64) []int {
	t := len(mixtures)
	read, near, counts := make([]valid, t), make([][]bool, t), make([]int, t)
	parallel.Run(t, func(i int) { read[i] = validated(mixtures[i]) })
	parallel.Run(t, func(i int) {
		near[i] = make([]bool, t)
		near[i][i] = read[i].factors != nil
		for j := i + 1; j < t; j++ {
			near[i][j] = matches(costs(read[i], read[j]), len(read[i].parts), radius-slack)
		}
	})
	for i := range t {
		for j := range t {
			if near[min(i, j)][max(i, j)] {
				counts[i]++
			}
		}
	}
	return counts
}

// A valid holds a mixture of any number of components and columns, and its factors if it is valid.
type valid struct {
	parts   []Component
	factors []Factor
}

// validated returns m with its factors, without them if it is not valid.
func validated(m []Component) valid {
	if len(m) == 0 || len(m) > metricMostParts || len(m[0].Mean) == 0 {
		return valid{}
	}
	return valid{m, Factors(m, len(m), len(m[0].Mean))}
}

// costs returns the distances of all pairs of components; none if the mixtures cannot be compared.
func costs(x, y valid) []float64 {
	if x.factors == nil || y.factors == nil || len(x.parts) != len(y.parts) || len(x.parts[0].Mean) != len(y.parts[0].Mean) {
		return nil
	}
	d := len(x.parts[0].Mean)
	out, work := make([]float64, 0, len(x.parts)*len(y.parts)), make([]float64, (d+1)*(d+1))
	for a := range x.parts {
		for b := range y.parts {
			forth := oneWay(d, work, &x.factors[a], &y.factors[b])
			back := oneWay(d, work, &y.factors[b], &x.factors[a])
			most := max(math.Abs(x.parts[a].Weight-y.parts[b].Weight), forth, back)
			if math.IsNaN(most) { // something overflowed
				most = math.Inf(1)
			}
			out = append(out, most)
		}
	}
	return out
}

// oneWay returns the larger of |m| and of the Frobenius norm of K K' - I, where Relative, which
// writes it to c, is scale [[K, m], [0, 1]].
func oneWay(d int, c []float64, x, y *Factor) float64 {
	Relative(d, c, x, y)
	n := d + 1
	scale := c[n*n-1] * c[n*n-1]
	mean, covariance := 0.0, 0.0
	for i := range d {
		mean += metricSquare(c[i*n+d])
		for j := range i + 1 {
			s := dense.Dot(c[i*n:i*n+j+1], c[j*n:]) / scale
			if i == j {
				covariance += metricSquare(s - 1)
			} else {
				covariance += 2 * metricSquare(s)
			}
		}
	}
	return math.Sqrt(max(mean/scale, covariance))
}

// matches reports whether the components can be matched at costs of at most radius, by augmenting
// paths.
func matches(costs []float64, k int, radius float64) bool {
	if len(costs) == 0 {
		return false
	}
	of := make([]int, k) // the component of x, plus one, that is matched to each component of y
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

func metricSquare(x float64) float64 { return x * x }
