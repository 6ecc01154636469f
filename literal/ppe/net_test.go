package ppe

import (
	"math"
	"testing"

	"github.com/gauze-dp/gauze/kernel/privacy"
)

// netOfThree is fewer points than the net has that Moitra and Valiant's univariate algorithm
// searches for three components, if spaced so that estimates of two blocks a spacing apart are
// friends: within f in the weights, in the means by the components' sds, and by f/2 in the sds. The
// rows are standardised, which settles one mean and one sd: two weights are free, means within 3 of
// the origin, two, and two sds from .1 to 1, and components have no order. The sds of the
// components are at most 1, so that nets in their units are finer.
func netOfThree(f float64) float64 {
	weights, means, sds := 1/(2*f*f), math.Pow(6/f, 2), math.Pow(math.Ln10/(f/2), 2)
	return weights * means * sds / 6
}

// The learner that the source plugs in is not here for three components: at epsilon 20, the largest
// without --force, and n up to 10^6, the search of its net alone takes over 15 minutes, though each
// point took only ten nanoseconds, some 30 additions and multiplications for its first 4k-2 = 10
// moments; and no learner whatever has blocks of 10^6 rows that agree.
func TestNetOfThree(t *testing.T) {
	const perPoint, limit = 10e-9, 15 * 60.
	for _, eps := range []float64{1, 5, 10, 20} {
		for _, n := range []int{10_000, 100_000, 1_000_000} {
			p := problem(privacy.ReplaceOne, 3, 1, n, eps)
			x := Practical().design(p, true)
			points := netOfThree(x.friends())
			seconds := float64(x.t) * points * perPoint
			t.Logf("epsilon %v, n = %d: %d blocks, friends within %.2g: %.2g points, %.2g s; any learner needs %.2g rows",
				eps, n, x.t, x.friends(), points, seconds, x.rowsNeeded(p))
			if seconds < limit || x.rowsNeeded(p) < float64(n) {
				t.Errorf("epsilon %v, n = %d: it runs in %.2g s, and %.2g rows are enough", eps, n, seconds, x.rowsNeeded(p))
			}
		}
	}
}
