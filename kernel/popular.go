package kernel

import (
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/stable"
)

// Popularity says which mask Popular releases a popular estimate with: it covers estimates within
// dist_PARAM Mask.Gamma of one another, and those within Radius count as friends.
type Popularity struct{ Mask privacy.ParameterMask }

// Kind is PopularKind.
func (h Popularity) Kind() string { return PopularKind }

// Radius is r/(2z), for z = 3/2 and r = Mask.Gamma less what the rounding of distances and of a
// root made triangular can come to.
func (h Popularity) Radius() float64 { return privacy.DivDown(privacy.SubDown(h.Mask.Gamma, 1e-5), 3) }

// Threshold is 4 t^2/5 + A for t blocks: what the count of friends has to reach, and A, the bound
// of its noise.
func (h Popularity) Threshold(t int, epsilon, delta float64) (threshold, support int64) {
	sensitivity := 2 * float64(t-1)
	support = supportOf(privacy.DivDown(epsilon, sensitivity), sensitivity, math.Log(delta))
	return (4*int64(t)*int64(t)+4)/5 + support, support
}

// Popular runs the learner on t fresh secret blocks. If a noisy test says that most estimates are
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
// Theorem. If the mask is (e2, d2)-DP for estimates within r in dist_PARAM, Popular is (e1+e2,
// d1+d2)-DP. More: for neighbours X and X' it can be replaced by a step whose Rényi divergence is
// at most that of a pure loss e1 plus the mask's, such that each side's law of its outcome is at
// least 1-d1 times that of the replacement's. So it is paid for by Extra and AddedDelta in the
// sense of privacy.Calibrate, and costs no mu^2.
//
// Proof. Hand over the secret draw, as for Stable; given it, all estimates but that of one block i*
// are the same.
//   - c has sensitivity D: of the pairs (i, i*) and (i*, i), i != i*, each may change by one; (i*,
//     i*) counts always.
//   - If c < 4t^2/5 or c' < 4t^2/5, then that side never passes, Z being at most A, and the other
//     passes with probability at most P(Z > A-D) <= d1. The replacement surely fails.
//   - If both are at least 4t^2/5, let the replacement draw the noisy count given that it lies in
//     both [c-A, c+A] and [c'-A, c'+A]. That has the same probability on both sides, at least 1 -
//     P(Z > A-D), and given it the ratio of the probabilities of any value is at most e^(e1); see
//     TruncatedCells. If it passes: as max q_i >= c/t >= 4t/5, both sides have an anchor, j and j'.
//     Their friends number at least floor(3t/5)+1 each, so they share 2 floor(3t/5) + 2 - t >= 2
//     blocks for t >= 5, of which one, p, is not i*. As dist_PARAM is symmetric, dist(Y_j, Y'_j')
//     <= z (dist(Y_j, Y_p) + dist(Y_p, Y'_j')) <= z 2r/(2z) = r, by the restricted triangle
//     inequality (r/(2z) <= 1). The mask covers that, components matched, and in random order the
//     labels do not show.
//
// (e1+e2, d1+d2) is the same argument with (e2, d2)-close laws after a pass. Both are up to the
// mask's precision, which the plan pays for: see Stable.
//
// Source: [PPE] Algorithm 1; Sections A2 and A4 of the restatement.
// Differs: noise and threshold are integers, and the mask is the tight one.
func (a *Allotment) Popular(step string, b Blocks, how Popularity, epsilon float64) (components []stable.Component, ok bool, err error) {
	s, m, t := a.s, how.Mask, b.Count
	if err := m.Validate(); err != nil {
		return nil, false, fmt.Errorf("kernel: step %q: %w", step, err)
	}
	// Gamma is at most 1
	if t < 5 || t > 1<<16 || m.Components > 64 || m.Dimension > 20 || !(how.Radius() > 0) {
		return nil, false, fmt.Errorf("kernel: step %q: want 5 to 2^16 blocks and a mask for up to 64 components and 20 columns, of Gamma above 1e-5, got %d blocks and %+v",
			step, t, m)
	}
	sensitivity := 2 * float64(t-1)
	rate, err := rateOf(step, epsilon, sensitivity)
	if err == nil && rate < leastTruncated {
		err = fmt.Errorf("kernel: step %q: want an epsilon of at least %v, got %v", step, leastTruncated*sensitivity, epsilon)
	}
	if err != nil {
		return nil, false, err
	}
	line := Measurement{Sensitivity: sensitivity, Noise: privacy.DivUp(1, rate), Law: LawPopular}
	return a.masked(step, how, b, s.popularity(how, t, rate, epsilon, line))
}

// popularity is the test of Popular on t blocks, whose line of the certificate is given.
func (s *Session) popularity(how Popularity, t int, rate, epsilon float64, line Measurement) maskedTest {
	m := how.Mask
	return maskedTest{
		estimates: t, components: m.Components, columns: m.Dimension, pure: epsilon,
		line: line, mask: Measurement{Law: LawMasked, Sensitivity: m.Gamma, Noise: m.EtaCov, Mask: m},
		covered: func(of Mask) bool { return of == Mask(m) },
		run: func(estimates [][]stable.Component, delta float64) (bool, int64, func() []stable.Component) {
			friends, sum := stable.Popularity(estimates, how.Radius()), int64(0)
			for _, q := range friends {
				sum += int64(max(q, 1)) // a failed block is its own only friend
			}
			threshold, support := how.Threshold(t, epsilon, delta)
			if s.noiseless() {
				threshold -= support
			}
			return sum+s.truncatedLaplace(rate, support) >= threshold, sum, func() []stable.Component {
				for i, q := range friends {
					if 5*q > 3*t {
						return stable.MaskedParameters(estimates[i], m.EtaWeight, m.EtaMean, m.EtaCov, s.normal)
					}
				}
				return nil
			}
		},
	}
}
