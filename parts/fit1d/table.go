package fit1d

import "math"

// perSD is how many nodes the table of the Gaussian has per standard deviation. Between nodes,
// cubic Hermite interpolation errs by less than perSD^-4/384 times the fourth derivative: 4e-10,
// which is nothing against the chance of as many rows as there may be.
const perSD = 64

// nodes are cumulative probability and density at z = i/perSD - tableEnd.
var nodes = func() (t [2*tableEnd*perSD + 2][2]float64) {
	for i := range t {
		z := float64(i)/perSD - tableEnd
		t[i] = [2]float64{math.Erfc(-z/math.Sqrt2) / 2, math.Exp(-z*z/2) / (math.Sqrt2 * math.SqrtPi)}
	}
	return t
}()

const tableEnd = 9 // beyond reach

// gaussian returns the cumulative probability and the density of the standard Gaussian at |z| <=
// reach.
func gaussian(z float64) (cdf, pdf float64) {
	u := (z + tableEnd) * perSD
	i := int(u)
	t := u - float64(i)
	a, b := &nodes[i], &nodes[i+1]
	const h = 1. / perSD
	za := float64(i)/perSD - tableEnd
	// Hermite's basis: values at both ends, and slopes, which are the densities and -z times them.
	r := 1 - t
	va, vb := r*r*(1+2*t), t*t*(3-2*t)
	sa, sb := h*t*r*r, -h*t*t*r
	cdf = va*a[0] + vb*b[0] + sa*a[1] + sb*b[1]
	pdf = va*a[1] + vb*b[1] - sa*za*a[1] - sb*(za+h)*b[1]
	return cdf, pdf
}
