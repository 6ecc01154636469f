package dense

import "math"

// Powers holds 2^(i/32), for Exp: half of the time of EM would otherwise go into exponentials.
type Powers [32]float64

// NewPowers returns the table.
func NewPowers() (t Powers) {
	for i := range t {
		t[i] = math.Exp2(float64(i) / 32)
	}
	return t
}

// negligible is the logarithm of a share of a row that counts as 0.
const negligible = -23

// Exp returns e^x for x <= 0, to a relative 1e-12, and 0 below negligible.
func (t *Powers) Exp(x float64) float64 {
	if !(x > negligible) {
		return 0
	}
	const shift = 3 << 51 // adding it rounds to an integer in the low bits
	s := x*(32/math.Ln2) + shift
	n := int64(math.Float64bits(s)) << 13 >> 13
	v := x - (s-shift)*(math.Ln2/32)
	p := 1 + v*(1+v*(1./2+v*(1./6+v/24)))
	return p * math.Float64frombits(math.Float64bits(t[n&31])+uint64(n>>5)<<52)
}
