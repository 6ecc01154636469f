package em

import "math"

// Lower triangles are packed by rows: entry (i, j), j <= i, at i(i+1)/2 + j. Every row of a table
// meets such a triangle in every step, so their storage is half that of package dense, and nothing
// here allocates.

// factor replaces the packed lower triangle of a symmetric matrix by its Cholesky factor; false
// unless it is positive definite and finite.
func factor(a []float64, d int) bool {
	for i, at := 0, 0; i < d; at, i = at+i+1, i+1 {
		row := a[at : at+i+1]
		for j, to := 0, 0; j < i; to, j = to+j+1, j+1 {
			v := row[j]
			for c := range j {
				v -= row[c] * a[to+c]
			}
			row[j] = v / a[to+j]
		}
		v := row[i]
		for _, x := range row[:i] {
			v -= x * x
		}
		if !(v > 0) || math.IsInf(v, 1) {
			return false
		}
		row[i] = math.Sqrt(v)
	}
	return true
}

// invert writes the inverse of a packed lower triangle; false if it is not finite.
func invert(inv, l []float64, d int) bool {
	for j := range d {
		first := j * (j + 1) / 2
		for i, at := j, first; i < d; at, i = at+i+1, i+1 {
			v := 0.0
			if i == j {
				v = 1
			}
			for c, to := j, first; c < i; to, c = to+c+1, c+1 {
				v -= l[at+c] * inv[to+j]
			}
			v /= l[at+i]
			if v-v != 0 {
				return false
			}
			inv[at+j] = v
		}
	}
	return true
}

// precision adds scale times L^T L to a, both packed, L lower.
func precision(a, l []float64, d int, scale float64) {
	for c, from := 0, 0; c < d; from, c = from+c+1, c+1 {
		addSquare(a, l[from:from+c+1], scale)
	}
}

// addSquare adds scale times v v^T to the leading block of a.
func addSquare(a, v []float64, scale float64) {
	at := 0
	for i, x := range v {
		x *= scale
		for j := range i + 1 {
			a[at+j] += x * v[j]
		}
		at += i + 1
	}
}

// logDet is the logarithm of the product of the diagonal.
func logDet(l []float64, d int) float64 {
	s := 0.0
	for i := range d {
		s += math.Log(l[i*(i+1)/2+i])
	}
	return s
}

func dot(a, b []float64) float64 {
	s := 0.0
	for i, v := range a {
		s += v * b[i]
	}
	return s
}

func dist2(a, b []float64) float64 {
	s := 0.0
	for i, v := range a {
		w := v - b[i]
		s += w * w
	}
	return s
}

// powers holds 2^(i/32): half of the time of a step would otherwise go into exponentials.
type powers [32]float64

func newPowers() (t powers) {
	for i := range t {
		t[i] = math.Exp2(float64(i) / 32)
	}
	return t
}

// negligible is the logarithm of a share of a row that is taken for 0.
const negligible = -23

// exp is that of x <= 0, to a relative 1e-12, and 0 below negligible.
func (t *powers) exp(x float64) float64 {
	if !(x > negligible) {
		return 0
	}
	const shift = 3 << 51 // adding it rounds to an integer, which then stands in the low bits
	s := x*(32/math.Ln2) + shift
	n := int64(math.Float64bits(s)) << 13 >> 13
	v := x - (s-shift)*(math.Ln2/32)
	p := 1 + v*(1+v*(1./2+v*(1./6+v/24)))
	return p * math.Float64frombits(math.Float64bits(t[n&31])+uint64(n>>5)<<52)
}
