package privacy

import (
	"math"
	"sync/atomic"
)

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
	return expUp(l + Safety(l))
}

// logDeltaOfMu returns ln delta(epsilon), to within Safety.
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
		return -1e200 // Safety keeps it there: delta underflows to the least positive number
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
	return lastMu.of(eps, delta, func() float64 {
		return LargestWhere(func(mu float64) bool { return DeltaOfMu(eps, mu) <= delta })
	})
}

// EpsilonOfMu returns the least epsilon >= 0 for which mu-GDP implies (epsilon, delta)-DP, rounded
// up: DeltaOfMu(epsilon, mu) <= delta.
//
// It panics unless 0 < delta < 1 and mu >= 0.
func EpsilonOfMu(delta, mu float64) float64 {
	checkDelta(delta)
	return lastEpsilon.of(delta, mu, func() float64 {
		return leastWhere(func(eps float64) bool { return DeltaOfMu(eps, mu) <= delta })
	})
}

var lastMu, lastEpsilon, lastQuantile memo

// A memo holds the last solutions for two numbers, not both 0: fits ask for the same few several
// times.
type memo struct {
	last atomic.Pointer[[16][3]float64]
}

func (m *memo) of(a, b float64, solve func() float64) float64 {
	before := m.last.Load()
	if before == nil {
		before = new([16][3]float64)
	}
	for _, known := range before {
		if known[0] == a && known[1] == b {
			return known[2]
		}
	}
	next := [16][3]float64{{a, b, solve()}}
	copy(next[1:], before[:])
	m.last.Store(&next)
	return next[0][2]
}

// notNegative panics if a number is negative or NaN.
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
func MuOfRho(rho float64) float64 { return SqrtDown(2 * rho) }

// softplus returns ln(1+e^x) for x >= 0.
func softplus(x float64) float64 { return x + math.Log1p(math.Exp(-x)) }

// epsilonAt returns the epsilon that a Rényi divergence r of order 1+x gives at delta = e^-logInv,
// rounded up: r - ln(1+1/x) + (logInv - ln(1+x))/x. Error: each term is good to a few 2^-53 of
// itself; 2^-48 of their sizes is added.
func epsilonAt(x, r, logInv float64) float64 {
	a, b, c := math.Log1p(1/x), logInv/x, math.Log1p(x)/x
	return r - a + b - c + (r+a+b+c)*0x1p-48
}
