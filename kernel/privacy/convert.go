package privacy

import "math"

// DeltaOfMu returns the least delta for which mu-GDP implies (epsilon, delta)-DP, rounded up:
//
//	delta(epsilon) = Phi(-epsilon/mu + mu/2) - e^epsilon Phi(-epsilon/mu - mu/2).
//
// It panics unless epsilon >= 0 and mu >= 0.
//
// Source: [DRS22] Corollary 2.13.
func DeltaOfMu(eps, mu float64) float64 {
	notNegative("epsilon", eps)
	notNegative("mu", mu)
	if mu == 0 {
		return 0
	}
	if math.IsInf(mu, 1) {
		return 1
	}
	l := logDeltaOfMu(eps, mu)
	return expUp(l + safety(l))
}

// logDeltaOfMu returns ln delta(epsilon), to within safety.
//
// Put a = epsilon/mu - mu/2 and b = a + mu. Since b^2/2 = a^2/2 + epsilon, e^epsilon phi(b) =
// phi(a), hence delta = phi(a) (R(a) - R(b)) with Mills' ratio R: the large factors e^epsilon and
// the tiny ones Phi(-b) never meet. For a >= -1 the difference is one positive integral. For a <
// -1, where mu > 2 and b >= 1, delta = Phi(-a) - phi(a) R(b) subtracts at most .16 from at least
// .84.
func logDeltaOfMu(eps, mu float64) float64 {
	// epsilon/mu and mu/2 may be in the thousands and differ by 1: the remainder of the division is
	// added back, so that a is good to 3*2^-53 of itself and a^2/2 to 2^-50.
	q := eps / mu
	if q > 1e100 {
		return -1e200 // and safety leaves it there: delta underflows to the least positive number
	}
	a := (q - mu/2) + math.FMA(-q, mu, eps)/mu
	if a >= -1 {
		return -a*a/2 - logSqrt2Pi + math.Log(laplaceIntegral(a, mu))
	}
	phi := math.Exp(-a*a/2 - logSqrt2Pi)
	return math.Log(math.Erfc(a/math.Sqrt2)/2 - phi*laplaceIntegral(a+mu, math.Inf(1)))
}

// expUp returns e^l, rounded up and at most 1.
func expUp(l float64) float64 { return math.Min(1, up(math.Exp(l))) }

// MuOf returns the largest mu for which mu-GDP implies (epsilon, delta)-DP, rounded down:
// DeltaOfMu(epsilon, mu) <= delta.
//
// It panics unless epsilon >= 0 and 0 < delta < 1.
func MuOf(eps, delta float64) float64 {
	checkDelta(delta)
	return largestWhere(func(mu float64) bool { return DeltaOfMu(eps, mu) <= delta })
}

// EpsilonOfMu returns the least epsilon >= 0 for which mu-GDP implies (epsilon, delta)-DP, rounded
// up: DeltaOfMu(epsilon, mu) <= delta.
//
// It panics unless 0 < delta < 1 and mu >= 0.
func EpsilonOfMu(delta, mu float64) float64 {
	checkDelta(delta)
	return leastWhere(func(eps float64) bool { return DeltaOfMu(eps, mu) <= delta })
}

func notNegative(what string, x float64) {
	if !(x >= 0) {
		panic("privacy: " + what + " must not be negative or NaN")
	}
}

func checkDelta(delta float64) {
	if !(delta > 0 && delta < 1) {
		panic("privacy: delta must be in (0, 1)")
	}
}

// RhoOfMu returns rho = mu^2/2, rounded up: mu-GDP implies rho-zCDP, because every Rényi divergence
// of the mechanism is at most that of N(0,1) and N(mu,1), which is alpha mu^2/2.
func RhoOfMu(mu float64) float64 { return MulUp(mu, mu) / 2 }

// MuOfRho returns mu = sqrt(2 rho), rounded down: the noise of a Gaussian mechanism that is
// rho-zCDP is sensitivity/mu. The converse of [RhoOfMu] for Gaussian mechanisms only: rho-zCDP does
// not imply sqrt(2 rho)-GDP.
func MuOfRho(rho float64) float64 { return sqrtDown(2 * rho) }

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
	want := -softplus(eps0)
	want -= safety(want)
	return 2 * leastWhere(func(x float64) bool {
		l := logUpperTail(x)
		return l+safety(l) <= want
	})
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
	l += safety(l)
	eps0 := largestWhere(func(e float64) bool {
		want := -softplus(e)
		return l <= want-safety(want)
	})
	for short := 0x1p-50; eps0 > 0 && !(MuOfPure(eps0) <= mu); short *= 2 {
		eps0 = math.Max(0, eps0*(1-short)) // seldom more than once
	}
	return eps0
}

// BoundedRangeOfMu returns the largest epsilon0 with MuOfBoundedRange(epsilon0) <= mu, rounded
// down: the epsilon0 of an exponential mechanism that may cost mu^2. It panics unless mu >= 0.
func BoundedRangeOfMu(mu float64) float64 { return 2 * PureOfMu(mu) }

// softplus returns ln(1+e^x) for x >= 0.
func softplus(x float64) float64 { return x + math.Log1p(math.Exp(-x)) }

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
	checkDelta(delta)
	notNegative("rho", rho)
	logInv := -math.Log(delta)
	return math.Max(0, leastOver(func(x float64) float64 { return epsilonAt(x, (1+x)*rho, logInv) }))
}

// DeltaOfRho returns a delta for which rho-zCDP implies (epsilon, delta)-DP, by the tight
// conversion, rounded up:
//
//	delta = min over alpha > 1 of
//	  e^((alpha-1)(alpha rho-epsilon))/(alpha-1) (1-1/alpha)^alpha, and at most 1.
//
// It panics unless epsilon >= 0 and rho >= 0.
//
// Source: [CKS20] Corollary 13.
func DeltaOfRho(eps, rho float64) float64 {
	notNegative("epsilon", eps)
	notNegative("rho", rho)
	return expUp(leastOver(func(x float64) float64 { return logDeltaAt(x, (1+x)*rho, eps) }))
}

// RhoOf returns the largest rho for which rho-zCDP implies (epsilon, delta)-DP by [EpsilonOfRho],
// rounded down. It panics unless epsilon >= 0 and 0 < delta < 1.
func RhoOf(eps, delta float64) float64 {
	notNegative("epsilon", eps)
	checkDelta(delta)
	return largestWhere(func(rho float64) bool { return EpsilonOfRho(delta, rho) <= eps })
}

// RhoOfSimple returns the rho of the textbook conversion epsilon = rho + 2 sqrt(rho ln(1/delta)),
// rounded down, for comparison: rho = (sqrt(ln(1/delta)+epsilon) - sqrt ln(1/delta))^2 =
// (epsilon/(sqrt(ln(1/delta)+epsilon) + sqrt ln(1/delta)))^2.
//
// Source: [BS16] Proposition 1.3.
func RhoOfSimple(eps, delta float64) float64 {
	notNegative("epsilon", eps)
	checkDelta(delta)
	l := up(-math.Log(delta))
	root := DivDown(eps, AddUp(SqrtUp(AddUp(l, eps)), SqrtUp(l)))
	return MulDown(root, root)
}

// epsilonAt returns the epsilon that a Rényi divergence r of order 1+x gives at delta = e^-logInv,
// rounded up: r - ln(1+1/x) + (logInv - ln(1+x))/x. Error: each term is good to a few 2^-53 of
// itself; 2^-48 of their sizes is added.
func epsilonAt(x, r, logInv float64) float64 {
	a, b, c := math.Log1p(1/x), logInv/x, math.Log1p(x)/x
	return r - a + b - c + (r+a+b+c)*0x1p-48
}

// logDeltaAt returns the ln delta that a Rényi divergence r of order 1+x gives at epsilon, rounded
// up: x(r-epsilon)
//   - ln x - (1+x) ln(1+1/x). Error: as in epsilonAt, with the two large terms xr and x epsilon
//     counted
//
// apart.
func logDeltaAt(x, r, eps float64) float64 {
	a, b, c, d := x*r, x*eps, math.Log(x), (1+x)*math.Log1p(1/x)
	return a - b - c - d + 1e-14 + (a+b+math.Abs(c)+d)*0x1p-48
}

// leastOver returns the least value of f(x) over x = alpha-1 from 1e-12 to 1e15, by ternary search
// in ln x.
//
// Both users are quasi-convex in x (ln delta is convex in alpha, its derivative (2 alpha-1)rho -
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
