package noise

import "math/big"

// normalDigits is the number of binary places of a Normal.
const normalDigits = 512

// Normal returns X ~ N(0, 1), cut towards zero to normalDigits binary places: exactly sign(X)
// floor(|X| 2^512) / 2^512.
//
// So it is a function of X, off by less than 2^-512, and has the law of that function precisely.
// Whatever is computed from it is not ideal noise any more, and a caller that rounds must say with
// what probability the rounding differs from the ideal one's, as blocks.Masked does.
//
// Source: [KARNEY16] Algorithm N.
func (g *Gaussian) Normal() *big.Float {
	k, x := g.halfNormal()
	n := new(big.Int).SetUint64(k)
	n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(x.Head))
	for i := range normalDigits/64 - 1 {
		n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(x.Digit(g.src, i)))
	}
	if g.coin() {
		n.Neg(n)
	}
	z := new(big.Float).SetPrec(normalDigits + 64).SetInt(n) // exact: k < 2^64
	return z.SetMantExp(z, -normalDigits)
}
