// Package parts holds what every building block of an estimator uses: the loss of a part of the
// budget (Mu), one query for each leaf of a partition (AskLeaves), and loops (Map, Sum, Bisect and
// others). The blocks themselves are its subfolders.
package parts

import "math"

// spare leaves room for the rounding errors of a fit's shares: the kernel rounds losses up and
// refuses what does not fit.
const spare = 1e-12

// Mu returns the mu of a Gaussian measurement that may cost mu2, and hardly costs less.
func Mu(mu2 float64) float64 { return math.Sqrt(mu2) * (1 - spare) }
