// Package choice brings pure mechanisms to the kernel: Laplace noise, the choice of an option by
// its score, the sparse vector, a choice that tests first whether it may choose, and histograms
// whose noise is cut. Only the algorithms that papers print use it.
package choice

import (
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/kernel/engine"
	"github.com/gauze-dp/gauze/kernel/internal/core"
	"github.com/gauze-dp/gauze/kernel/internal/pure"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/privacy/convert"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/kernel/query/l1"
)

// Laws of noise other than the Gaussian, as Measurement.Law names them. With S the Sensitivity and
// b the Noise, the step is e-DP:
const (
	// e = S/b: discrete Laplace of scale b on every number; S in L1
	LawLaplace     = "laplace"
	LawExponential = "exponential" // e = 2S/b: P(option) ~ exp(score/b)
	// e = 4S/b: discrete Laplace of scale b on every score, b/2 on the threshold
	LawAboveThreshold = "above threshold"
	// With a threshold's delta as well:
	// e = S/b: discrete Laplace of scale b on every number, cut at a public bound; S in L1
	LawTruncated = "truncated laplace"
	// e = S/b: a test and a cut exponential mechanism, see SelectLocal
	LawLocal = "local exponential"
)

// Laplace measures counts with pure privacy loss epsilon: epsilon-DP for the whole measurement,
// whatever the number of leaves. It is charged convert.MuOfPure(epsilon)^2; convert.PureOfMu is the
// way back.
//
// Answer: the exact counts plus independent discrete Laplace noise P(j) ~ exp(-g |j|), g =
// epsilon/S rounded down, S the L1 sensitivity. Sigma is the sd of that noise.
//
// Theorem: for neighbours the exact answers a, a' are integer vectors with |a-a'|_1 <= S. The
// answer r has probability proportional to exp(-g |r-a|_1) and exp(-g |r-a'|_1), with the same
// constant, and | |r-a|_1 - |r-a'|_1 | <= S: the ratio is at most exp(gS) <= exp(epsilon). Whatever
// is epsilon-DP is MuOfPure(epsilon)-GDP, which is what the session's filter adds up.
//
// Source: [CKS20] Algorithm 2 of the paper on the discrete Gaussian; [KSSU19] Section A.2 of the
// restatement.
func Laplace(a *core.Allotment, step string, q query.Sum, epsilon float64) (core.Answer, error) {
	q, err := core.Asked(a, q)
	if err != nil {
		return core.Answer{}, err
	}
	sensitivity := core.Grouped(a, l1.Of(q, a.Session().Relation()))
	if !(sensitivity > 0) || math.IsInf(sensitivity, 0) {
		return core.Answer{}, fmt.Errorf("kernel: step %q: want a query with an L1 sensitivity, such as counts, got %q", step, q.Kind())
	}
	rate, err := pure.Rate(step, epsilon, sensitivity)
	if err != nil {
		return core.Answer{}, err
	}
	line := core.Measurement{Sensitivity: sensitivity, Noise: privacy.DivUp(1, rate), Mu: convert.MuOfPure(epsilon), Law: LawLaplace}
	values, err := core.Line(a, step, q, line, false, func(d *core.Draw) ([]float64, []int64) {
		sums := engine.Sum(d.Engine(), d.Rows(), q)
		values := make([]float64, len(sums))
		for i, v := range sums {
			values[i] = float64(v + pure.Laplace(d, rate))
		}
		return values, sums
	})
	if err != nil {
		return core.Answer{}, err
	}
	return core.Answer{Values: values, Sigma: 1 / (math.Sqrt2 * math.Sinh(rate/2))}, nil
}
