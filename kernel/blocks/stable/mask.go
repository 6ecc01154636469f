package stable

import "math/big"

// MaskSlack bounds, for Masked and MaskedParameters, the distance in total variation between what
// they return and what they would return from ideal draws and in exact arithmetic.
const MaskSlack = 0x1p-90

// Masked returns the mixture of means, masked by privacy.Mask's mechanism with noise eta:
//
//	P_c = B_c means[c] B_c',   B_c = sqrt(Weight) [[Root, Mean], [0, 1]] of frame[c],   D x D, D = d+1,
//	M_c = L (I + eta G)(I + eta G)' L',   L L' = P_c,   G of D^2 independent N(0, 1),
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
// Proof. Take the draws to be those of one ideal G, and look at one component: in the end there are
// at most 2^10. Order the coordinates of M with the last one first. Let T be the lower triangular
// root of B^-1 M B^-1': its first column is sqrt(w/Weight) (1, m) and the rest sqrt(w/Weight) times
// a root of S, both in the frame's coordinates. Let V be the root of M itself, divided by its first
// entry: below the first row it holds m and then the root of S, all that is rounded but w.
//
// (1) Law of V. It is enough to look at a lower triangular Root, since the law of M is the same.
// Let K be the lower triangular root of HH', H = I + eta G. Then V is proportional to B L K, where
// L now stands for the root of means[c]. Given the rows of K above, K_ij for j < i are Gaussian of
// sd eta, independent of each other and of K_ii, the length of a vector of independent Gaussians of
// sd eta: its density is at most .8/eta (its square is a Poisson mixture of chi-squares, and the
// density of every chi is at most .8). Outside an event of probability 2^-600 every |G_ij| <= 32,
// and K_ii <= 1 + 32 eta D. V_ij is K_ij V_ii/K_ii plus something given. A unimodal density f puts
// at most 2h(2 max f + 1.1/u) within h of the multiples of u; so V_ij, j < i, is within r V_ii of
// one with probability at most 1.6 r K_ii/eta + 2.2 2^40 r <= 2^42 r. And K_ii is within a factor 1
// +- r of one of the at most 2^40 points in an octave at which the rounding of V_ii, or of w, jumps
// with probability at most 2^43 r (.8/eta)(1 + 32 eta D) <= 2^64 r. For all entries together: less
// than 2^72 r.
//
// (2) Error. Each row of H is at a distance from the span of the others that, given those, is a
// Gaussian of sd eta in size: below 2^-110 eta with probability at most 2^-110. So, outside an
// event of probability D 2^-110, |H^-1| <= D 2^110/eta, the condition number of H is at most 2^117
// (2^4/eta + 2^12) < 2^142 and that of T below 2^162. With scaled rows, that of the root of S is
// below 2^186: the frame's root contributes |Root^-1 diag(lengths of its rows)| <= 2^24, whatever
// its rotation. H is computed without rounding from draws that are cut; if E is what was cut, |H^-1
// E| <= 2^117/eta * D eta 2^-512 = 2^-388, so T changes to T(I+Q) with |Q| <= 2^-385. The rounding
// of products and Cholesky roots at 1024 bits does the same: their backward errors, at most 8 D
// 2^-1024 relative to the lengths of rows (Higham, Theorem 10.3), give a Q of at most D times that
// times the square of the scaled condition number, below 2^(-1024+20+372). The frame's place drops
// out of V(I+Q)/(1+Q_00), and is added at the end at 4096 bits, without rounding. So the entries of
// row i of V are off by at most 4 |row i of the root| |Q| <= 2^(2+186-384) V_ii, and w by less: r =
// 2^-196.
//
// (1) and (2): the rounding differs with probability at most 2^(72-196) + 2^-103 + 2^-600 < 2^-102
// for a component.
//
// An M that is not positive definite (probability 0) gives zeros on the diagonal, or a weight of 0,
// and no panic.
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
		columns := zeros(n, d) // of m and of the root of S, in the frame
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
//	w + etaWeight z0,   m + etaMean A z1,   S = A (I + etaCov G)(I + etaCov G)' A',   A = Root of the component,
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
// Proof. The root of S as for Masked, with B = A and L = I. Given it, m_i is Gaussian with a sd of
// etaMean |row i of A| and is cut at multiples of u: the same bound, the row being longer than the
// diagonal of A's lower triangular form. w is off by at most etaWeight 2^-512. It is less than
// 2^-200 in size with probability at most 2^-199/etaWeight; else it is so near to one of the 2^39
// points in each of 240 octaves where its rounding jumps with probability at most 240 2^40 2^-512,
// or it is above 2^40 (Weight <= 1), for which |z0| would have to exceed 2^19.
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
