// Package pure brings mechanisms with pure losses to the kernel, which only the algorithms that
// papers print use: Laplace noise, the exponential mechanism ([Select]), the sparse vector
// technique ([AboveThreshold]), an exponential mechanism behind a test of locality ([SelectLocal]),
// histograms with truncated noise ([TruncatedHistogram], [TruncatedSpacings]), and one masked block
// estimate that most others are close to ([ReleasePopular]).
package pure

import (
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/kernel/internal/core"
	"github.com/gauze-dp/gauze/kernel/internal/noise"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// maxEpsilon bounds a pure step: package privacy's bounds on its own errors hold up to it.
const maxEpsilon = 1e7

// rateOf returns epsilon/sensitivity, rounded down; an error if the samplers cannot draw at that
// rate. It sees public numbers only.
func rateOf(step string, epsilon, sensitivity float64) (float64, error) {
	if epsilon == 0 { // privacy.PureOfMu of a spent sub-budget
		return 0, fmt.Errorf("kernel: step %q: want a positive epsilon, got 0: %w", step, core.ErrExhausted)
	}
	if !(epsilon > 0 && epsilon <= maxEpsilon) {
		return 0, fmt.Errorf("kernel: step %q: want an epsilon in (0, %g], got %v", step, maxEpsilon, epsilon)
	}
	rate := privacy.DivDown(epsilon, sensitivity)
	if !(rate >= 4*noise.MinRate) { // AboveThreshold draws at a quarter of it
		return 0, fmt.Errorf("kernel: step %q: epsilon = %v is too small to draw noise for; give it a larger share or ask for a larger epsilon",
			step, epsilon)
	}
	return rate, nil
}

// leastTruncated keeps supports below 2^46, whatever the budget: numbers that float64 can count. No
// realistic use comes near it.
const leastTruncated = 0x1p-20

// drawLaplace draws j with probability proportional to exp(-rate |j|).
func drawLaplace(d *core.Draw, rate float64) int64 {
	factor := d.Factor()
	if factor == 0 {
		return 0
	}
	return noise.DiscreteLaplace(d.Source(), rate/factor)
}

// supportOf returns the least A >= d, rounded up, with P(Z > A-d) <= exp(logSlack) for P(Z = z) ~
// exp(-rate |z|), |z| <= A, and an integer d > 0: e^(rate A) >= (2 + (e^(rate d) -
// 1)/e^logSlack)/(e^rate + 1), in logarithms, with room for their rounding many times over.
func supportOf(rate, d, logSlack float64) int64 {
	softplus := func(x float64) float64 { return math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }
	x := rate * d
	excess := x + math.Log(-math.Expm1(-x)) - logSlack // ln of (e^x - 1)/slack
	log := math.Ln2 + softplus(excess-math.Ln2) - softplus(rate)
	return int64(math.Max(d, math.Ceil((log+0x1p-40*(x-logSlack+rate+4))/rate)))
}

// drawTruncated draws j with probability proportional to exp(-rate |j|) where |j| <= most.
func drawTruncated(d *core.Draw, rate float64, most int64) int64 {
	factor := d.Factor()
	if factor == 0 {
		return 0
	}
	return noise.TruncatedLaplace(d.Source(), rate/factor, most)
}
