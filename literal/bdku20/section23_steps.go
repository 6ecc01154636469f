package bdku20

import (
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// bound2 returns the square of a radius that a standard Gaussian row of d columns exceeds with
// probability at most tail.
//
// Source: [BDKU20] Section 2.1 of the restatement.
func bound2(d int, tail float64) float64 {
	k, l := float64(d), math.Log(1/tail)
	return k + 2*math.Sqrt(k*l) + 2*l
}

// meanRadius returns the radius to clip rows to whose mean lies within r of the centre.
//
// Source: [BDKU20] Section 2.1 of the restatement.
func meanRadius(d int, tail, r float64) float64 {
	g2, l := bound2(d, tail), math.Log(1/tail)
	return math.Min(r+math.Sqrt(g2), math.Sqrt(r*r+2*r*math.Sqrt(2*l)+g2))
}

// A schedule is a problem's budget shared out, and what follows for its errors: public numbers
// only.
type schedule struct {
	c       Constants
	d       int
	replace bool
	mu      float64
	unknown struct{ covariance, mean bool }
	// ratio is the least eigenvalue relative to the largest, reach the bound on the mean in units
	// of the least standard deviation.
	ratio, reach                           float64
	countShare, covarianceShare, meanShare float64
}

func (c Constants) schedule(p estimate.Problem) schedule {
	f := p.Facts
	s := schedule{c: c, d: p.Columns, replace: p.Relation == privacy.ReplaceOne, mu: p.Mu, countShare: c.CountShare,
		ratio: f.Eigenvalues[0] / f.Eigenvalues[1], reach: f.MeanWithin / math.Sqrt(f.Eigenvalues[0])}
	if s.unknown.covariance = s.ratio < 1; s.unknown.covariance {
		s.covarianceShare = 1
	}
	if s.unknown.mean = f.MeanWithin > 0; s.unknown.mean {
		s.meanShare = 1
	}
	if s.unknown.covariance && s.unknown.mean {
		s.covarianceShare, s.meanShare = c.CovarianceShare, 1-c.CovarianceShare
	}
	if s.countShare == 0 && !s.replace {
		s.countShare = countShare
	}
	s.covarianceShare *= 1 - s.countShare
	s.meanShare *= 1 - s.countShare
	return s
}

// mostSteps bounds the steps of an iteration: each of them makes bounds tighter by a factor, so
// that twenty are enough for nearly any. It is the plan's number where n is private.
const mostSteps = 20

// most returns the largest number of steps that choose can choose.
func (s schedule) most(n float64, choose func(n float64) int) int {
	if s.replace {
		return choose(n)
	}
	return max(mostSteps, s.c.CovarianceSteps, s.c.MeanSteps)
}

// pairsPart returns the number of pairs relative to n: of a perfect matching, and of n/2 buckets,
// of which a part 1 - 3/e^2 holds two rows or more.
func (s schedule) pairsPart() float64 {
	if s.replace {
		return .5
	}
	return (1 - 3*math.Exp(-2)) / 2
}

// pairings returns how many releases the last second moment is the mean of.
func (s schedule) pairings() int {
	if s.unknown.mean {
		return s.c.Pairings
	}
	return 1
}

// samples returns how many vectors the second moments are made of.
func (s schedule) samples(n float64) float64 {
	if s.unknown.mean {
		return s.pairsPart() * n
	}
	return n
}

// sampled returns how many independent vectors the last second moment is worth: over all pairs of
// rows it would be n.
func (s schedule) sampled(n float64) float64 {
	return n / (1 + (n/s.samples(n)-1)/float64(s.pairings()))
}

// noise returns the noise sd of a diagonal entry of a second moment that gets the given part of the
// covariance's budget.
func (s schedule) noise(n, part float64) float64 {
	sensitivity := bound2(s.d, s.c.CovarianceTail)
	if s.replace || s.unknown.mean {
		sensitivity *= math.Sqrt2
	}
	return sensitivity / (s.samples(n) * s.mu * math.Sqrt(s.covarianceShare*part))
}

// spectral returns the spectral norm of a noise matrix, about, relative to the sd of its diagonal.
func (s schedule) spectral() float64 { return math.Sqrt(2 * float64(s.d)) }

// surely is the number of sds that noise and sampling exceed with a probability below 1e-4, by
// their Gaussian tails.
const surely = 4.5

// norm returns the spectral norm of a noise matrix, relative to the sd of its diagonal, but for a
// probability of 2 exp(-surely^2/2).
func (s schedule) norm() float64 { return s.spectral() + surely }

// slack returns what the eigenvalues of a second moment of m vectors are raised by to bound the
// covariance: half the spectral norm of the sampling error and, in the fixed form, that of the
// noise.
func (s schedule) slack(m, noise float64) float64 {
	d := float64(s.d)
	slack := math.Sqrt(d/m) + d/(2*m)
	if s.c.NoiseInWhitener {
		slack += noise * s.spectral()
	}
	return slack
}

// worth is how much less noise a further step must promise: it costs time.
const worth = .98

// covarianceSteps returns the number of steps after which the last noise, relative to the least
// eigenvalue that the bounds allow, is least. A step takes an eigenvalue lambda (of 1 at most) to
// lambda/(lambda+slack): far below the slack, a gain of 1/slack. So two to four steps are best
// where rows abound or bounds are tight, and otherwise the number grows with the logarithm of the
// ratio.
func (s schedule) covarianceSteps(n float64) int {
	if s.c.CovarianceSteps > 0 {
		return s.c.CovarianceSteps
	}
	return leastOf(func(t int) float64 { return s.covarianceNoise(n, t) })
}

func (s schedule) covarianceNoise(n float64, t int) float64 {
	lambda, noise := s.ratio, 0.0
	for i, part := range s.c.split(t) {
		noise = s.noise(n, part)
		if i < t-1 {
			lambda /= lambda + s.slack(s.samples(n), noise)
		}
	}
	return noise / lambda
}

// meanSteps returns the number of steps after which the last noise of the mean is least: a step
// takes a radius r that is far too large to about 2 sqrt(d) r/(n mu).
func (s schedule) meanSteps(n float64) int {
	if s.c.MeanSteps > 0 {
		return s.c.MeanSteps
	}
	return leastOf(func(t int) float64 { return s.meanNoise(n, t) })
}

func (s schedule) meanNoise(n float64, t int) float64 {
	r, sd := s.reach, 0.0
	for _, part := range s.c.split(t) {
		sd = s.meanSD(n, part, meanRadius(s.d, s.c.MeanTail, r))
		r = s.nextRadius(n, sd)
	}
	return sd
}

// meanSD returns the noise sd per coordinate of a mean of rows clipped to radius, which gets the
// given part of the mean's budget.
func (s schedule) meanSD(n, part, radius float64) float64 {
	sensitivity := 2 * radius
	if !s.replace {
		sensitivity = math.Sqrt2 * radius
	}
	return sensitivity / (n * s.mu * math.Sqrt(s.meanShare*part))
}

// nextRadius bounds how far a mean with noise sd per coordinate is from the truth.
func (s schedule) nextRadius(n, sd float64) float64 {
	return math.Sqrt(1/n+sd*sd) * math.Sqrt(bound2(s.d, s.c.MeanTail))
}

func leastOf(noise func(t int) float64) int {
	best := 1
	for t := 2; t <= mostSteps; t++ {
		if noise(t) < worth*noise(best) {
			best = t
		}
	}
	return best
}

// relativeError returns the expected error of covariance or mean, whichever is worse, relative to
// the non-private one, for the worst covariance within the bounds.
func (s schedule) relativeError(n float64) float64 {
	worst := 1.0
	if s.unknown.covariance {
		noise := s.covarianceNoise(n, s.covarianceSteps(n))
		// Of d(d+1) times, in squares: 1/sampled of sampling and noise^2/2, over 1/n.
		worst = math.Max(worst, math.Sqrt(n*(1/s.sampled(n)+noise*noise/2)))
	}
	if s.unknown.mean {
		sd := s.meanNoise(n, s.meanSteps(n))
		worst = math.Max(worst, math.Sqrt(1+n*sd*sd))
	}
	return worst
}

// rowsNeeded returns the least number of rows, about, with a relative error of at most 2; 0 if
// there is none below 1e12.
func (s schedule) rowsNeeded() float64 {
	const least, most = 100.0, 1e12
	high := least
	for s.relativeError(high) > 2 {
		if high *= 2; high > most {
			return 0
		}
	}
	low := high / 2
	for high > 1.01*low {
		if n := math.Sqrt(low * high); s.relativeError(n) > 2 {
			low = n
		} else {
			high = n
		}
	}
	return high
}
