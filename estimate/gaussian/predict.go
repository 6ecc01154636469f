package gaussian

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/parts/clip"
)

// noise2 is the square of the noise sd of a diagonal second moment, as a mean over the rows, at
// radius R and loss mu: 2(R^2+b^2)^2/(n mu)^2, or half of it under add-or-remove-one; lift is
// b^2/R^2.
func noise2(rel privacy.Relation, rows, mu, r2, lift float64) float64 {
	s := (1 + lift) * r2 / (rows * mu)
	if rel == privacy.ReplaceOne {
		s *= math.Sqrt2
	}
	return s * s
}

// predict is the expected square of the Frobenius error of the covariance and of the Mahalanobis
// error of the mean, for a Gaussian and a perfect preconditioner, whose steps have information of
// their own about all but the scale: 1 over the variance of each coordinate of the covariance, half
// as much about the mean's.
func predict(rel privacy.Relation, d int, rows, mu, r2, lift, information float64) (cov, mean float64) {
	c, k := clip.Gaussian(d, r2), float64(d)
	shape, size := variances(rel, d, rows, mu, r2, lift, information)
	cov = (k*(k+1)/2-1)*shape + size
	mean = k * (c.A/(rows*c.A1*c.A1) + 1/(c.A1*c.A1*2*lift*r2/noise2(rel, rows, mu, r2, lift)+2*information))
	return cov, mean
}

// variances are those of a coordinate of the covariance without its trace, of which there are
// d(d+1)/2 - 1, and of its trace over sqrt d.
func variances(rel privacy.Relation, d int, rows, mu, r2, lift, information float64) (shape, size float64) {
	c := clip.Gaussian(d, r2)
	sg2 := noise2(rel, rows, mu, r2, lift)
	trace := c.B1 + float64(d)*c.B2
	return 2*c.V/(rows*c.B1*c.B1) + 1/(c.B1*c.B1/sg2+information), (c.VM/rows + sg2) / (trace * trace)
}

const (
	// A model is released only if its error is beyond farOff times the sampling error with at most
	// this chance, as far as can be predicted; a single variance may be a little farther off.
	// Errors that are small in themselves do no harm: tolerable is the covariance's relative error
	// in Frobenius norm over sqrt d; .3 is a variance of every column that is off by 30 %.
	farOffChance        = 1e-3
	farOff, farOffAlone = 4.0, 5.0
	tolerable           = .3
)

// hopeful reports whether the covariance's error may be expected to stay below farOff times the
// sampling error, or tolerable: a public function of released numbers. The error's square is a sum
// of squares of normal numbers; it is taken for a multiple of chi-square with the same mean and
// variance.
func hopeful(d int, rows, shape, size float64) bool {
	k := float64(d)
	coordinates := k*(k+1)/2 - 1
	mean, spread := coordinates*shape+size, coordinates*shape*shape+size*size
	degrees := mean * mean / spread
	largest := 2 * mathext.GammaIncRegCompInv(degrees/2, farOffChance) * mean / degrees
	limit := farOff
	if d == 1 {
		limit = farOffAlone
	}
	return largest <= math.Max(limit*limit*k*(k+1)/rows, tolerable*tolerable*k)
}

// meanWeight is how much the relative error of the mean counts beside that of the covariance when
// the radius is chosen.
const meanWeight = .15

// bestRadius2 chooses R^2 among 60 geometric values in [.3d+.5, d+6 sqrt d+25], and b^2/R^2, such
// that the predicted squared errors, relative to the non-private ones, are least: a function of
// public or released numbers. information is that of predict.
//
// Source: [TYLERPRESS] Section 4.3. Differs: b^2/R^2 is chosen too (the source has .2), which the
// mean's error decides.
func bestRadius2(rel privacy.Relation, d int, rows, mu, information float64) (r2, lift float64) {
	k := float64(d)
	low, high := .3*k+.5, k+6*math.Sqrt(k)+25
	least := math.Inf(1)
	const grid = 60
	for i := range grid {
		x := low * math.Pow(high/low, float64(i)/(grid-1))
		for _, l := range [...]float64{.05, .1, .2} {
			cov, mean := predict(rel, d, rows, mu, x, l, information)
			if e := cov/(k*(k+1)) + meanWeight*mean/k; e < least {
				r2, lift, least = x, l, e
			}
		}
	}
	return r2, lift
}

// consistency is c with E[(nu+d) q/(nu c + q)] = d for q ~ chi-square with d degrees: at the fixed
// point of the steps the covariance of a Gaussian is I/c in the working coordinates.
func consistency(d int, nu float64) float64 {
	k := float64(d)
	// Simpson's rule over x = sqrt q, whose density is proportional to x^(d-1) exp(-x^2/2).
	const intervals = 2000
	low, high := math.Max(0, math.Sqrt(k)-12), math.Sqrt(k)+12
	h := (high - low) / intervals
	mode := math.Sqrt(math.Max(k-1, 0))
	logPeak := -mode * mode / 2
	if k > 1 {
		logPeak += (k - 1) * math.Log(mode)
	}
	var q, weight [intervals + 1]float64
	total := 0.0
	for i := range q {
		x := low + float64(i)*h
		q[i] = x * x
		l := -q[i]/2 - logPeak
		if k > 1 {
			l += (k - 1) * math.Log(x)
		}
		weight[i] = math.Exp(l) * simpson(i, intervals)
		total += weight[i]
	}
	lo, hi := 1e-9, 1.0 // at c = 1 the expectation is below d
	for range 60 {
		c := (lo + hi) / 2
		sum := 0.0
		for i, w := range weight {
			if q[i] > 0 {
				sum += w * (nu + k) * q[i] / (nu*c + q[i])
			}
		}
		if sum/total > k {
			lo = c
		} else {
			hi = c
		}
	}
	return (lo + hi) / 2
}

func simpson(i, intervals int) float64 {
	switch {
	case i == 0 || i == intervals:
		return 1
	case i%2 == 1:
		return 4
	default:
		return 2
	}
}
