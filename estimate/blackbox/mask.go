package blackbox

import (
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/parts"
)

// leastGamma is the least movement of a mask that is of use. A guess.
const leastGamma = 1e-4

// lifted returns D, the dimension of a component as one matrix.
func lifted(p estimate.Problem) int { return p.Columns + 1 }

// eta returns the mask's noise.
func (t Tuning) eta(p estimate.Problem) float64 {
	return min(t.MostEta, t.Eta/math.Sqrt(float64(lifted(p))))
}

// maskOf returns the mask that its part of the budget pays for: with the largest movement that
// leaves the Gaussian steps the rest.
func (t Tuning) maskOf(p estimate.Problem) privacy.CovarianceMask {
	share, _ := t.divide(components(p))
	delta := p.Budget.Delta * (1 - deltaPart) * (1 - spared)
	pays := func(mu2 float64, extra privacy.Curve) bool {
		return extra.Compose(privacy.GaussianCurve(math.Sqrt(mu2))).Epsilon(delta) <= p.Budget.Epsilon
	}
	all, _ := parts.Bisect(0, math.Pow(2+p.Mu, 2), 40, func(mu2 float64) bool { return pays(mu2, privacy.GaussianCurve(0)) })
	m := privacy.CovarianceMask{Dimension: lifted(p), Eta: t.eta(p)}
	m.Gamma, _ = parts.Bisect(0, 2, 40, func(gamma float64) bool {
		return gamma <= leastGamma/2 || pays((1-share)*all, privacy.CovarianceMask{Dimension: m.Dimension, Eta: m.Eta, Gamma: gamma}.Curve())
	})
	return m
}

// testMu returns the loss of the test, a part of the Gaussian steps' mu.
func (t Tuning) testMu(k int, mu2 float64) float64 {
	_, test := t.divide(k)
	return parts.Mu(test * mu2)
}

// gaussianMu2 returns mu^2 of the Gaussian steps beside the mask, as the kernel will calibrate it;
// 0 if it will refuse.
func gaussianMu2(p estimate.Problem, m privacy.CovarianceMask) float64 {
	c, _ := privacy.Calibrate(p.Budget, privacy.Needs{AddedDelta: deltaPart * p.Budget.Delta * (1 + spared), Extra: m.Curve()})
	return float64(c.Cap)
}
