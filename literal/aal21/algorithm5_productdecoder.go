package aal21

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/literal/hypotheses"
)

// A decoded list is of Gaussians in d coordinates: every choice of one rough Gaussian per
// coordinate, and the nets over them.
type decoded struct {
	coordinates [][]rough
	// root is L, covariance L L^T, where it is known: the coordinates are then those of L^-1 row.
	// Else nil.
	root *mat.Dense
	cov  *mat.SymDense
}

// productDecoder is the decoder of axis-aligned Gaussians (Algorithm 5): Algorithm 4 in every
// column. Algorithm 5 fails, with an empty list, if it fails in some column.
//
// Utility: what a component looks like in one column is a Gaussian, and the other components
// corrupt it there too; a component that is listed in every column is in the product of the lists.
//
// Source: [AAL21] Algorithm 5.
// Differs: all columns are one measurement, each with the same part of mu^2, where the source has
// epsilon/d or advanced composition.
func (r *run) productDecoder(mu2 float64) (decoded, error) {
	columns, err := r.gaussianDecoder(mu2)
	return decoded{coordinates: columns}, err
}

// empty is FAIL: some coordinate's list is empty.
func (l decoded) empty() bool {
	return slices.ContainsFunc(l.coordinates, func(list []rough) bool { return len(list) == 0 })
}

// size is at least the number of Gaussians of the list under a net: the product over coordinates,
// exponential in d.
func (l decoded) size(n lattice) float64 {
	size := 1.0
	for _, list := range l.coordinates {
		size *= n.size(list)
	}
	return size
}

// lines are the coordinates' own Gaussians under a net.
func (l decoded) lines(n lattice) (lines [][]hypotheses.Gaussian) {
	for _, list := range l.coordinates {
		lines = append(lines, n.line(list))
	}
	return lines
}

// gaussians lists the products of one Gaussian of every line, in the columns' units.
func (l decoded) gaussians(lines [][]hypotheses.Gaussian) (base []hypotheses.Gaussian) {
	for g := range hypotheses.Products(lines) {
		if l.root != nil {
			var mean mat.VecDense
			mean.MulVec(l.root, mat.NewVecDense(len(g.Mean), g.Mean))
			g = hypotheses.NewGaussian(mean.RawVector().Data, l.cov)
		}
		base = append(base, g)
	}
	return base
}
