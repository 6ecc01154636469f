package component

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
)

// Overlap is the Bhattacharyya coefficient of two components: 0 if they are apart, 1 if they are
// the same.
func Overlap(a, b Gaussian) float64 {
	mid := mat.NewSymDense(len(a.Mean), nil)
	mid.AddSym(a.Cov, b.Cov)
	mid.ScaleSym(.5, mid)
	_, inv, logDet := symmetric.Factor(mid)
	_, _, da := symmetric.Factor(a.Cov)
	_, _, db := symmetric.Factor(b.Cov)
	diff, z := mat.NewVecDense(len(a.Mean), nil), mat.NewVecDense(len(a.Mean), nil)
	diff.SubVec(mat.NewVecDense(len(a.Mean), a.Mean), mat.NewVecDense(len(b.Mean), b.Mean))
	z.MulVec(inv, diff)
	return math.Exp((da+db)/4 - logDet/2 - mat.Dot(z, z)/8)
}
