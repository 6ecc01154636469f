// Package coreset makes a private coreset of a table, the leaves of a noisy tree of counts in a few
// coordinates, and fits Gaussian mixtures to it. Only the tree's counts are measurements;
// everything done with the leaves is post-processing.
package coreset

import (
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
)

// A Coreset is a weighted set of points in a few coordinates: the released leaves of a Tree.
//
// Invariant: Points, Weights and Cells are of one length, Weights are positive and sum to Total.
type Coreset struct {
	Dim     int
	Points  [][]float64 // centres of the leaves, in the coordinates of the tree's frame
	Weights []float64   // noisy counts, in rows
	// Cells is the variance within a leaf per coordinate: side^2/12 of the uniform distribution.
	Cells [][]float64
	// SD is the noise of one count of the last level; Total the sum of the weights.
	SD, Total float64
	// OwnCells, if positive, is the part of the variance within a component's own leaves that its
	// variance gets, in place of the regularisation for components of about one scale: a part of
	// the mean cell variance and a pull towards the pooled covariance.
	OwnCells float64
}

// meanCell returns the weighted mean within-cell variance per coordinate.
func (c *Coreset) meanCell() []float64 {
	m := make([]float64, c.Dim)
	for i, v := range c.Cells {
		for l := range m {
			m[l] += c.Weights[i] * v[l] / c.Total
		}
	}
	return m
}

// moments returns the weighted mean and covariance of the points, cells included.
func (c *Coreset) moments() (mean []float64, cov *mat.SymDense) {
	mean = make([]float64, c.Dim)
	for i, p := range c.Points {
		for l, x := range p {
			mean[l] += c.Weights[i] * x / c.Total
		}
	}
	cov = mat.NewSymDense(c.Dim, nil)
	for i, p := range c.Points {
		w := c.Weights[i] / c.Total
		for l := range p {
			for m := l; m < c.Dim; m++ {
				cov.SetSym(l, m, cov.At(l, m)+w*(p[l]-mean[l])*(p[m]-mean[m]))
			}
			cov.SetSym(l, l, cov.At(l, l)+w*c.Cells[i][l])
		}
	}
	return mean, cov
}

// Lift returns component j of m in more coordinates: the axes, of which the coreset's coordinates
// are the first, with variances in the others.
func (m *Mixture) Lift(j int, axes *mat.Dense, variances []float64) (mean []float64, cov *mat.SymDense) {
	d := len(variances)
	block, at := symmetric.Diagonal(variances), mat.NewVecDense(d, nil)
	for i, v := range m.Means[j] {
		at.SetVec(i, v)
		for l := i; l < len(m.Means[j]); l++ {
			block.SetSym(i, l, m.Covs[j].At(i, l))
		}
	}
	var up mat.VecDense
	up.MulVec(axes, at)
	return up.RawVector().Data, symmetric.Congruence(axes, block)
}
