package gaussian

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/parts/component"
)

// A last release of moments, as its errors are predicted: for a Gaussian and a perfect
// preconditioner, whose steps have information of their own about all but the scale.
type last struct {
	relation privacy.Relation
	d        int
	rows, mu float64
	// information is 1 over the variance of each coordinate of the covariance; about the mean's it
	// is half as much.
	information float64
	// completed: it is of the completed form, and the number of rows that it is divided by has the
	// relative variance count2 before its own count.
	completed bool
	count2    float64
}

// last returns the last release with all that is left, by the completed form.
func (f fit) last(d int, rows, information float64) last {
	return last{f.Problem.Relation, d, rows, f.LeftMu(), information, true, f.CountNoise2(rows)}
}

// hopefulLast returns the clipping radius of the last release with all that is left, and whether
// its covariance may be expected to be released; completed: by the completed form.
func (f fit) hopefulLast(d int, information float64, completed bool) (component.ClippingRadius, bool) {
	last := f.last(d, f.Rows, information)
	last.completed = completed
	best := last.bestRadius2()
	shape, size := last.variances(best.R2, best.Lift)
	return best, hopeful(d, f.Rows, shape, size)
}

const hiddenCovariance = "the noise of what is left would hide the covariance"

// planned returns a last release from public facts, when nothing is counted.
func planned(rel privacy.Relation, d int, rows, mu float64) last {
	return last{relation: rel, d: d, rows: rows, mu: mu, completed: true, count2: math.Inf(1)}
}

// predict returns the expected square of the Frobenius error of the covariance and of the
// Mahalanobis error of the mean.
func (l last) predict(r2, lift float64) (cov, mean float64) {
	c, k := component.ClippedGaussian(l.d, r2), float64(l.d)
	shape, size := l.variances(r2, lift)
	cov = (k*(k+1)/2-1)*shape + size
	seen := c.A1 * c.A1 * lift * r2
	if l.completed {
		seen += c.C * c.C
	}
	mean = k * (c.A/(l.rows*c.A1*c.A1) + 1/(2*seen/l.noise2(r2, lift)+2*l.information))
	return cov, mean
}

// noise2 returns the variance of the noise of a diagonal entry, as a mean.
func (l last) noise2(r2, lift float64) float64 {
	return component.ClippedNoise2(l.relation, l.rows, l.mu, r2, lift)
}

// variances returns those of a coordinate of the covariance without its trace, of which there are
// d(d+1)/2 - 1, and of its trace over sqrt d.
func (l last) variances(r2, lift float64) (shape, size float64) {
	c, sg2 := component.ClippedGaussian(l.d, r2), l.noise2(r2, lift)
	trace := sg2
	if l.completed {
		corner := lift * r2 * lift * r2 / sg2 // 1 over the relative variance of its own count
		_, trace = c.RestPart(sg2, 1/(1/l.count2+corner))
		trace /= float64(l.d)
	}
	gain := c.TraceGain()
	return 2*c.V/(l.rows*c.B1*c.B1) + 1/(c.B1*c.B1/sg2+l.information), (c.VM/l.rows + trace) / (gain * gain)
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
	if !(degrees > 0 && degrees <= math.MaxFloat64) { // nothing is left to be spent, or the noise has no end
		return false
	}
	largest := 2 * mathext.GammaIncRegCompInv(degrees/2, farOffChance) * mean / degrees
	limit := farOff
	if d == 1 {
		limit = farOffAlone
	}
	return largest <= math.Max(limit*limit*k*(k+1)/rows, tolerable*tolerable*k)
}

// bestRadius2 chooses R^2 among 60 geometric values up to d+6 sqrt d+25, and b^2/R^2, such that the
// predicted errors are least. At least a third of the rows are within the radius: with fewer the
// clipped trace hardly tells the scale, and in 50 columns the inversion does not find it.
func (l last) bestRadius2() component.ClippingRadius {
	k := float64(l.d)
	return component.CheapestRadius(l.d, geometric(math.Max(.3*k+.5, k-math.Sqrt(k)/2), k+6*math.Sqrt(k)+25, 60), l.predict)
}

// geometric returns the n numbers from low to high.
func geometric(low, high float64, n int) (values []float64) {
	for i := range n {
		values = append(values, low*math.Pow(high/low, float64(i)/float64(n-1)))
	}
	return values
}
