package blocks

import "math/big"

// MaskSlack bounds, for Masked and MaskedParameters, the distance in total variation between what
// they return and what they would return from ideal draws and in exact arithmetic.
const MaskSlack = 0x1p-90

// Masked returns the mixture of means, masked with noise eta as privacy.CovarianceMask states:
//
//	P_c = B_c means[c] B_c',   B_c = sqrt(Weight) [[Root, Mean], [0, 1]] of frame[c],
//	M_c = L (I + eta G)(I + eta G)' L',   L L' = P_c,
//	all D x D, D = d+1,   G of D^2 independent N(0, 1),
//
// read as M = w [[S + m m', m], [m', 1]] and released as w, m and the lower triangular Cholesky
// root of S, rounded. The weights are not normalised, and the components are in the order of means:
// both are the caller's. z returns draws of noise.Gaussian's Normal, D^2 for each component, which
// fill G by columns.
//
// Rounding, a fixed map: w is cut towards zero to 40 significant bits. For row i of the root, with
// u the power of two such that the diagonal r_ii lies in [2^39 u, 2^40 u), the entries of the row
// and m_i are cut towards zero to multiples of u. Then they become the nearest float64.
//
// Theorem. Let frame and means be finite, means[c] be positive definite with a condition number of
// at most 2^40, | |Root^-1| |Root| | at most 2^20 in the maximum norm (or the root be a rotation of
// such a root), D <= 2^7, at most 2^10 components, and eta in [2^-20, 2^20]. Scale and place are
// free. Then what is returned has the law of a function of (M_c)_c, hence a law that depends on the
// P_c only, but for MaskSlack in total variation. (That is what a privacy proof needs; 1 +
// e^epsilon times MaskSlack is what it adds to delta.)
//
// Proof: mask_proof.md, steps 1 to 9.
//
// Source: [PPE] Section B4 of the restatement.
// Differs: draws to 512 bits and arithmetic at 1024, which make the bound provable in a few lines;
// a unit tied to the root's diagonal for the entries of the root and the mean, in the place of the
// root's own digits and of an inverse.
func Masked(frame []Component, means [][]float64, eta float64, z func() *big.Float) []Component {
	out := make([]Component, len(means))
	for c, x := range means {
		f := frame[c]
		d := len(f.Mean)
		n := d + 1
		s := zeros(n, n)
		for i := range s {
			for j := range s {
				s[i][j].SetFloat64(x[(i+d)%n*n+(j+d)%n]) // the last coordinate first
			}
		}
		h := times(lower(s), scattered(n, eta, z))
		t := lower(times(h, h))
		if t[0][0].Sign() == 0 {
			out[c] = Component{Mean: make([]float64, d), Root: make([]float64, d*d)}
			continue
		}
		columns := zeros(n, d) // columns m and root of S, in the frame
		for i, row := range t[1:] {
			for j := range row[:i+2] {
				columns[j][i].Quo(row[j], t[0][0])
			}
		}
		root, w := entries(f.Root, d), exact(f.Weight)
		w.Mul(w, bigDot(t[0][:1], t[0]))
		out[c] = rounded(w, f.Mean, times(root, columns[:1]), times(root, columns[1:]))
	}
	return out
}

// MaskedParameters returns the mixture with each parameter masked by itself, as
// privacy.ParameterMask has it:
//
//	w + etaWeight z0,   m + etaMean A z1,   S = A (I + etaCov G)(I + etaCov G)' A',
//	A = Root of the component,
//
// the last as its lower triangular root. For each component z is called for z0, for z1 (d) and for
// G (d^2, by columns). Rounding is that of Masked, u being tied to the masked root. Weights are not
// normalised, and may be negative.
//
// Theorem. With Masked's bounds for root, d, components and each eta, what is returned has the law
// of a function of what the ideal mechanism releases, a law that depends on the mixture's weights,
// means and covariances only (S on A A' only, and etaMean A z1 is N(0, etaMean^2 A A')), but for
// MaskSlack in total variation.
//
// Proof: mask_proof.md, step 10.
//
// Source: [PPE] Section A4 of the restatement.
// Differs: rounded, see Masked.
func MaskedParameters(mixture []Component, etaWeight, etaMean, etaCov float64, z func() *big.Float) []Component {
	out := make([]Component, len(mixture))
	for i, c := range mixture {
		d := len(c.Mean)
		root, shift := entries(c.Root, d), zeros(1, d)
		w := scaled(etaWeight, z)
		for _, s := range shift[0] {
			s.Set(scaled(etaMean, z))
		}
		out[i] = rounded(w.Add(w, exact(c.Weight)), c.Mean, times(root, shift), times(root, scattered(d, etaCov, z)))
	}
	return out
}
