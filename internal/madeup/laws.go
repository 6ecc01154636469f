package madeup

import (
	"math"
	"math/rand/v2"
)

// A law fills w with uncorrelated entries of mean 0 and variance 1, and says whether the row is
// stray: one that the truth leaves aside.
type law func(w []float64, rng *rand.Rand) (stray bool)

// laws by name.
var laws = map[string]law{
	"":             gaussian,
	"gaussian":     gaussian,
	"t3":           multivariateT(3),
	"t5":           multivariateT(5),
	"t10":          multivariateT(10),
	"laplace":      each(func(rng *rand.Rand) float64 { return (rng.ExpFloat64() - rng.ExpFloat64()) / math.Sqrt2 }),
	"exponential":  each(func(rng *rand.Rand) float64 { return rng.ExpFloat64() - 1 }),
	"uniform":      each(func(rng *rand.Rand) float64 { return math.Sqrt(3) * (2*rng.Float64() - 1) }),
	"lognormal":    each(standard(lognormal(1))),
	"zeros50":      each(standard(inflated(.5))),
	"zeros80":      each(standard(inflated(.8))),
	"zeros90":      each(standard(inflated(.9))),
	"lognormal80":  each(standard(lognormal(.2))),
	"atom25":       atom(.25),
	"atom40":       atom(.40),
	"atom60":       atom(.60),
	"column90":     columnOfZeros(.9),
	"stray2x1000":  strayed(.02, 1000),
	"stray5x1000":  strayed(.05, 1000),
	"stray10x1000": strayed(.10, 1000),
	"stray10x10":   strayed(.10, 10),
}

func gaussian(w []float64, rng *rand.Rand) bool {
	for i := range w {
		w[i] = rng.NormFloat64()
	}
	return false
}

// multivariateT has more than two degrees of freedom, so that there is a covariance.
func multivariateT(degrees float64) law {
	return func(w []float64, rng *rand.Rand) bool {
		s := math.Sqrt((degrees-2)/degrees) * tail(degrees, rng)
		for i := range w {
			w[i] = s * rng.NormFloat64()
		}
		return false
	}
}

// each draws the entries independently.
func each(draw func(*rand.Rand) float64) law {
	return func(w []float64, rng *rand.Rand) bool {
		for i := range w {
			w[i] = draw(rng)
		}
		return false
	}
}

// A raw is a variable with its mean and standard deviation.
type raw struct {
	draw     func(*rand.Rand) float64
	mean, sd float64
}

// standard takes a variable to mean 0 and variance 1; equal values stay equal.
func standard(r raw) func(*rand.Rand) float64 {
	return func(rng *rand.Rand) float64 { return (r.draw(rng) - r.mean) / r.sd }
}

// inflated returns the law that is 0 with the probability zero, else Gaussian with mean 5 and
// variance 1.
func inflated(zero float64) raw {
	const centre = 5
	rest := 1 - zero
	return raw{func(rng *rand.Rand) float64 {
		if rng.Float64() < zero {
			return 0
		}
		return centre + rng.NormFloat64()
	}, rest * centre, math.Sqrt(rest*(1+centre*centre) - rest*rest*centre*centre)}
}

// lognormal returns the law that is exp(N(0, 1)) with the probability present, else 0.
func lognormal(present float64) raw {
	return raw{func(rng *rand.Rand) float64 {
		if present < 1 && rng.Float64() >= present {
			return 0
		}
		return math.Exp(rng.NormFloat64())
	}, present * math.Exp(.5), math.Sqrt(present*math.Exp(2) - present*present*math.E)}
}

// atom puts a part of the rows on one point, 2 standard deviations from the mean of the others
// along the first axis.
func atom(share float64) law {
	const at = 2
	rest := 1 - share
	first, others := math.Sqrt(rest+share*rest*at*at), math.Sqrt(rest)
	return func(w []float64, rng *rand.Rand) bool {
		here := rng.Float64() < share
		for i := range w {
			z, mean, sd := rng.NormFloat64(), 0.0, others
			if here {
				z = 0
			}
			if i == 0 {
				mean, sd = share*at, first
				if here {
					z = at
				}
			}
			w[i] = (z - mean) / sd
		}
		return false
	}
}

// columnOfZeros returns a Gaussian law whose first entry is 0 in a part of the rows.
func columnOfZeros(share float64) law {
	sd := math.Sqrt(1 - share)
	return func(w []float64, rng *rand.Rand) bool {
		gaussian(w, rng)
		w[0] /= sd
		if rng.Float64() < share {
			w[0] = 0
		}
		return false
	}
}

// strayed returns a Gaussian law with a part of the rows far times as far out.
func strayed(share, far float64) law {
	return func(w []float64, rng *rand.Rand) bool {
		stray := rng.Float64() < share
		gaussian(w, rng)
		if stray {
			for i := range w {
				w[i] *= far
			}
		}
		return stray
	}
}
