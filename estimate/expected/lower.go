package expected

import (
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// A Bound is what no method can beat: the largest root mean square error that a method has on some
// Gaussian is at least this, covariance and mean each, in the norms of [Estimate]. 0 says nothing.
type Bound struct {
	Covariance float64 `json:"covariance"`
	Mean       float64 `json:"mean"`
	// PlainCovariance and PlainMean hold without privacy too.
	PlainCovariance float64 `json:"covariance_without_privacy"`
	PlainMean       float64 `json:"mean_without_privacy"`
}

// LowerBound is a lower bound on the error of every mu-GDP method, at mu = p.Mu and so many rows,
// that always releases an estimate and is told nothing but p.Covariance. For every such method
// there is a Gaussian (in fact: it is so on average over all locations and scales) on which the
// root mean square error is as large. A method that is told bounds, or that has a part of its delta
// for thresholds, may do a little better; a median lies below a root mean square, at d = 1 by a
// third; heavier tails only make it harder.
//
// Notation: s = √(e^{μ²} − 1); x_i = θ + L z_i with z_i standard Gaussian and L lower triangular;
// errors are whitened by L, and a is the supremum of the root mean square error over all θ or L,
// finite without loss of generality. ⟨·,·⟩ is the sum of products of entries.
//
// Lemma. Let A be mu-GDP and t a function of its output. For two neighbours |E t(A(X)) − E
// t(A(X'))| ≤ s √E t(A(X'))². For mu-GDP says that the two laws are a post-processing of N(μ, 1)
// and N(0, 1) (Blackwell), so that their χ²-divergence is at most that of the two, e^{μ²} − 1; the
// rest is Cauchy and Schwarz, and once more to average over what t and the rows depend on. By
// Hölder and the Rényi divergences, which are bounded alike, every moment of A(X) below the second
// is bounded by those of A(X'), which is why all expectations below exist and may be
// differentiated, with bounded derivatives.
//
// Mean (L = I). T_i = ⟨A(X) − θ, z_i⟩. Replace-one: X' has another x_i, independent of all, so that
// E T_i = 0 and E T_i² = E|A − θ|² ≤ a² for X'; by the lemma Σ E T_i ≤ n s a for X. On the other
// hand Σ z_i is the score, so Σ E T_i = div E_θ A = d + div b, where b is the bias. Averaged over
// the cube [−r, r]^d, div b is a flux through the faces, at most d a / r, which vanishes as r
// grows. Hence
//
//	a ≥ d / (n s),  and a ≥ √(d/n) by E|Σ z_i|² = n d in place of the lemma.
//
// Add-or-remove-one: compare A on n+1 rows with A on the n rows that are left without x_i, whose
// error is a: a ≥ d / ((n+1) s). The bias with n+1 rows is bounded by the lemma, (1+s) a.
//
// Covariance (θ = 0 known, which only helps). M = L⁻¹ A L⁻ᵀ − I, symmetric without loss; T_i = ⟨M,
// z_i z_iᵀ − I⟩. For X' again E T_i = 0, and E T_i² = 2 E|M|² ≤ 2a², for a fixed symmetric M has
// Var ⟨M, z zᵀ⟩ = 2|M|². So Σ E T_i ≤ √2 n s a. The score in direction H, where Σ(τ) = L (I + τH)
// Lᵀ, is ½ Σ ⟨H, z_i z_iᵀ − I⟩. Write I + τH = K Kᵀ with K = I + τk + O(τ²) lower triangular, k +
// kᵀ = H: the lower triangle of H with half its diagonal. With the bias B(L) = E M the expectation
// of L⁻¹ A L⁻ᵀ at LK is K (I + B(LK)) Kᵀ, so over an orthonormal basis of symmetric H
//
//	Σ E T_i = 2 Σ_H ⟨H, H + kB + Bkᵀ + D_k B⟩ = d(d+1) + 2 Σ_j (d+1−j) B_jj + 2 Σ_H ⟨H, D_k B⟩,
//
// as Σ_H H k = diag((d+1−j)/2). D_k is the derivative along right multiplication. Lower triangular
// matrices are a solvable group, hence amenable: bounded functions of L have a mean that right
// multiplication does not change. In that mean D_k B vanishes, since B and its derivatives are
// bounded, and the mean of B has norm at most a. Hence, as Σ (d+1−j)² = d(d+1)(2d+1)/6,
//
//	a ≥ d(d+1) / (√2 n s + √(2 d(d+1)(2d+1)/3)),  and a ≥ d(d+1) / (√(n d(d+1)) + √(2 d(d+1)(2d+1)/3)) without privacy,
//
// by E|Σ (z_i z_iᵀ − I)|² = n d(d+1). The second term below is the price of bias: the estimate 0
// has error √d without a look at a row. For add-or-remove-one n+1 is in place of n, and 1+s times
// the bias' term, as for the mean. A diagonal covariance has scales only, a commutative group: a ≥
// 2d / (√2 n s + 2√d) and 2d / (√(2dn) + 2√d); a spherical one has one: 2 / (√2 n s + 2/√d) and 2 /
// (√(2n) + 2/√d). What holds for a special shape holds for those that contain it.
//
// Source: [KMS22] the fingerprinting lemma for exponential families; [CWZ21] the score attack.
// Differs: constants are explicit, for GDP in place of (ε, δ)-DP, and no prior is bounded: means
// over the group take its place. Both relations. The proof is the one above.
func LowerBound(p estimate.Problem, rows float64) Bound {
	if p.Columns < 1 || !(rows > 0) {
		return Bound{}
	}
	d, n, bias := float64(p.Columns), rows, 1.0
	out := Bound{PlainCovariance: covarianceBound(p.Covariance, d, rows, math.Inf(1), 1), PlainMean: math.Sqrt(d / rows)}
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

// covarianceBound is the bound on a of the comment above, for ns in place of n·s; an infinite ns
// leaves sampling alone. bias multiplies the bias' term.
func covarianceBound(shape estimate.CovarianceType, d, n, ns, bias float64) float64 {
	// scores is Σ E T_i without bias and E|Σ (z_i z_iᵀ − I)|² per row; price is the norm of the
	// bias' weights, twice.
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
