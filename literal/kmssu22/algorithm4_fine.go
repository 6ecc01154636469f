package kmssu22

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
)

// finePreconditioner returns FinePreconditioner: with Z from NaiveEstimator, whose noise is below
// lambda_{k+1}(Z), every axis of Z with lambda_i(Z) >= lambda_{k+1}(Z)/(16 gamma^2) is narrowed to
// that, by 1/(4 gamma g_i), g_i = sqrt(lambda_i(Z)/lambda_{k+1}(Z)). bound is one on the
// eigenvalues in the space.
//
// Source: [KMSSU22] Algorithm 4; Theorem 5.2.
// Differs: 16 gamma^2 in the condition, where the source has 16 gamma, so that no axis is widened.
func (r *run) finePreconditioner(s space, k int, bound, mu2 float64) (space, error) {
	z, err := r.naiveEstimator(prefixFine, s, bound, r.a.Take(mu2*locationPart), r.a.Take(mu2*(1-locationPart)))
	if err != nil {
		return space{}, err
	}
	values, vectors := z.eigen()
	next := values[k]
	if !(next > z.noise/noiseLimit) {
		return space{}, fail("noise hides the eigenvalue number %d, which is far below the largest", k+1)
	}
	target := next / (16 * r.c.Remaining * r.c.Remaining)
	factors := repeat(1, len(values))
	for i, v := range values {
		if v >= target {
			factors[i] = math.Sqrt(target / v)
		}
	}
	return s.scaled(vectors, factors), nil
}

// eigen returns the eigenvalues of the covariance, largest first, and its eigenvectors in columns.
func (z naive) eigen() ([]float64, *mat.Dense) {
	vectors, values := symmetric.Principal(z.cov, z.cov.SymmetricDim())
	return values, vectors
}
