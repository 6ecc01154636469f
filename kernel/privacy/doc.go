// Package privacy counts privacy loss: relations, budgets, loss curves, composition and conversion.
//
// It is arithmetic only. It sees no data, draws no noise and imports nothing but the standard
// library, so that the accounting of the whole system can be checked by reading this folder.
//
// Everything Gaussian is counted in mu^2 (Gaussian differential privacy): a mechanism is mu-GDP if
// telling two neighbouring data sets apart from its answer is at least as hard as telling N(0,1)
// from N(mu,1). A Gaussian measurement with L2 sensitivity S and noise S/mu is mu-GDP, costs add as
// sum mu_i^2, adaptively (see [Filter]), and one exact conversion at the end gives
//
//	delta(epsilon) = Phi(-epsilon/mu + mu/2) - e^epsilon Phi(-epsilon/mu - mu/2).
//
// What is not Gaussian at any mu brings a Rényi [Curve], and then the whole plan is converted
// through one curve. A stability threshold that fails with probability s adds (1+e^epsilon) s to
// delta (see [Calibrate]).
//
// Other files hold what calibrating Gaussian steps does not need: pure losses in mu (pureloss.go)
// and the conversion of zCDP to epsilon and delta, what fits cost together, the fits of one account
// ([Account]) and those of disjoint groups of rows ([LossOfGroups]), the Rényi curves of the masks
// of block estimates ([CovarianceMask], [ParameterMask]), and how far noise reaches with a given
// probability ([Threshold]). With Filter, which composes the steps of one fit, the package holds
// every theorem of composition that the system rests on; the ledger and the front door only call
// it.
//
// Losses round up, budgets round down. Every solver here ends with the check that defines its
// answer, made with a forward bound that errs on the safe side only: [MuOf] returns a mu for which
// it has just seen DeltaOfMu(epsilon, mu) <= delta, and [DeltaOfMu] is at least the true
// delta(epsilon). So safety does not rest on a solver having converged, nor on the computed curve
// being monotone; only tightness does. The forward bounds are computed without cancellation (see
// laplaceIntegral) and then raised by Safety, which is many times their error bound.
//
// Domain: the error bounds hold for epsilon and rho in [1e-12, 1e7], delta in [1e-300, 1) and mu up
// to 1e4; [Budget.Validate] accepts nothing else.
//
// Source: [DRS22] Theorem 2.7 and Corollaries 2.13, 3.3; [CKS20] Proposition 12.
package privacy
