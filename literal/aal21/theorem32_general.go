package aal21

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/literal/paper"
)

// general is a decoder of Gaussians of any covariance whose partial correlations are at most
// Correlated: the columns' lists of Algorithm 4, and a net of correlations that looks at no row. An
// instance of the reduction that the source does not print.
//
// Utility: the columns of such a Gaussian are listed as for axisAligned, with their own standard
// deviations; of the net of correlations one is near its own.
//
// Source: [AAL21] Theorem 3.2 (for this class of Gaussians); Algorithm 4.
// Differs: the source has no decoder of arbitrary covariances, which it leaves open; this one needs
// the bound on correlations, and its net grows with a power d(d-1)/2.
type general struct{ axisAligned }

func (g general) Shortest(p estimate.Problem) List { return correlated{g.shortest(p), g.c.Correlated} }

func (g general) Decode(s Sample) (List, error) {
	l, err := g.decode(s)
	return correlated{l, g.c.Correlated}, err
}

// correlated is a list of products with every correlation matrix of a net.
type correlated struct {
	decoded
	most float64
}

// turns returns the partial correlations of a net: tanh of multiples of the step, which are about
// equally far from one another in total variation.
func (l correlated) turns(step float64) (turns []float64) {
	most := math.Floor(math.Atanh(l.most) / step)
	for j := -most; j <= most; j++ {
		turns = append(turns, math.Tanh(j*step))
	}
	return turns
}

// pairs returns the number of pairs of columns.
func (l correlated) pairs() int { return len(l.coordinates) * (len(l.coordinates) - 1) / 2 }

func (l correlated) Size(step float64) float64 {
	return l.decoded.Size(step) * math.Pow(float64(len(l.turns(step))), float64(l.pairs()))
}

func (l correlated) Net(step float64) (base []paper.Gaussian) {
	turns := l.turns(step)
	each := math.Pow(float64(len(turns)), float64(l.pairs()))
	var roots []*mat.Dense
	for i := 0; float64(i) < each; i++ {
		roots = append(roots, correlationRoot(len(l.coordinates), turns, i))
	}
	for _, g := range l.decoded.Net(step) {
		for _, root := range roots {
			var factor mat.Dense
			factor.Mul(g.L, root)
			base = append(base, paper.FromFactor(g.Mean, &factor))
		}
	}
	return base
}

// correlationRoot returns the lower triangular root of the correlation matrix with the partial
// correlations that the digits of i choose: row by row of unit length, each entry that part of what
// the ones before it have left. Every correlation matrix is one, and all of them are.
func correlationRoot(d int, turns []float64, i int) *mat.Dense {
	root := mat.NewDense(d, d, nil)
	for row := range d {
		left := 1.0
		for column := range row {
			part := turns[i%len(turns)]
			i /= len(turns)
			root.Set(row, column, part*left)
			left *= math.Sqrt(1 - part*part)
		}
		root.Set(row, row, left)
	}
	return root
}

func (l correlated) Moves() []paper.Move {
	return []paper.Move{paper.Means, paper.Covariances}
}
