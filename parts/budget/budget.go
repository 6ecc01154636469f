// Package budget turns a part of a session's budget, in mu^2, into what one measurement may lose.
package budget

import (
	"math"

	"github.com/gauze-dp/gauze/kernel/privacy"
)

// spare leaves room for the rounding errors of a fit's shares: the kernel rounds losses up and
// refuses what does not fit.
const spare = 1e-12

// Mu is the mu of a Gaussian measurement that may cost mu2, and hardly costs less.
func Mu(mu2 float64) float64 { return math.Sqrt(mu2) * (1 - spare) }

// Pure is the epsilon of a pure step that may cost mu2.
func Pure(mu2 float64) float64 { return privacy.PureOfMu(Mu(mu2)) }

// Choice is the epsilon of an exponential mechanism, by its bounded range, that may cost mu2.
func Choice(mu2 float64) float64 { return privacy.BoundedRangeOfMu(Mu(mu2)) }
