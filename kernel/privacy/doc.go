// Package privacy counts privacy loss: relations, budgets, loss curves, composition and conversion.
//
// It is arithmetic only. It sees no data, draws no noise and imports nothing but the standard
// library, so that the accounting of the whole system can be checked by reading this folder.
//
// Everything Gaussian is counted in μ² (Gaussian differential privacy): a mechanism is μ-GDP if
// telling two neighbouring data sets apart from its answer is at least as hard as telling N(0,1)
// from N(μ,1). A Gaussian measurement with L2 sensitivity S and noise S/μ is μ-GDP, costs add as
// Σμᵢ², adaptively (see [Filter]), and one exact conversion at the end gives
//
//	δ(ε) = Φ(−ε/μ + μ/2) − e^ε·Φ(−ε/μ − μ/2).
//
// What is not Gaussian at any μ brings a Rényi [Curve], and then the whole plan is converted
// through one curve. A stability threshold that fails with probability s adds (1+e^ε)·s to δ (see
// [Calibrate]).
//
// Losses round up, budgets round down. Every solver here ends with the check that defines its
// answer, made with a forward bound that errs on the safe side only: [MuOf] returns a μ for which
// it has just seen DeltaOfMu(ε, μ) ≤ δ, and [DeltaOfMu] is at least the true δ(ε). So safety does
// not rest on a solver having converged, nor on the computed curve being monotone; only tightness
// does. The forward bounds are computed without cancellation (see laplaceIntegral) and then raised
// by `safety`, which is many times their error bound.
//
// Domain: the error bounds hold for ε and ρ in [1e-12, 1e7], δ in [1e-300, 1) and μ up to 1e4;
// [Budget.Validate] accepts nothing else.
//
// Source: [DRS22] Theorem 2.7 and Corollaries 2.13, 3.3; [CKS20] Proposition 12.
package privacy
