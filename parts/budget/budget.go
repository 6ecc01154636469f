// Package budget turns a part of a session's budget, in mu^2, into what one measurement may lose.
package budget

import "math"

// spare leaves room for the rounding errors of a fit's shares: the kernel rounds losses up and
// refuses what does not fit.
const spare = 1e-12

// Mu is the mu of a Gaussian measurement that may cost mu2, and hardly costs less.
func Mu(mu2 float64) float64 { return math.Sqrt(mu2) * (1 - spare) }
