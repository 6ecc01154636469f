package single

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// elliptically is mean and covariance of the elliptical law whose clipped moments these are: the shape by inversion for the released radial
// law, the size as the trace of the clipped moments with what clipping took from it.
//
// Source: [TYLERPRESS] Section 3, elliptical mode.
// Differs: one clipped release with a radius about that of the rows gives shape and mean, and the histogram of the radii the size. The source
// measures directions (the same at radius 0, with more noise), mean and size by a release each.
func elliptically(l law, mean []float64, second *mat.SymDense, r2 float64) ([]float64, *mat.SymDense) {
	delta, cov := l.invert(mean, second, r2)
	size := mat.Trace(second) + l.clip(r2).Excess - math.Pow(floats.Norm(delta, 2), 2)
	cov.ScaleSym(math.Max(size, 0)/mat.Trace(cov), cov)
	return delta, cov
}
