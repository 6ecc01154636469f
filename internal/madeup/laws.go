package madeup

import (
	"math"
	"math/rand/v2"
)

// A law fills w with uncorrelated entries of mean 0 and variance 1.
type law func(w []float64, rng *rand.Rand)

// laws by name.
var laws = map[string]law{
	"": gaussian, "gaussian": gaussian, "t3": multivariateT(3), "t5": multivariateT(5), "t10": multivariateT(10), "laplace": laplace,
}

func gaussian(w []float64, rng *rand.Rand) {
	for i := range w {
		w[i] = rng.NormFloat64()
	}
}

func laplace(w []float64, rng *rand.Rand) {
	for i := range w {
		w[i] = (rng.ExpFloat64() - rng.ExpFloat64()) / math.Sqrt2
	}
}

// multivariateT has more than two degrees of freedom, so that there is a covariance.
func multivariateT(degrees float64) law {
	return func(w []float64, rng *rand.Rand) {
		s := math.Sqrt((degrees-2)/degrees) * tail(degrees, rng)
		for i := range w {
			w[i] = s * rng.NormFloat64()
		}
	}
}
