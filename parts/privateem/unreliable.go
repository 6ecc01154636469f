package privateem

import (
	"math"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel/query"
)

// Utility constants of components whose covariances are mostly noise, guesses except for blur.
const (
	// A covariance in noise is too narrow in some direction: it is made wider by blur times the
	// square of its relative spectral noise, and by mostBlur at most. Chosen on gvhd_flow,
	// lifesci_pcs and made-up tables, by likelihood.
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

// Inflate makes covariances as wide as their noise leaves it likely.
func (r *Rounds) Inflate() {
	for j, c := range r.Components {
		r.Components[j].Cov = symmetric.Scaled(1+math.Min(blur*math.Pow(c.Sigma*r.spectral(), 2), mostBlur), c.Cov)
	}
}
