package gaussian

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/gauze-dp/gauze/kernel/privacy"
)

// clipped holds the moments of z ~ N(0, I_d) clipped to the ball of radius R: with q = |z|^2 and g = min(1, R^2/q), the clipped z
// is sqrt(g) z.
//
// Source: [TYLERPRESS] Section 4.3; closed forms by incomplete gamma functions.
type clipped struct {
	a    float64 // E[gq]/d: the second moment is a I
	b1   float64 // E[g q^2]/(d(d+2)): a trace-free change E of the covariance changes it by b1 E,
	b2   float64 // (b1-a)/2: .. and any change by b1 E + b2 tr(E) I
	a1   float64 // E[q sqrt g]/d: a change of the mean changes the first moment by a1 times it
	v    float64 // E[g^2 q^2]/(d(d+2)): variance of an off-diagonal entry
	vm   float64 // Var(gq)/d: variance of the trace direction
	mean float64 // E[gq], for the first moment's variance
}

func clip(d int, r2 float64) clipped {
	k, x := float64(d), r2/2
	in := func(j float64) float64 { return mathext.GammaIncReg(k/2+j, x) }      // P of chi-square with d+2j degrees at R^2
	out := func(j float64) float64 { return mathext.GammaIncRegComp(k/2+j, x) } // 1 - P
	lgHalf, _ := math.Lgamma((k + 1) / 2)
	lg, _ := math.Lgamma(k / 2)
	root := math.Sqrt2 * math.Exp(lgHalf-lg) // E sqrt(q)
	gq := k*in(1) + r2*out(0)
	gq2 := k*(k+2)*in(2) + r2*k*out(1)
	g2q2 := k*(k+2)*in(2) + r2*r2*out(0)
	c := clipped{
		a: gq / k, b1: gq2 / (k * (k + 2)), a1: (k*in(1) + math.Sqrt(r2)*root*out(.5)) / k,
		v: g2q2 / (k * (k + 2)), vm: (g2q2 - gq*gq) / k, mean: gq,
	}
	c.b2 = (c.b1 - c.a) / 2
	return c
}

// noise2 is the square of the noise sd of a diagonal second moment, as a mean over the rows, at radius R and loss mu:
// 2(R^2+b^2)^2/(n mu)^2, or half of it under add-or-remove-one; lift is b^2/R^2.
func noise2(rel privacy.Relation, rows, mu, r2, lift float64) float64 {
	s := (1 + lift) * r2 / (rows * mu)
	if rel == privacy.ReplaceOne {
		s *= math.Sqrt2
	}
	return s * s
}

// predict is the expected square of the Frobenius error of the covariance and of the Mahalanobis error of the mean, for a
// Gaussian and a perfect preconditioner.
func predict(rel privacy.Relation, d int, rows, mu, r2, lift float64) (cov, mean float64) {
	c, k := clip(d, r2), float64(d)
	sg2 := noise2(rel, rows, mu, r2, lift)
	trace := c.b1 + k*c.b2
	cov = (k*(k+1)/2-1)*(2*c.v/rows+sg2)/(c.b1*c.b1) + (c.vm/rows+sg2)/(trace*trace)
	mean = k * (c.a/rows + sg2/(2*lift*r2)) / (c.a1 * c.a1)
	return cov, mean
}

// meanWeight is how much the relative error of the mean counts beside that of the covariance when the radius is chosen.
const meanWeight = .15

// bestRadius2 chooses R^2 among 60 geometric values in [.3d+.5, d+6 sqrt d+25], and b^2/R^2, such that the predicted squared
// errors, relative to the non-private ones, are least: a function of public or released numbers.
//
// Source: [TYLERPRESS] Section 4.3. Differs: b^2/R^2 is chosen too (the source has .2), which the mean's error decides.
func bestRadius2(rel privacy.Relation, d int, rows, mu float64) (r2, lift float64) {
	k := float64(d)
	low, high := .3*k+.5, k+6*math.Sqrt(k)+25
	least := math.Inf(1)
	const grid = 60
	for i := range grid {
		x := low * math.Pow(high/low, float64(i)/(grid-1))
		for _, l := range [...]float64{.05, .1, .2} {
			cov, mean := predict(rel, d, rows, mu, x, l)
			if e := cov/(k*(k+1)) + meanWeight*mean/k; e < least {
				r2, lift, least = x, l, e
			}
		}
	}
	return r2, lift
}

// consistency is c with E[(nu+d) q/(nu c + q)] = d for q ~ chi-square with d degrees: at the fixed point of the steps the
// covariance of a Gaussian is I/c in the working coordinates.
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
