package ppe

import (
	"math"

	"github.com/gauze-dp/gauze/kernel/privacy"
)

// blocksFor returns t, the number of blocks: so many that the support of the test's noise is a
// tenth at most, and that the test surely passes if all estimates agree.
//
// Source: [PPE] Theorem 7.1.3.
func blocksFor(epsilon, delta float64) int {
	// without the 1 and the -1, beyond the numbers that have an exponential
	log := epsilon - math.Log(2*delta)
	if epsilon < 500 {
		log = math.Log1p(math.Expm1(epsilon) / (2 * delta))
	}
	return int(math.Max(5, math.Ceil(20/epsilon*log)))
}

// accuracy returns how near the learner's estimates have to be to the truth, in dist_PARAM, for all
// of them to agree: gamma/(4 z^2).
//
// Source: [PPE] Theorem 4.3.1; Theorem 7.1.3.
// Differs: the source's alpha/(2z) cannot be met, since gamma is far below alpha; and a learner
// that is accurate in dist_GMM has to be so to a 200th of this (Lemma 7.1.2), which the source's
// theorem leaves out.
func accuracy(gamma float64) float64 { return gamma / (4 * relaxation * relaxation) }

// RowsNeeded returns what the reduction needs by the accounting of the restatement, with the
// source's constants and with the exact loss of a mask: as many blocks as half of epsilon and of
// delta ask for, the other halves being the mask's; a learner as good as maximum likelihood, whose
// estimates scatter by 1.4 sqrt2 k sqrt(D(D+1)/m), D = d+1, on blocks of m rows of components that
// do not overlap; and a scatter of half of gamma. +Inf where no mask will do.
//
// Tight: gamma is what one mask for all of a component (privacy.CovarianceMask) allows with noise
// .5/sqrt D, coarser than any in this package. Printed: gamma is that of Lemma 6.2.1 with C_2 = 24,
// the largest constant among the lemmas that it follows from, alpha = 1, and beta = .1/(2t).
//
// Both are lower than what the method black-box:paper needs (see Estimator.Expect): the
// restatement's mask is coarser, and one for all components.
//
// Source: [PPE] Section A5 of the restatement.
func RowsNeeded(k, d int, epsilon, delta float64) (printed, tight float64) {
	epsilon, delta = epsilon/2, delta/2
	t, components, n := float64(blocksFor(epsilon, delta)), float64(k), float64(d)
	rows := func(gamma float64) float64 {
		const scatter = 1.4 * math.Sqrt2
		return t * math.Pow(2*scatter*components/gamma, 2) * (n + 1) * (n + 2)
	}
	one := privacy.CovarianceMask{Dimension: d + 1, Eta: .5 / math.Sqrt(n+1)}
	gamma := largest(mostGamma, func(gamma float64) bool {
		one.Gamma = gamma
		return one.Curve().Epsilon(delta) <= epsilon
	})
	log := math.Log(12 * components * 2 * t / .1)
	closed := epsilon / (24 * math.Sqrt(components*math.Log(2/delta)) * math.Sqrt(n*(n+log)) * math.Log(12*components/delta))
	return rows(closed), rows(gamma)
}

// largest returns about the largest distance up to high that is ok, if all below it are; 0 if there
// is none that a mask takes.
func largest(high float64, ok func(float64) bool) float64 {
	low := 1e-7
	switch {
	case !(high >= low) || !ok(low):
		return 0
	case ok(high):
		return high
	}
	for high > low*(1+1e-9) {
		if mid := math.Sqrt(low * high); ok(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}
