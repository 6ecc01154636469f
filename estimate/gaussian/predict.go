package gaussian

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/parts/clip"
)

// predict is the expected square of the Frobenius error of the covariance and of the Mahalanobis
// error of the mean, for a Gaussian and a perfect preconditioner, whose steps have information of
// their own about all but the scale: 1 over the variance of each coordinate of the covariance, half
// as much about the mean's.
func predict(rel privacy.Relation, d int, rows, mu, r2, lift, information float64) (cov, mean float64) {
	c, k := clip.Gaussian(d, r2), float64(d)
	shape, size := variances(rel, d, rows, mu, r2, lift, information)
	cov = (k*(k+1)/2-1)*shape + size
	mean = k * (c.A/(rows*c.A1*c.A1) + 1/(c.A1*c.A1*2*lift*r2/clip.Noise2(rel, rows, mu, r2, lift)+2*information))
	return cov, mean
}

// variances are those of a coordinate of the covariance without its trace, of which there are
// d(d+1)/2 - 1, and of its trace over sqrt d.
func variances(rel privacy.Relation, d int, rows, mu, r2, lift, information float64) (shape, size float64) {
	c := clip.Gaussian(d, r2)
	sg2 := clip.Noise2(rel, rows, mu, r2, lift)
	trace := c.B1 + float64(d)*c.B2
	return 2*c.V/(rows*c.B1*c.B1) + 1/(c.B1*c.B1/sg2+information), (c.VM/rows + sg2) / (trace * trace)
}

// How far off a released model may be: guesses.
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

// bestRadius2 chooses R^2 among 60 geometric values in [.3d+.5, d+6 sqrt d+25], and b^2/R^2, such
// that the predicted errors are least. information is that of predict.
func bestRadius2(rel privacy.Relation, d int, rows, mu, information float64) clip.Clipping {
	k := float64(d)
	return clip.Cheapest(d, geometric(.3*k+.5, k+6*math.Sqrt(k)+25, 60), func(r2, lift float64) (cov, mean float64) {
		return predict(rel, d, rows, mu, r2, lift, information)
	})
}

// geometric are n numbers from low to high.
func geometric(low, high float64, n int) (values []float64) {
	for i := range n {
		values = append(values, low*math.Pow(high/low, float64(i)/float64(n-1)))
	}
	return values
}
