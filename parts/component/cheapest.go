package component

import (
	"math"

	"github.com/gauze-dp/gauze/kernel/privacy"
)

// A ClippingRadius is R^2 and b^2/R^2 of a release of clipped moments, and the squared errors that
// are expected of it: of the covariance in Frobenius norm and of the mean, for rows of covariance
// I.
type ClippingRadius struct{ R2, Lift, Cov, Mean float64 }

// meanWeight is the weight of the mean's relative error, compared with the covariance's. A guess.
const meanWeight = .15

// CheapestRadius returns the clipping with the least errors, relative to the non-private ones, in d
// columns and with one of the radii: a function of public or released numbers, as errors is. It is
// zero if errors are numbers nowhere.
//
// Source: [TYLERPRESS] Section 4.3. Differs: b^2/R^2 is chosen too (the source has .2), which the
// mean's error decides.
func CheapestRadius(d int, radii2 []float64, errors func(r2, lift float64) (cov, mean float64)) (best ClippingRadius) {
	k, least := float64(d), math.Inf(1)
	for _, r2 := range radii2 {
		for _, lift := range [...]float64{.05, .1, .2} {
			cov, mean := errors(r2, lift)
			if e := cov/(k*(k+1)) + meanWeight*mean/k; e < least {
				best, least = ClippingRadius{r2, lift, cov, mean}, e
			}
		}
	}
	return best
}

// ClippedNoise2 returns the square of the noise sd of a diagonal second moment, as a mean over the
// rows, at radius R and loss mu: 2(R^2+b^2)^2/(n mu)^2, or half of it under add-or-remove-one; lift
// is b^2/R^2.
func ClippedNoise2(rel privacy.Relation, rows, mu, r2, lift float64) float64 {
	s := (1 + lift) * r2 / (rows * mu)
	if rel == privacy.ReplaceOne {
		s *= math.Sqrt2
	}
	return s * s
}
