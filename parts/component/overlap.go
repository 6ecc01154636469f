package component

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/parts"
)

// Overlap returns the Bhattacharyya coefficient of two components: 0 if they are apart, 1 if they
// are the same.
func Overlap(a, b Gaussian) float64 {
	return overlap(a, b, symmetric.LogDet(a.Cov)+symmetric.LogDet(b.Cov))
}

func overlap(a, b Gaussian, logDets float64) float64 {
	var sum mat.SymDense
	sum.AddSym(a.Cov, b.Cov)
	// The means are at least as far apart as they are, in sds, along the line between them.
	off := mat.NewVecDense(len(a.Mean), floats.SubTo(make([]float64, len(a.Mean)), a.Mean, b.Mean))
	if away := mat.Dot(off, off); away*away > farOverlap*mat.Inner(off, &sum, off)/2 {
		return 0
	}
	_, inv, logDet := symmetric.Factor(symmetric.Scaled(.5, &sum))
	_, z := symmetric.Between(inv, a.Mean, b.Mean)
	return math.Exp(logDets/4 - logDet/2 - mat.Dot(z, z)/8)
}

// farOverlap: components whose means are farther apart, in squared sds, share less than float64
// tells from nothing, exp(-farOverlap/8).
const farOverlap = 320.0

// Alone returns about which part of each component's rows no other component shares.
func Alone(cs []Gaussian) []float64 {
	logDets := parts.Map(cs, func(c Gaussian) float64 { return symmetric.LogDet(c.Cov) })
	left := slices.Repeat([]float64{1}, len(cs))
	for i, a := range cs {
		for j, b := range cs[:i] {
			shared := overlap(a, b, logDets[i]+logDets[j])
			left[i], left[j] = left[i]-shared, left[j]-shared
		}
	}
	return parts.Map(left, func(p float64) float64 { return math.Max(0, p) })
}
