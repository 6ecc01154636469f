package paper

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
)

// FromFactor returns N(mean, L L^T), L lower triangular.
func FromFactor(mean []float64, l *mat.Dense) Gaussian {
	d := len(mean)
	root, inverse := mat.DenseCopyOf(l).RawMatrix().Data, dense.Identity(d)
	dense.SolveLower(root, inverse, d, d)
	return Gaussian{Mean: mean, L: l, Inverse: mat.NewDense(d, d, inverse), LogVolume: dense.LogDiagonal(root, d)}
}

// A Move lists the neighbours of a Gaussian, itself among them, steps*h standard deviations away at
// most. With it a list is laid around a mixture that was chosen from a coarser one.
type Move func(g Gaussian, h float64, steps int) []Gaussian

// Means returns the Gaussians whose means differ by multiples of h standard deviations along the
// axes of L, a Cholesky factor.
func Means(g Gaussian, h float64, steps int) (out []Gaussian) {
	d := len(g.Mean)
	grid(d, steps, func(z []int) {
		mean := slices.Clone(g.Mean)
		for i := range d {
			for j := range d {
				mean[i] += h * float64(z[j]) * g.L.At(i, j)
			}
		}
		out = append(out, Gaussian{Mean: mean, L: g.L, Inverse: g.Inverse, LogVolume: g.LogVolume})
	})
	return out
}

// Scales returns the Gaussians whose standard deviations, L being diagonal, differ by powers of
// 1+h.
func Scales(g Gaussian, h float64, steps int) []Gaussian { return shapes(g, h, steps, false) }

// Covariances returns the Gaussians with covariance L T T^T L^T, T lower triangular: powers of 1+h
// on the diagonal, multiples of h below it.
func Covariances(g Gaussian, h float64, steps int) []Gaussian { return shapes(g, h, steps, true) }

// shapes returns the products L T, with or without what is below T's diagonal.
func shapes(g Gaussian, h float64, steps int, full bool) (out []Gaussian) {
	d := len(g.Mean)
	numbers := d
	if full {
		numbers = d * (d + 1) / 2
	}
	grid(numbers, steps, func(z []int) {
		t := mat.NewDense(d, d, nil)
		at := 0
		for i := range d {
			for j := 0; full && j < i; j++ {
				t.Set(i, j, h*float64(z[at]))
				at++
			}
			t.Set(i, i, math.Pow(1+h, float64(z[at])))
			at++
		}
		t.Mul(g.L, t)
		out = append(out, FromFactor(g.Mean, t))
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

// CountMoved returns how many neighbours a move of so many numbers lists.
func CountMoved(numbers, steps int) float64 { return math.Pow(float64(2*steps+1), float64(numbers)) }

// reweighted returns the weights, and those in which one component gives a part of at most h/4 to
// another. They shrink with h, as moves do.
func reweighted(weights []float64, h float64) (all [][]float64) {
	all = append(all, weights)
	for i := range weights {
		for j := range weights {
			if moved := math.Min(h/4, weights[i]/2); i != j {
				w := slices.Clone(weights)
				w[i], w[j] = w[i]-moved, w[j]+moved
				all = append(all, w)
			}
		}
	}
	return all
}

// Around lists the mixtures whose Gaussians are neighbours of the given ones by a move of two
// steps, or of one where those would be more than most; with other weights, too, if they are to be
// moved. An error that wraps ErrTooMany says that there are more than MostListed even so.
func Around(gaussians []Gaussian, weights []float64, moved Move, h float64, reweigh bool, most int) (*List, error) {
	k := len(gaussians)
	shares := [][]float64{weights}
	if reweigh {
		shares = reweighted(weights, h)
	}
	steps := 2
	if math.Pow(float64(len(moved(gaussians[0], h, steps))), float64(k))*float64(len(shares)) > float64(most) {
		steps = 1
	}
	l := NewList(nil, k)
	lists := make([][]int, k) // numbers of Gaussians
	for i, g := range gaussians {
		for _, near := range moved(g, h, steps) {
			lists[i] = append(lists[i], len(l.Gaussians))
			l.Gaussians = append(l.Gaussians, near)
		}
	}
	var err error
	each(lists, func(index []int) bool {
		for _, w := range shares {
			if err == nil {
				err = l.Add(index, w)
			}
		}
		return err == nil
	})
	return l, err
}

// each calls f with every choice of one number of each list until it says no; it reuses the slice.
func each(lists [][]int, f func(index []int) bool) {
	index := make([]int, len(lists))
	var place func(i int) bool
	place = func(i int) bool {
		if i == len(lists) {
			return f(index)
		}
		for _, v := range lists[i] {
			if index[i] = v; !place(i + 1) {
				return false
			}
		}
		return true
	}
	place(0)
}
