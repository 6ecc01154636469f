package coreset

import "fmt"

// mostCoordinates is what a coreset's points have at most, as those of all trees do: they are
// filled up with zeros and go through loops of fixed length. Every sum has the same terms in the
// same order as in loops of any length, and zeros: the same numbers, at less than half the cost.
const mostCoordinates = 4

// filled are points of q coordinates, filled up with zeros. It panics if q is too large.
func filled(points [][]float64, q int) [][mostCoordinates]float64 {
	if q > mostCoordinates {
		panic(fmt.Sprintf("coreset: want points of at most %d coordinates, got %d", mostCoordinates, q))
	}
	at := make([][mostCoordinates]float64, len(points))
	for i, x := range points {
		copy(at[i][:], x)
	}
	return at
}

// logDensities writes the logarithm of a Gaussian density of every point, e.inverse being the
// inverse of its factor; best becomes the largest so far.
func (e *em) logDensities(dst, mean []float64, logWeight float64) {
	var m [mostCoordinates]float64
	copy(m[:], mean)
	var w [mostCoordinates][mostCoordinates]float64 // lower triangle
	q := e.p.q
	for a := range q {
		copy(w[a][:], e.inverse[a*q:a*q+a+1])
	}
	best := e.best[:len(dst)]
	for i := range e.p.at[:len(dst)] {
		x := &e.p.at[i]
		d0, d1, d2, d3 := x[0]-m[0], x[1]-m[1], x[2]-m[2], x[3]-m[3]
		z0 := w[0][0] * d0
		z1 := w[1][0]*d0 + w[1][1]*d1
		z2 := w[2][0]*d0 + w[2][1]*d1 + w[2][2]*d2
		z3 := w[3][0]*d0 + w[3][1]*d1 + w[3][2]*d2 + w[3][3]*d3
		v := logWeight - (z0*z0+z1*z1+z2*z2+z3*z3)/2
		dst[i] = v
		if v > best[i] {
			best[i] = v
		}
	}
}

// center writes the mean of the points under the shares and returns their mass.
func (e *em) center(shares, mean []float64) (mass float64) {
	var s0, s1, s2, s3 float64
	for i, g := range shares {
		if g == 0 {
			continue
		}
		x := &e.p.at[i]
		mass += g
		s0 += g * x[0]
		s1 += g * x[1]
		s2 += g * x[2]
		s3 += g * x[3]
	}
	copy(mean, []float64{s0, s1, s2, s3})
	for l := range mean {
		mean[l] /= mass + massFloor
	}
	return mass
}

// scatter writes the upper triangle of the sum of g (x - mean)(x - mean)^T.
func (e *em) scatter(shares, mean, dst []float64) {
	var m [mostCoordinates]float64
	copy(m[:], mean)
	var s00, s01, s02, s03, s11, s12, s13, s22, s23, s33 float64
	for i, g := range shares {
		if g == 0 {
			continue
		}
		x := &e.p.at[i]
		d0, d1, d2, d3 := x[0]-m[0], x[1]-m[1], x[2]-m[2], x[3]-m[3]
		v := d0 * g
		s00 += v * d0
		s01 += v * d1
		s02 += v * d2
		s03 += v * d3
		v = d1 * g
		s11 += v * d1
		s12 += v * d2
		s13 += v * d3
		v = d2 * g
		s22 += v * d2
		s23 += v * d3
		v = d3 * g
		s33 += v * d3
	}
	all := [mostCoordinates][mostCoordinates]float64{{s00, s01, s02, s03}, {0, s11, s12, s13}, {0, 0, s22, s23}, {0, 0, 0, s33}}
	q := len(mean)
	for a := range q {
		copy(dst[a*q:(a+1)*q], all[a][:q])
	}
}
