package km21

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/estimate"

	"github.com/gauze-dp/gauze/parts"
)

const (
	stepPrecondition = "precondition"
	stepCovariance   = "covariance"
)

// estimated is a covariance Factor Factor^T. Invariant: Whitener is Factor^-1.
type estimated struct {
	Factor, Whitener *mat.Dense
	// Error bounds |Sigma^-1/2 (Factor Factor^T - Sigma) Sigma^-1/2|_F, but with the probability
	// Constants.FailureProb, if the facts hold.
	Error float64
	// Noise is the spectral level of the last release's noise, relative to what it measured.
	Noise float64
	Steps int // one-steps that were made
}

// htpce estimates a covariance whose eigenvalues lie within [low, high], from a sample of mean 0,
// with all that its sub-budget has left: t-1 calls of oneStepHTPPCE from A_0 = I/sqrt(high) on,
// then one of naiveHTPCE, at the radius for the Frobenius norm, in the coordinates found. The loss
// is sum rho_i, i = 1..t, with rho_1 = .. = rho_(t-1); it never rests on the facts.
//
// With lambda_min(L) I <= A Sigma A^T <= I and |M - A Sigma A^T|_F <= alpha the relative error is
// at most alpha/lambda_min(L); it ends in none where that is not below 1, because then nothing is
// said of the narrowest direction, or where M has an eigenvalue below lambda_min(L)-alpha or above
// 1+alpha.
//
// Source: [KM21] Algorithm 3; Theorem 3.1; Theorem 3.2.
// Differs: the loop's rho_0..rho_(t-2) are rho_1..rho_(t-1), which sum with rho_t to what is
// claimed; eigenvalues from low to high where the text has 1 to u; one-steps end when lambda_min(L)
// is at least Target, beyond which Theorem 3.2 says nothing, and what they leave goes to the last
// release; A^-1 M A^-T where the text has A^-1 M A^-1.
func htpce(ctx context.Context, x sample, within [2]float64, t int) (e estimated, none *estimate.NoRelease, err error) {
	p := begin(x.d, within)
	if t > 1 {
		mu := parts.Mu(x.PreconditionShare * x.a.Left() / float64(t-1))
		for range t - 1 {
			if err := ctx.Err(); err != nil {
				return e, nil, err
			}
			if p.least() >= x.Target {
				break
			}
			if p, none, err = oneStepHTPPCE(x, stepPrecondition, p, mu, x.stepFailure(t)); none != nil || err != nil {
				return e, none, err
			}
			e.Steps++
		}
	}
	mu := x.a.LeftMu()
	gamma, alpha := x.frobenius(mu, x.FailureProb/2)
	least := p.least()
	if e.Error = mahalanobisOf(alpha, least); !(e.Error < 1) {
		return e, &estimate.NoRelease{
			Reason: fmt.Sprintf("the bound on the relative error of the covariance is %.2g, less than 1 is wanted", e.Error)}, nil
	}
	m, err := naiveHTPCE(x, stepCovariance, p.A, gamma, mu)
	if err != nil {
		return e, nil, err
	}
	values, v, ok := symmetric.Eigen(m)
	if !ok || values[0] <= 0 || values[0] < least-alpha || values[len(values)-1] > 1+alpha {
		return e, contradiction(), nil
	}
	e.Factor, e.Whitener = new(mat.Dense), new(mat.Dense)
	e.Factor.Mul(p.Inverse, spectrum(values, v, math.Sqrt))
	e.Whitener.Mul(spectrum(values, v, func(lambda float64) float64 { return 1 / math.Sqrt(lambda) }), p.A)
	e.Noise = x.sigma(gamma*gamma, mu) * math.Sqrt(2*float64(x.d)) / values[0]
	return e, nil, nil
}
