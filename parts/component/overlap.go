package component

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
)

// Overlap is the Bhattacharyya coefficient of two components: 0 if they are apart, 1 if they are
// the same.
func Overlap(a, b Gaussian) float64 {
	var sum mat.SymDense
	sum.AddSym(a.Cov, b.Cov)
	_, inv, logDet := symmetric.Factor(symmetric.Scaled(.5, &sum))
	_, z := symmetric.Between(inv, a.Mean, b.Mean)
	return math.Exp((symmetric.LogDet(a.Cov)+symmetric.LogDet(b.Cov))/4 - logDet/2 - mat.Dot(z, z)/8)
}
