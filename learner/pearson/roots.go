package pearson

import (
	"math"
	"math/cmplx"
)

const (
	rootTurns = 300
	rootSlack = 1e-15
)

// roots returns all complex roots of c[0] + c[1] x + ... + c[m] x^m, by Ehrlich's and Aberth's
// simultaneous iteration from points on a circle. Leading and trailing coefficients of 0 are left
// out, with the roots at 0 that the latter mean.
func roots(c []float64) []complex128 {
	for len(c) > 0 && c[len(c)-1] == 0 {
		c = c[:len(c)-1]
	}
	for len(c) > 0 && c[0] == 0 {
		c = c[1:]
	}
	m := len(c) - 1
	if m < 1 {
		return nil
	}
	z := make([]complex128, m)
	radius := math.Pow(math.Abs(c[0]/c[m]), 1/float64(m))
	for i := range z {
		z[i] = cmplx.Rect(radius, (2*math.Pi*float64(i)+.7)/float64(m))
	}
	for range rootTurns {
		worst := 0.0
		for i := range z {
			step := aberth(c, z, i)
			z[i] -= step
			worst = math.Max(worst, cmplx.Abs(step)/(cmplx.Abs(z[i])+1e-300))
		}
		if !(worst > rootSlack) {
			break
		}
	}
	return z
}

// aberth returns Newton's step at root i of the polynomial divided by the other roots' factors.
func aberth(c []float64, z []complex128, i int) complex128 {
	var p, dp complex128
	for j := len(c) - 1; j >= 0; j-- {
		dp = dp*z[i] + p
		p = p*z[i] + complex(c[j], 0)
	}
	if p == 0 || dp == 0 {
		return 0
	}
	newton, repel := p/dp, complex(0, 0)
	for j, w := range z {
		if j != i && w != z[i] {
			repel += 1 / (z[i] - w)
		}
	}
	step := newton / (1 - newton*repel)
	if cmplx.IsNaN(step) || cmplx.IsInf(step) {
		return 0
	}
	return step
}
