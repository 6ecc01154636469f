// Package pure is what mechanisms with pure losses have in common: the rate of their noise, its
// support where it is cut, and how it is drawn.
package pure

import (
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/kernel/internal/core"
	"github.com/gauze-dp/gauze/kernel/internal/noise/laplace"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// MaxEpsilon bounds a pure step: package privacy's bounds on its own errors reach that far.
const MaxEpsilon = 1e7

// Rate is epsilon/sensitivity, rounded down; an error if the samplers cannot draw at that rate.
// It sees public numbers only.
func Rate(step string, epsilon, sensitivity float64) (float64, error) {
	if epsilon == 0 { // convert.PureOfMu of an allotment that is spent
		return 0, fmt.Errorf("kernel: step %q: want a positive epsilon, got 0: %w", step, core.ErrExhausted)
	}
	if !(epsilon > 0 && epsilon <= MaxEpsilon) {
		return 0, fmt.Errorf("kernel: step %q: want an epsilon in (0, %g], got %v", step, MaxEpsilon, epsilon)
	}
	rate := privacy.DivDown(epsilon, sensitivity)
	if !(rate >= 4*laplace.MinRate) { // AboveThreshold draws at a quarter of it
		return 0, fmt.Errorf("kernel: step %q: epsilon = %v is too small to draw noise for; give it a larger share or ask for a larger epsilon",
			step, epsilon)
	}
	return rate, nil
}

// LeastTruncated keeps supports below 2^46, whatever the budget: numbers that float64 can count.
// Any use is far from it.
const LeastTruncated = 0x1p-20

// Laplace draws j with probability proportional to exp(-rate |j|).
func Laplace(d *core.Draw, rate float64) int64 {
	factor := d.Factor()
	if factor == 0 {
		return 0
	}
	return laplace.DiscreteLaplace(d.Source(), rate/factor)
}

// Support is the least A >= d, rounded up, with P(Z > A-d) <= exp(logSlack) for P(Z = z) ~
// exp(-rate |z|), |z| <= A, and an integer d > 0: e^(rate A) >= (2 + (e^(rate d) -
// 1)/e^logSlack)/(e^rate + 1), in logarithms, with room for their rounding many times over.
func Support(rate, d, logSlack float64) int64 {
	softplus := func(x float64) float64 { return math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }
	x := rate * d
	excess := x + math.Log(-math.Expm1(-x)) - logSlack // ln of (e^x - 1)/slack
	log := math.Ln2 + softplus(excess-math.Ln2) - softplus(rate)
	return int64(math.Max(d, math.Ceil((log+0x1p-40*(x-logSlack+rate+4))/rate)))
}

// Truncated draws j with probability proportional to exp(-rate |j|) where |j| <= most.
func Truncated(d *core.Draw, rate float64, most int64) int64 {
	factor := d.Factor()
	if factor == 0 {
		return 0
	}
	return laplace.TruncatedLaplace(d.Source(), rate/factor, most)
}
