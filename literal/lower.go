package literal

import (
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// LowerBound is what no method can beat: the largest root mean square error that a method has on
// some Gaussian is at least this, covariance and mean each, in the norms of expected.Estimate. 0
// says nothing.
type LowerBound struct {
	Covariance float64 `json:"covariance"`
	Mean       float64 `json:"mean"`
	// PlainCovariance and PlainMean hold without privacy too.
	PlainCovariance float64 `json:"covariance_without_privacy"`
	PlainMean       float64 `json:"mean_without_privacy"`
}

// LowerBoundOf returns a lower bound on the error of every mu-GDP method, at mu = p.Mu and so many
// rows, that always releases an estimate and is told nothing but p.Covariance. For every such
// method there is a Gaussian (in fact: it is so on average over all locations and scales) on which
// the root mean square error is as large. A method that is told bounds, or that has a part of its
// delta for thresholds, may do a little better; a median lies below a root mean square, at d = 1 by
// a third; heavier tails only make it harder.
//
// Proof: lower_proof.md, steps 1 to 7.
//
// Source: [KMS22] the fingerprinting lemma for exponential families; [CWZ21] the score attack.
// Differs: constants are explicit, for GDP in place of (epsilon, delta)-DP, and no prior is
// bounded: means over the group take its place. Both relations.
func LowerBoundOf(p estimate.Problem, rows float64) LowerBound {
	if p.Columns < 1 || !(rows > 0) {
		return LowerBound{}
	}
	d, n, bias := float64(p.Columns), rows, 1.0
	out := LowerBound{PlainCovariance: covarianceBound(p.Covariance, d, rows, math.Inf(1), 1), PlainMean: math.Sqrt(d / rows)}
	out.Covariance, out.Mean = out.PlainCovariance, out.PlainMean
	s := math.Sqrt(math.Expm1(p.Mu * p.Mu))
	if !(s > 0) {
		return out
	}
	if p.Relation == privacy.AddRemoveOne {
		n, bias = rows+1, 1+s
	}
	out.Covariance = math.Max(out.Covariance, covarianceBound(p.Covariance, d, n, n*s, bias))
	out.Mean = math.Max(out.Mean, d/(n*s))
	return out
}

// covarianceBound returns the bound on a of lower_proof.md, steps 6 and 7, for ns in place of n s;
// an infinite ns leaves sampling alone. bias multiplies the bias' term.
func covarianceBound(shape estimate.CovarianceType, d, n, ns, bias float64) float64 {
	// scores is sum E T_i without bias and E|sum (z_i z_i^T - I)|^2 per row; price is the norm of
	// the bias' weights, twice.
	bound := func(scores, price float64) float64 {
		return scores / (math.Min(math.Sqrt2*ns, math.Sqrt(n*scores)) + bias*price)
	}
	most := bound(2, 2/math.Sqrt(d))
	if shape != estimate.Spherical {
		most = math.Max(most, bound(2*d, 2*math.Sqrt(d)))
	}
	if shape == estimate.Full {
		most = math.Max(most, bound(d*(d+1), math.Sqrt(2*d*(d+1)*(2*d+1)/3)))
	}
	return most
}
