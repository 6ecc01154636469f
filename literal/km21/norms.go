package km21

import "math"

// The reductions between the errors that analyses of covariances are stated in: what an error in
// one norm says of it in another.
//
// With M = Sigma^-1/2 S Sigma^-1/2 - I for an estimate S of the covariance Sigma, the Mahalanobis
// error is |M|_F, and what the talk aims at: it is the same in all coordinates. The spectral error
// |S - Sigma|_2 and the Frobenius error |S - Sigma|_F depend on them.

// frobeniusOfSpectral returns how large the Frobenius norm of a symmetric matrix of d columns is at
// most if its spectral norm is s: its d squared eigenvalues sum to no more than d s^2. (The
// spectral norm is at most the Frobenius norm.)
//
// Source: [KM21] Theorem 3.1.
func frobeniusOfSpectral(d int, s float64) float64 { return s * math.Sqrt(float64(d)) }

// mahalanobisOf returns how large the Mahalanobis error is at most if the Frobenius error is, in
// any coordinates A x, and least bounds the eigenvalues of A Sigma A^T from below: with B = A Sigma
// A^T and E the error there, |B^-1/2 E B^-1/2|_F <= |E|_F |B^-1|_2. Without preconditioning, where
// eigenvalues lie between 1/u and 1, least is 1/u: why the dependence on u is prohibitive.
//
// Source: [KM21] Theorem 3.1; Algorithm 3.
func mahalanobisOf(frobenius, least float64) float64 { return frobenius / least }

// frobeniusOf does the inverse: it returns an upper bound on |S - Sigma|_F for a Mahalanobis error,
// in coordinates in which the largest eigenvalue is most.
func frobeniusOf(mahalanobis, most float64) float64 { return mahalanobis * most }

// variationOf returns a bound on the total variation distance of N(m, Sigma) and N(m', S),
// |Sigma^-1/2 (m' - m)| = mean and |M|_F = mahalanobis; at most 1.
//
// Proof. KL(N(m', S), N(m, Sigma)) = (mean^2 + sum (l - ln(1+l)))/2 over the eigenvalues l of M,
// and l - ln(1+l) <= l^2 for l >= -1/2. So KL <= (mean^2 + mahalanobis^2)/2 for mahalanobis <= 1/2,
// and by Pinsker's inequality the distance is at most sqrt(KL/2). For mahalanobis > 1/2 the bound
// is 1.
//
// Source: [TALK] Norms.
func variationOf(mean, mahalanobis float64) float64 {
	if !(mahalanobis <= .5) {
		return 1
	}
	return math.Min(1, math.Hypot(mean, mahalanobis)/2)
}

// variancesWithin returns the interval that holds v^T S v/v^T Sigma v for every direction v, if the
// Mahalanobis error is the one given: 1 + <v, M v> of a unit vector.
//
// Source: [TALK] Norms.
func variancesWithin(mahalanobis float64) (low, high float64) {
	return math.Max(0, 1-mahalanobis), 1 + mahalanobis
}
