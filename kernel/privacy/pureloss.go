package privacy

import (
	"math"
)

// MuOfPure returns the least mu for which every epsilon0-DP mechanism is mu-GDP, rounded up: mu =
// -2 Phi^-1(1/(1+e^epsilon0)).
//
// Randomised response attains it: the trade-off function of (epsilon0, 0)-DP has its corner
// (1/(1+e^epsilon0), 1/(1+e^epsilon0)) on that of N(0,1) against N(mu,1), and its other points on
// chords of that convex curve, above it. It is good to 1e-11 absolutely, 1e-11 relatively for large
// epsilon0. It panics unless epsilon0 >= 0.
//
// Source: [DRS22] Section 2 (trade-off functions of (epsilon, delta)-DP).
func MuOfPure(eps0 float64) float64 {
	notNegative("a pure loss", eps0)
	if eps0 == 0 {
		return 0
	}
	return 2 * ThresholdQuantile(logCorner(eps0))
}

// logCorner returns ln(1/(1+e^epsilon0)), rounded down: below ln(1/2) for epsilon0 > 0.
func logCorner(eps0 float64) float64 {
	l := -softplus(eps0)
	return l - Safety(l)
}

// MuOfBoundedRange returns mu = -2 Phi^-1(1/(1+e^(epsilon0/2))), rounded up, for a mechanism of
// bounded range epsilon0: one whose log-likelihood ratios, for fixed neighbours, span an interval
// of length at most epsilon0. The exponential mechanism with weights e^(epsilon0 score/2), score of
// sensitivity 1, is one.
//
// Proof: gdp_proof.md, steps 1 to 7.
//
// Source: [DDR20] (bounded range and its worst mechanism). Differs: stated as a mu, with a proof.
func MuOfBoundedRange(eps0 float64) float64 { return MuOfPure(eps0 / 2) }

// PureOfMu returns the largest epsilon0 with MuOfPure(epsilon0) <= mu, rounded down: the epsilon0
// of a pure step that may cost mu^2. It panics unless mu >= 0.
func PureOfMu(mu float64) float64 {
	notNegative("mu", mu)
	l := logUpperTail(mu / 2)
	l += Safety(l)
	eps0 := LargestWhere(func(e float64) bool { return l <= logCorner(e) })
	for short := 0x1p-50; eps0 > 0 && !(MuOfPure(eps0) <= mu); short *= 2 {
		eps0 = math.Max(0, eps0*(1-short)) // seldom more than once
	}
	return eps0
}

// BoundedRangeOfMu returns the largest epsilon0 with MuOfBoundedRange(epsilon0) <= mu, rounded
// down: the epsilon0 of an exponential mechanism that may cost mu^2. It panics unless mu >= 0.
func BoundedRangeOfMu(mu float64) float64 { return 2 * PureOfMu(mu) }

// L1 returns a bound on the L1 sensitivity of n integers whose L2 sensitivity is at most s, in the
// same integer units: the sensitivity that Laplace noise needs.
//
// Theorem: it is at most s^2 and at most s sqrt n. For neighbours the answers differ by integers
// v_1 .. v_n with sum v_i^2 <= s^2; |v_i| <= v_i^2 as they are integers, and sum |v_i| <= sqrt(n
// sum v_i^2) (Cauchy and Schwarz). So it holds under the relation, and for the rows, for which s
// does. A sum of integers is at most what is left when a bound on it is rounded down. What a row
// adds to counts is 0 or 1, so that s^2 is exact for them. (Where s is that of an answer of which
// some coordinates are divided by weights below 1, it bounds that of the integers all the more.)
func L1(n int, s float64) float64 {
	return math.Floor(math.Min(MulUp(s, s), MulUp(SqrtUp(float64(n)), s)))
}

// PureCurve returns the largest curve of an epsilon0-DP mechanism, that of randomised response:
//
//	(1/(alpha-1)) ln((e^(alpha epsilon0) + e^((1-alpha)epsilon0))/(1+e^epsilon0)),
//	at most epsilon0.
//
// It panics unless epsilon0 >= 0.
//
// Source: [BS16] Proposition 3.3 (its proof's extreme case).
func PureCurve(eps0 float64) Curve {
	notNegative("a pure loss", eps0)
	return CurveOf(func(a float64) float64 { return pureDivergence(a, eps0) })
}

// pureDivergence writes the fraction as cosh((alpha-1/2)epsilon0)/cosh(epsilon0/2) and takes its
// logarithm without cancellation.
func pureDivergence(order, eps0 float64) float64 {
	x, y := (order-0.5)*eps0, eps0/2
	var l float64
	if x > 300 {
		l = (order-1)*eps0 - math.Log1p(math.Exp(-2*y)) + math.Log1p(math.Exp(-2*x))
	} else {
		l = math.Log1p(2 * math.Sinh(order*y) * math.Sinh((order-1)*y) / math.Cosh(y))
	}
	return math.Min(eps0, math.Nextafter(l/(order-1)*(1+1e-12), math.Inf(1)))
}

// EpsilonOfRho returns an epsilon for which rho-zCDP implies (epsilon, delta)-DP, by the tight
// conversion, rounded up:
//
//	epsilon = min over alpha > 1 of
//	  alpha rho + ln((alpha-1)/alpha) - (ln delta + ln alpha)/(alpha-1), and at least 0.
//
// Every alpha gives a valid epsilon, so the search below affects tightness only. It panics unless 0
// < delta < 1 and rho >= 0. Gaussian mechanisms have the better [EpsilonOfMu].
//
// Source: [CKS20] Proposition 12 and Corollary 13.
func EpsilonOfRho(delta, rho float64) float64 {
	if !(delta > 0 && delta < 1) {
		panic("convert: delta must be in (0, 1)")
	}
	notNegative("rho", rho)
	logInv := -math.Log(delta)
	return math.Max(0, leastOver(func(x float64) float64 { return epsilonAt(x, (1+x)*rho, logInv) }))
}

// leastOver returns the least value of f(x) over x = alpha-1 from 1e-12 to 1e15, by ternary search
// in ln x.
//
// The function is quasi-convex in x (ln delta is convex in alpha, its derivative (2 alpha-1)rho -
// epsilon + ln(1-1/alpha) being increasing, and {epsilon(alpha) <= e} is the level set of ln delta
// at epsilon = e), so the search meets the minimum.
func leastOver(f func(x float64) float64) float64 {
	lo, hi := -27.6, 34.5
	for range 90 {
		p, q := lo+(hi-lo)/3, hi-(hi-lo)/3
		if f(math.Exp(p)) <= f(math.Exp(q)) {
			hi = q
		} else {
			lo = p
		}
	}
	return f(math.Exp(lo))
}
