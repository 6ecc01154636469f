// Package popular releases one estimate of secret blocks that most of them are close to, behind a
// mask: what the black-box reduction does as it was printed. Only the literal algorithm uses it.
package popular

import (
	"errors"
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/kernel/blocks"
	"github.com/gauze-dp/gauze/kernel/blocks/internal/agree"
	"github.com/gauze-dp/gauze/kernel/blocks/mask"
	"github.com/gauze-dp/gauze/kernel/blocks/popular/metric"
	"github.com/gauze-dp/gauze/kernel/blocks/stable"
	"github.com/gauze-dp/gauze/kernel/internal/core"
	"github.com/gauze-dp/gauze/kernel/internal/pure"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/privacy/convert"
)

// Kind is what Release is called in plans and certificates.
const Kind = "of blocks: popular estimate"

// Law is the law of the test, as Measurement.Law names it. In the place of a mu it has
// convert.PureCurve(S/b): discrete Laplace of scale b on a count of sensitivity S, cut at a public
// bound.
const Law = "popularity test"

// A Closeness is what a plan's step has to bring for Release: what the mask costs, what the test
// adds to delta as it stands, and its epsilon, which is counted in the plan's Rényi curve.
type Closeness struct {
	Mask  mask.Parameters
	Delta float64 // in (0, 1)
	Pure  float64
}

// Validate reports numbers that make no sense.
func (e Closeness) Validate() error {
	if !(e.Pure > 0 && e.Pure <= pure.MaxEpsilon) {
		return errors.Join(e.Mask.Validate(), agree.ValidDelta(e.Delta), fmt.Errorf("want a pure loss in (0, %g], got %v", pure.MaxEpsilon, e.Pure))
	}
	return errors.Join(e.Mask.Validate(), agree.ValidDelta(e.Delta))
}

// Loss is the curve of the mask and of the pure loss, and the delta of the test and of the mask's
// precision: see blocks.Stable.
func (e Closeness) Loss(epsilon float64) (privacy.Curve, float64) {
	return e.Mask.Curve().Compose(convert.PureCurve(e.Pure)), agree.Added(e.Delta, epsilon)
}

// Stated is the fields.
func (e Closeness) Stated() (mask any, delta, pure float64) { return e.Mask, e.Delta, e.Pure }

// Popularity says which mask Release puts on a popular estimate: it covers estimates within
// dist_PARAM Mask.Gamma of one another, and those within Radius count as friends.
type Popularity struct{ Mask mask.Parameters }

// Kind is the constant Kind.
func (h Popularity) Kind() string { return Kind }

// Radius is r/(2z), for z = 3/2 and r = Mask.Gamma less what the rounding of distances and of a
// root made triangular can come to.
func (h Popularity) Radius() float64 { return privacy.DivDown(privacy.SubDown(h.Mask.Gamma, 1e-5), 3) }

// Threshold is 4 t^2/5 + A for t blocks: what the count of friends has to reach, and A, the bound
// of its noise.
func (h Popularity) Threshold(t int, epsilon, delta float64) (threshold, support int64) {
	sensitivity := 2 * float64(t-1)
	support = pure.Support(privacy.DivDown(epsilon, sensitivity), sensitivity, math.Log(delta))
	return (4*int64(t)*int64(t)+4)/5 + support, support
}

// Release runs the learner on t fresh secret blocks. If a noisy test says that most estimates are
// close to most, it releases a popular one, masked: k components in random order, whose weights
// need not sum to 1. If not, ok is false, a released outcome like any other.
//
// With q_i the number of blocks whose estimate is within Radius = r/(2z) of that of block i in
// dist_PARAM, itself included (a failed one is far from all others), c the sum of the q_i, D =
// 2(t-1), and e1 = epsilon and d1 the Pure loss and the Delta of the plan's step:
//
//	Z is discrete Laplace of rate e1/D, cut to [-A, A], A >= D such that P(Z > A-D) <= d1;
//	if c + Z < 4t^2/5 + A, fail; else mask the estimate of the first block with q_i > 3t/5.
//
// Theorem. If the mask is (e2, d2)-DP for estimates within r in dist_PARAM, Release is (e1+e2,
// d1+d2)-DP. More: for neighbours X and X' it can be replaced by a step whose Rényi divergence is
// at most that of a pure loss e1 plus the mask's, such that each side's law of its outcome is at
// least 1-d1 times that of the replacement's. So it is paid for by Extra and AddedDelta in the
// sense of privacy.Calibrate, and costs no mu^2.
//
// Proof: popular_proof.md, steps 1 to 5.
//
// Source: [PPE] Algorithm 1; Sections A2 and A4 of the restatement.
// Differs: noise and threshold are integers, and the mask is the tight one.
func Release(a *core.Allotment, step string, b blocks.Blocks, how Popularity, epsilon float64) (components []stable.Component, ok bool, err error) {
	m, t := how.Mask, b.Count
	if err := m.Validate(); err != nil {
		return nil, false, fmt.Errorf("kernel: step %q: %w", step, err)
	}
	// Gamma is at most 1
	if t < 5 || t > 1<<16 || m.Components > 64 || m.Dimension > 20 || !(how.Radius() > 0) {
		return nil, false, fmt.Errorf("kernel: step %q: want 5 to 2^16 blocks and a mask for up to 64 components and 20 columns, of Gamma above 1e-5, got %d blocks and %+v",
			step, t, m)
	}
	sensitivity := 2 * float64(t-1)
	rate, err := pure.Rate(step, epsilon, sensitivity)
	if err == nil && rate < pure.LeastTruncated {
		err = fmt.Errorf("kernel: step %q: want an epsilon of at least %v, got %v", step, pure.LeastTruncated*sensitivity, epsilon)
	}
	if err != nil {
		return nil, false, err
	}
	line := core.Measurement{Sensitivity: sensitivity, Noise: privacy.DivUp(1, rate), Law: Law}
	secret, err := blocks.Secret(a, b)
	if err != nil {
		return nil, false, err
	}
	return agree.Masked(a, step, how, secret, how.test(t, rate, epsilon, line))
}

// test is that of Popular on t blocks, whose line of the certificate is given.
func (h Popularity) test(t int, rate, epsilon float64, line core.Measurement) agree.Test {
	m := h.Mask
	return agree.Test{
		Estimates: t, Components: m.Components, Columns: m.Dimension,
		Line: line, Mask: core.Measurement{Law: blocks.LawMasked, Sensitivity: m.Gamma, Noise: m.EtaCov, Mask: m},
		Covered: func(e core.Extra) error {
			of, ok := e.(Closeness)
			if !ok || of.Mask != m {
				return fmt.Errorf("want a plan with a mask that covers %+v, got %+v", m, e)
			}
			if !(of.Pure >= epsilon) {
				return fmt.Errorf("want a plan with a pure loss of %v, got %v", epsilon, of.Pure)
			}
			return nil
		},
		Run: func(d *core.Draw, estimates [][]stable.Component) (bool, int64, func() []stable.Component) {
			friends, sum := metric.Friends(estimates, h.Radius()), int64(0)
			for _, q := range friends {
				sum += int64(max(q, 1)) // a failed block is its own only friend
			}
			threshold, support := h.Threshold(t, epsilon, d.Step.Extra.(Closeness).Delta)
			if d.Factor() == 0 {
				threshold -= support
			}
			return sum+pure.Truncated(d, rate, support) >= threshold, sum, func() []stable.Component {
				for i, q := range friends {
					if 5*q > 3*t {
						return stable.MaskedParameters(estimates[i], m.EtaWeight, m.EtaMean, m.EtaCov, d.Normal)
					}
				}
				return nil
			}
		},
	}
}
