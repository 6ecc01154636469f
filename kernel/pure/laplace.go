package pure

import (
	"math"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/internal/core"
	"github.com/gauze-dp/gauze/kernel/internal/engine"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// Laws of noise other than the Gaussian, as Measurement.Law names them. With S the Sensitivity and
// b the Noise, the step is e-DP:
const (
	// e = S/b: discrete Laplace of scale b on every number; S in L1
	LawLaplace     = "laplace"
	LawExponential = "exponential" // e = 2S/b: P(option) ~ exp(score/b)
	// e = 4S/b: discrete Laplace of scale b on every score, b/2 on the threshold
	LawAboveThreshold = "above threshold"
	// with a threshold's delta as well: e = S/b: discrete Laplace of scale b on every number, cut
	// at a public bound; S in L1
	LawTruncated = "truncated laplace"
	// e = S/b: a test and a truncated exponential mechanism, see SelectLocal
	LawLocal = "local exponential"
)

// Laplace measures q with pure privacy loss epsilon: epsilon-DP for the whole measurement, whatever
// the number of leaves. It is charged privacy.MuOfPure(epsilon)^2, whose inverse is
// privacy.PureOfMu, or epsilon itself where the budget is pure.
//
// Answer: the exact integers plus independent discrete Laplace noise P(j) ~ exp(-g |j|), g =
// epsilon/S rounded down, S the L1 sensitivity (privacy.L1), in the query's unit. Sigma is the sd
// of that noise.
//
// Theorem: for neighbours the exact answers a, a' are integer vectors with |a-a'|_1 <= S. The
// answer r has probability proportional to exp(-g |r-a|_1) and exp(-g |r-a'|_1), with the same
// constant, and | |r-a|_1 - |r-a'|_1 | <= S: the ratio is at most exp(gS) <= exp(epsilon). Whatever
// is epsilon-DP is MuOfPure(epsilon)-GDP, which is what the session's filter adds up. (Sums are
// modulo 2^64, and a multiple of the unit is released: both are done to r.)
//
// Source: [CKS20] Algorithm 2 of the paper on the discrete Gaussian; [KSSU19] Section A.2 of the
// restatement.
func Laplace(a *core.SubBudget, step string, q query.Sum, epsilon float64) (core.Answer, error) {
	return laplaced(a, step, q, epsilon, func(d *core.Draw, q query.Sum) []int64 { return engine.Sum(d.Engine(), d.Rows(), q) })
}

// LaplacePairs does what Laplace does for sums over fresh secret pairs of rows. Given the draws of
// the pairs, one row changes the answer by at most the L2 sensitivity of query.Pairs, hence by at
// most S in L1 (privacy.L1), and the theorem holds; the draws have the same law for neighbours, so
// that without them the ratio is one of two averages of which each term keeps to exp(epsilon).
//
// Source: [KV18] Section 1 of the restatement.
func LaplacePairs(a *core.SubBudget, step string, q query.Pairs, epsilon float64) (core.Answer, error) {
	return laplaced(a, step, q, epsilon, kernel.ExactPairs)
}

// laplaced measures q; exact computes its integers.
func laplaced[Q core.Summed](a *core.SubBudget, step string, q Q, epsilon float64, exact func(*core.Draw, Q) []int64) (core.Answer, error) {
	q, err := core.Checked(a, q)
	if err != nil {
		return core.Answer{}, err
	}
	sensitivity := core.Grouped(a, privacy.L1(q.Size(), q.Sensitivity(a.Session().Relation())))
	rate, err := rateOf(step, epsilon, sensitivity)
	if err != nil {
		return core.Answer{}, err
	}
	line := core.Measurement{Sensitivity: sensitivity, Noise: privacy.DivUp(1, rate), Mu: privacy.MuOfPure(epsilon), Pure: epsilon, Law: LawLaplace}
	sigma := 1 / (math.Sqrt2 * math.Sinh(rate/2))
	return core.Noised(a, step, q, line, sigma, exact, func(d *core.Draw, _ int) int64 { return drawLaplace(d, rate) })
}
