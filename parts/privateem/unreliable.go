package privateem

import (
	"math"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel/query"
)

// Utility constants of components whose covariances are mostly noise, guesses except for blur.
const (
	// A covariance in noise is too narrow in some direction: its diagonal counts beside it, blur
	// times the square of its relative spectral noise as much, and mostBlur at most. blur was
	// chosen on gvhd_flow, lifesci_pcs and made-up tables, by likelihood, when covariances were
	// made wider in all directions; of (.2, 1), (.2, 4) and (.6, 4) the first was the most likely
	// by .013 to .024 nats on 70 made-up tables (2026-11-30).
	blur, mostBlur = .2, 1.0
	// a covariance is unreliable if it has more relative spectral noise than this. A guess.
	hazy = 1.0
)

// spectral returns about the spectral norm of noise with entries of sd 1.
func (r *Rounds) spectral() float64 {
	if r.Form != query.FullForm {
		return 2
	}
	return math.Sqrt(2 * float64(r.Space.Dim()))
}

// Shrink draws covariances towards their diagonals, the more the noisier they are. Each column
// keeps its variance: making all of the covariance wider cost likelihood, and columns their sds.
func (r *Rounds) Shrink() {
	for j, c := range r.Components {
		part := math.Min(blur*math.Pow(c.Sigma*r.spectral(), 2), mostBlur)
		r.Components[j].Cov = symmetric.Of(len(c.Mean), func(a, b int) float64 {
			if a == b {
				return c.Cov.At(a, a)
			}
			return c.Cov.At(a, b) / (1 + part)
		})
	}
}
