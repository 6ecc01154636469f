package km21

import (
	"math"

	"github.com/gauze-dp/gauze/kernel/privacy"
)

// A class is the distributions of mean 0 with E<v,x>^2k <= C (E<v,x>^2)^k for every direction v.
type class struct {
	k     int     // at least 2
	bound float64 // ln C, C = C_2k >= 1
}

// gaussianClass has C = (2k-1)!! = E z^2k of a standard Gaussian z: 3, 15, 105, .. for k = 2, 3, 4,
// ..
//
// (x-x')/sqrt2 of two independent draws is in it too for k = 2 and 3 if x has all even moments up
// to 2k within a Gaussian's: the odd moments enter E(x-x')^4 not at all and E(x-x')^6 as -20 (E
// x^3)^2. The source claims it for every k.
func gaussianClass(k int) class {
	c := class{k: k}
	for j := 2; j <= k; j++ {
		c.bound += math.Log(float64(2*j - 1))
	}
	return c
}

// ofPairs returns the class that y = (x-x')/sqrt2 of two independent draws is in: with m_j =
// E<v,x>^j, m_2 = 1, E<v,y>^2k = 2^-k sum_j binom(2k, j) (-1)^j m_j m_(2k-j), m_1 = 0, and |m_j| <=
// C^((j-2)/(2k-2)) for j >= 2, because ln E|x|^p is convex in p. So the terms of j = 2 .. 2k-2 are
// at most binom(2k, j) C^((k-2)/(k-1)) each, that of j = k is not positive for odd k, and
//
//	C' = 2^-k (2 C + (4^k - 2 - 4k - [k odd] binom(2k, k)) C^((k-2)/(k-1))).
//
// For k = 2 this is (C+3)/2, exactly so: more than C where C < 3.
//
// Source: [TALK] Norms. Differs: the talk says that pairs satisfy the bound too, with no word on
// the constant.
func (c class) ofPairs() class {
	k := float64(c.k)
	middle := math.Pow(4, k) - 2 - 4*k
	if c.k%2 == 1 {
		middle -= binomial(2*c.k, c.k)
	}
	// C^((k-2)/(k-1)) is taken out
	rest := math.Log(2*math.Exp(c.bound/(k-1)) + middle)
	return class{c.k, c.bound*(k-2)/(k-1) + rest - k*math.Ln2}
}

func binomial(n, k int) float64 {
	out := 1.0
	for i := 1; i <= k; i++ {
		out *= float64(n-k+i) / float64(i)
	}
	return out
}

// root returns C^(1/(k-1)). It bounds C_4 too: ln E|Y|^p is convex in p, so E Y^4 <= (E
// Y^2)^((k-2)/(k-1)) (E Y^2k)^(1/(k-1)).
func (c class) root() float64 { return math.Exp(c.bound / float64(c.k-1)) }

// spectral2 returns gamma^2 = d (C/(a/2))^(1/(k-1)): if the covariance is at most I, leaving out
// rows x with |x| > gamma takes at most a/2 from the second moment in any direction v.
//
// Proof. P(|x| > gamma) <= E|x|^2k/gamma^2k <= C d^k/gamma^2k, because E(sum x_i^2)^k <= d^(k-1)
// sum E x_i^2k. By Hölder's inequality E <v,x>^2 1{|x| > gamma} <= (E<v,x>^2k)^(1/k) P(|x| >
// gamma)^(1-1/k) <= C (d/gamma^2)^(k-1) = a/2.
//
// Source: [KM21] Theorem 3.1. Differs: the text has C^(1/(2k-1)) and 2/3 or 3/2 in Algorithms 1 and
// 2, which are misprints of the exponent 1/(2(k-1)) and of a/2 in Algorithm 3.
func (c class) spectral2(d int, a float64) float64 {
	return float64(d) * math.Exp((c.bound-math.Log(a/2))/float64(c.k-1))
}

// frobenius2 returns gamma^2 = C^(1/(k-1)) d^((2k-1)/(2(k-1)))/(a/2)^(1/(k-1)), at which the bias
// of the second moment is at most a/2 in Frobenius norm: it is at most sqrt d times the spectral
// one, so this is spectral2 at a/sqrt d.
//
// Source: [KM21] Theorem 3.1; Algorithm 3.
func (c class) frobenius2(d int, a float64) float64 {
	return c.spectral2(d, a/frobeniusOfSpectral(d, 1))
}

// A design is what the analysis knows: public facts and released numbers.
type design struct {
	Constants
	class
	d        int
	relation privacy.Relation
	rows     float64 // good rows: public or released
	public   float64 // n where it is public, else 0
	pairs    bool    // the mean is not known, so rows are taken in pairs
}

// bucketed is the number of pairs that buckets are expected to make, per row: half a bucket a row,
// two rows or more in 1-3e^-2 of them; see query.Pairs.
var bucketed = (1 - 3*math.Exp(-2)) / 2

// size returns the number of vectors whose second moment is measured: rows or pairs.
func (x design) size() float64 {
	switch {
	case !x.pairs:
		return x.rows
	case x.public > 0: // a matching of all rows, null ones too
		return x.rows * x.rows / (2 * x.public)
	}
	return x.rows * bucketed
}

// lift is b/r of the clipped moments: the releases of second moments need no sums, and pay 1+lift^2
// for them.
const lift = .01

// sigma returns the noise of a diagonal entry of a mean of size second moments truncated at gamma,
// for loss mu: gamma^2/(size sqrt rho) with rho = mu^2/2, that is sqrt2 gamma^2/(size mu), and
// sqrt2 less where a row is added or removed and not replaced.
//
// Source: [KM21] Algorithm 1. Differs: the constant of Theta is derived, |xx^T - yy^T|_F <= sqrt2
// gamma^2.
func (x design) sigma(gamma2, mu float64) float64 {
	s := (1 + lift*lift) * gamma2 / (x.size() * mu)
	if x.pairs || x.relation == privacy.ReplaceOne {
		s *= math.Sqrt2
	}
	return s
}

// spectral returns gamma and s, the spectral error of a one-step with loss mu: s = a/2 + eta + nu
// but with probability beta.
//
// eta (sampling) is the matrix Bernstein inequality, which fails with probability beta/2: the
// summands have norm at most gamma^2/m and |sum E Y^2| <= C_4 d/m because E|w|^2<v,w>^2 <= sum_i (E
// w_i^4 E<v,w>^4)^(1/2) <= C_4 d, so with l = ln(4d/beta) eta = sqrt(2 C_4 d l/m) + 2 gamma^2
// l/(3m). nu (noise) is the largest eigenvalue of GOE(sigma): at most sigma sqrt(2d) on average,
// and Lipschitz in Frobenius norm, so nu = sigma (sqrt(2d) + sqrt(2 ln(4/beta))) fails with
// probability beta/2.
//
// Source: [KM21] Algorithm 2. Differs: the talk refers to formulas (4) and (5) for eta and nu,
// which it does not show; derived here.
func (x design) spectral(mu, beta float64) (gamma, s float64) {
	d, m := float64(x.d), x.size()
	gamma2 := x.spectral2(x.d, x.StepAccuracy)
	l := math.Log(4 * d / beta)
	eta := math.Sqrt(2*x.root()*d*l/m) + 2*gamma2*l/(3*m)
	nu := x.sigma(gamma2, mu) * (math.Sqrt(2*d) + math.Sqrt(2*math.Log(4/beta)))
	return math.Sqrt(gamma2), x.StepAccuracy/2 + eta + nu
}

// frobenius returns gamma and alpha, the Frobenius error of the last release with loss mu, but with
// probability beta. Half of alpha is bias, the other half is sampling, whose mean square is at most
// E|w|^4/m <= C_4 d^2/m (Chebyshev, beta/2), and noise, of mean square sigma^2 d(d+1)/2 and
// Lipschitz (beta/2). Alpha is the fixed point: the least for which the theorem's number of rows is
// n.
//
// Source: [KM21] Theorem 3.1.
func (x design) frobenius(mu, beta float64) (gamma, alpha float64) {
	d := float64(x.d)
	half := func(a float64) float64 {
		sampling := d * math.Sqrt(2*x.root()/(beta*x.size()))
		return sampling + x.sigma(x.frobenius2(x.d, a), mu)*(math.Sqrt(d*(d+1)/2)+math.Sqrt(2*math.Log(2/beta)))
	}
	low, high := 1e-12, 1e12 // half decreases
	for range 200 {
		if alpha = math.Sqrt(low * high); half(alpha) > alpha/2 {
			low = alpha
		} else {
			high = alpha
		}
	}
	return math.Sqrt(x.frobenius2(x.d, high)), high
}

// raised returns the least lambda_min(L') after a one-step with spectral error s that starts at
// least = lambda_min(L) and raises an eigenvalue.
func (x design) raised(least, s float64) float64 {
	if x.AsPrinted {
		return least / (least + 2*s)
	}
	return least / (least + 4*s)
}

// mostSteps bounds t.
const mostSteps = 64

// steps returns t: one more than the one-steps that the analysis needs, sharing mu2 evenly, to
// bring lambda_min(L) from low/high to Target; ok is false if no number of them does. least is the
// lambda_min(L) that they guarantee.
//
// Source: [KM21] Theorem 3.2. Differs: the talk has t-1 = O(log u), by doubling; this is the
// analysis' own recursion, which grows faster.
func (x design) steps(within [2]float64, mu2 float64) (t int, least float64, ok bool) {
	for t := 1; t <= mostSteps; t++ {
		least = math.Min(1, within[0]/within[1])
		possible := least > 0
		if t > 1 {
			_, s := x.spectral(math.Sqrt(mu2/float64(t-1)), x.stepFailure(t))
			for range t - 1 {
				if possible = possible && s <= (1-least)/2; !possible || least >= x.Target {
					break
				}
				least = x.raised(least, s)
			}
		}
		if possible && least >= x.Target {
			return t, least, true
		}
	}
	return 0, 0, false
}

// stepFailure returns the probability with which the bounds of one of t-1 one-steps may fail.
func (x design) stepFailure(t int) float64 { return x.FailureProb / (2 * float64(max(1, t-1))) }
