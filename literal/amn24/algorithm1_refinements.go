package amn24

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/literal/hypotheses"
)

// A move is the neighbours of a pair, the pair among them, steps*h standard deviations away at
// most.
type move func(p pair, h float64, steps int) []pair

// means are the pairs whose means differ by multiples of h standard deviations along the axes of
// the Cholesky factor.
func means(p pair, h float64, steps int) (out []pair) {
	d := len(p.Mean)
	grid(d, steps, func(z []int) {
		mean := append([]float64(nil), p.Mean...)
		for i := range d {
			for j := range d {
				mean[i] += h * float64(z[j]) * p.L.At(i, j)
			}
		}
		out = append(out, fromFactor(mean, p.L))
	})
	return out
}

// covariances are the pairs with covariance L T T^t L^t, L the Cholesky factor and T lower
// triangular: powers of 1+h on the diagonal, multiples of h below it.
func covariances(p pair, h float64, steps int) (out []pair) {
	d := len(p.Mean)
	grid(d*(d+1)/2, steps, func(z []int) {
		t := mat.NewDense(d, d, nil)
		at := 0
		for i := range d {
			for j := range i {
				t.Set(i, j, h*float64(z[at]))
				at++
			}
			t.Set(i, i, math.Pow(1+h, float64(z[at])))
			at++
		}
		t.Mul(p.L, t)
		out = append(out, fromFactor(p.Mean, t))
	})
	return out
}

// grid calls f with every vector of d integers from -steps to steps; it reuses z.
func grid(d, steps int, f func(z []int)) {
	z := make([]int, d)
	var place func(i int)
	place = func(i int) {
		if i == d {
			f(z)
			return
		}
		for z[i] = -steps; z[i] <= steps; z[i]++ {
			place(i + 1)
		}
	}
	place(0)
}

// count is the number of a move's neighbours for steps, from how many numbers it moves.
func count(numbers, steps int) float64 { return math.Pow(float64(2*steps+1), float64(numbers)) }

// reweighted are the weights, and those in which one component gives part of a unit of 1/N to
// another. They shrink with h, as moves do.
func reweighted(weights []float64, h float64) (all [][]float64) {
	all = append(all, weights)
	for i := range weights {
		for j := range weights {
			if moved := math.Min(h/4, weights[i]/2); i != j {
				w := append([]float64(nil), weights...)
				w[i], w[j] = w[i]-moved, w[j]+moved
				all = append(all, w)
			}
		}
	}
	return all
}

// around are the mixtures whose pairs are the neighbours of m's by a move of two steps, or of one
// where that would be too many for the guard; with other weights, too, if they are to be moved.
func (c Constants) around(m mixture, moved move, h float64, weights bool) *hypotheses.List {
	k := len(m.pairs)
	shares := [][]float64{m.weights}
	if weights {
		shares = reweighted(m.weights, h)
	}
	steps := 2
	if math.Pow(float64(len(moved(m.pairs[0], h, steps))), float64(k))*float64(len(shares)) > float64(c.MostHypotheses) {
		steps = 1
	}
	var base []hypotheses.Gaussian
	lists := make([][]int, k) // indices in base
	for i, p := range m.pairs {
		for _, q := range moved(p, h, steps) {
			lists[i] = append(lists[i], len(base))
			base = append(base, q)
		}
	}
	list := hypotheses.NewList(base, k)
	each(lists, func(index []int) {
		for _, w := range shares {
			if err := list.Add(index, w); err != nil {
				panic(err) // Plan refuses k for which there are too many
			}
		}
	})
	return list
}

// each calls f with every choice of one index of each list; it reuses the slice.
func each(lists [][]int, f func(index []int)) {
	index := make([]int, len(lists))
	var place func(i int)
	place = func(i int) {
		if i == len(lists) {
			f(index)
			return
		}
		for _, v := range lists[i] {
			index[i] = v
			place(i + 1)
		}
	}
	place(0)
}

// movable reports that the neighbours of k pairs in d columns by one step, with all weights, are
// within the guard.
func (c Constants) movable(d, k int) bool {
	most := math.Max(math.Pow(count(d, 1), float64(k))*float64(k*(k-1)+1), math.Pow(count(d*(d+1)/2, 1), float64(k)))
	return c.Refinements == 0 || most <= float64(c.MostHypotheses)
}
