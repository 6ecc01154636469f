package pearson

import (
	"github.com/gauze-dp/gauze/dense"
)

// Utility constants of pursuit.
const (
	pursuitRows  = 20000
	pursuitSteps = 12
)

// pursuits returns the number of directions from which either moment is pursued.
func pursuits(d int) int { return 2 + d/2 }

// pursue turns a direction until the projection's fourth cumulant (power 3) or third (power 2) is
// extreme, by fixed-point steps: u becomes the mean of x <u, x>^power, less 3u for the fourth. Of
// two Gaussians with one covariance, the direction that tells them best apart is extreme for
// either, unless it vanishes.
func pursue(t table, u []float64, power int) []float64 {
	u = append([]float64(nil), u...)
	for range pursuitSteps {
		next := make([]float64, t.d)
		for i := range t.n {
			x := t.row(i)
			y := dense.Dot(u, x)
			f := y * y
			if power == 3 {
				f *= y
			}
			for j, v := range x {
				next[j] += f * v
			}
		}
		for j := range next {
			next[j] /= float64(t.n)
			if power == 3 {
				next[j] -= 3 * u[j]
			}
		}
		unit := appendUnit(nil, next)
		if unit == nil {
			return u
		}
		u = unit[0]
	}
	return u
}
