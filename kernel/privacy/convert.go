package privacy

import "math"

// DeltaOfMu returns the least δ for which μ-GDP implies (ε, δ)-DP, rounded up:
//
//	δ(ε) = Φ(−ε/μ + μ/2) − e^ε·Φ(−ε/μ − μ/2).
//
// It panics unless ε ≥ 0 and μ ≥ 0.
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

// logDeltaOfMu returns ln δ(ε), to within safety.
//
// Put a = ε/μ − μ/2 and b = a + μ. Since b²/2 = a²/2 + ε, e^ε·φ(b) = φ(a), hence δ = φ(a)·(R(a) −
// R(b)) with Mills' ratio R: the large factors e^ε and the tiny ones Φ(−b) never meet. For a ≥ −1
// the difference is one positive integral. For a < −1, where μ > 2 and b ≥ 1, δ = Φ(−a) − φ(a)·R(b)
// subtracts at most .16 from at least .84.
func logDeltaOfMu(eps, mu float64) float64 {
	// ε/μ and μ/2 may be in the thousands and differ by 1: the remainder of the division is added
	// back, so that a is good to 3·2^-53 of itself and a²/2 to 2^-50.
	q := eps / mu
	if q > 1e100 {
		return -1e200 // and safety leaves it there: δ underflows to the least positive number
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

// MuOf returns the largest μ for which μ-GDP implies (ε, δ)-DP, rounded down: DeltaOfMu(ε, μ) ≤ δ.
//
// It panics unless ε ≥ 0 and 0 < δ < 1.
func MuOf(eps, delta float64) float64 {
	checkDelta(delta)
	return largestWhere(func(mu float64) bool { return DeltaOfMu(eps, mu) <= delta })
}

// EpsilonOfMu returns the least ε ≥ 0 for which μ-GDP implies (ε, δ)-DP, rounded up: DeltaOfMu(ε,
// μ) ≤ δ.
//
// It panics unless 0 < δ < 1 and μ ≥ 0.
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

// RhoOfMu returns ρ = μ²/2, rounded up: μ-GDP implies ρ-zCDP, because every Rényi divergence of the
// mechanism is at most that of N(0,1) and N(μ,1), which is α·μ²/2.
func RhoOfMu(mu float64) float64 { return MulUp(mu, mu) / 2 }

// MuOfRho returns μ = √(2ρ), rounded down: the noise of a Gaussian mechanism that is ρ-zCDP is
// sensitivity/μ. The converse of [RhoOfMu] for Gaussian mechanisms only: ρ-zCDP does not imply
// √(2ρ)-GDP.
func MuOfRho(rho float64) float64 { return SqrtDown(2 * rho) }

// MuOfPure returns the least μ for which every ε₀-DP mechanism is μ-GDP, rounded up: μ =
// −2Φ⁻¹(1/(1+e^ε₀)).
//
// Randomised response attains it: the trade-off function of (ε₀, 0)-DP has its corner (1/(1+e^ε₀),
// 1/(1+e^ε₀)) on that of N(0,1) against N(μ,1), and its other points on chords of that convex
// curve, above it. It is good to 1e-11 absolutely, 1e-11 relatively for large ε₀. It panics unless
// ε₀ ≥ 0.
//
// Source: [DRS22] Section 2 (trade-off functions of (ε, δ)-DP).
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

// MuOfBoundedRange returns μ = −2Φ⁻¹(1/(1+e^(ε₀/2))), rounded up, for a mechanism of bounded range
// ε₀: one whose log-likelihood ratios, for fixed neighbours, span an interval of length at most ε₀.
// The exponential mechanism with weights e^(ε₀·score/2), score of sensitivity 1, is one.
//
// Proof: gdp_proof.md, steps 1 to 7.
//
// Source: [DDR20] (bounded range and its worst mechanism). Differs: stated as a μ, with a proof.
func MuOfBoundedRange(eps0 float64) float64 { return MuOfPure(eps0 / 2) }

// PureOfMu returns the largest ε₀ with MuOfPure(ε₀) ≤ μ, rounded down: the ε₀ of a pure step that
// may cost μ². It panics unless μ ≥ 0.
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

// BoundedRangeOfMu returns the largest ε₀ with MuOfBoundedRange(ε₀) ≤ μ, rounded down: the ε₀ of an
// exponential mechanism that may cost μ². It panics unless μ ≥ 0.
func BoundedRangeOfMu(mu float64) float64 { return 2 * PureOfMu(mu) }

// softplus returns ln(1+e^x) for x ≥ 0.
func softplus(x float64) float64 { return x + math.Log1p(math.Exp(-x)) }

// EpsilonOfRho returns an ε for which ρ-zCDP implies (ε, δ)-DP, by the tight conversion, rounded
// up:
//
//	ε = min over α > 1 of αρ + ln((α−1)/α) − (ln δ + ln α)/(α−1), and at least 0.
//
// Every α gives a valid ε, so the search below affects tightness only. It panics unless 0 < δ < 1
// and ρ ≥ 0. Gaussian mechanisms have the better [EpsilonOfMu].
//
// Source: [CKS20] Proposition 12 and Corollary 13.
func EpsilonOfRho(delta, rho float64) float64 {
	checkDelta(delta)
	notNegative("rho", rho)
	logInv := -math.Log(delta)
	return math.Max(0, leastOver(func(x float64) float64 { return epsilonAt(x, (1+x)*rho, logInv) }))
}

// DeltaOfRho returns a δ for which ρ-zCDP implies (ε, δ)-DP, by the tight conversion, rounded up:
//
//	δ = min over α > 1 of e^((α−1)(αρ−ε))/(α−1)·(1−1/α)^α, and at most 1.
//
// It panics unless ε ≥ 0 and ρ ≥ 0.
//
// Source: [CKS20] Corollary 13.
func DeltaOfRho(eps, rho float64) float64 {
	notNegative("epsilon", eps)
	notNegative("rho", rho)
	return expUp(leastOver(func(x float64) float64 { return logDeltaAt(x, (1+x)*rho, eps) }))
}

// RhoOf returns the largest ρ for which ρ-zCDP implies (ε, δ)-DP by [EpsilonOfRho], rounded down.
// It panics unless ε ≥ 0 and 0 < δ < 1.
func RhoOf(eps, delta float64) float64 {
	notNegative("epsilon", eps)
	checkDelta(delta)
	return largestWhere(func(rho float64) bool { return EpsilonOfRho(delta, rho) <= eps })
}

// RhoOfSimple returns the ρ of the textbook conversion ε = ρ + 2√(ρ·ln(1/δ)), rounded down, for
// comparison: ρ = (√(ln(1/δ)+ε) − √ln(1/δ))² = (ε/(√(ln(1/δ)+ε) + √ln(1/δ)))².
//
// Source: [BS16] Proposition 1.3.
func RhoOfSimple(eps, delta float64) float64 {
	notNegative("epsilon", eps)
	checkDelta(delta)
	l := up(-math.Log(delta))
	root := DivDown(eps, AddUp(SqrtUp(AddUp(l, eps)), SqrtUp(l)))
	return MulDown(root, root)
}

// epsilonAt returns the ε that a Rényi divergence r of order 1+x gives at δ = e^−logInv, rounded
// up: r − ln(1+1/x) + (logInv − ln(1+x))/x. Error: each term is good to a few 2^-53 of itself;
// 2^-48 of their sizes is added.
func epsilonAt(x, r, logInv float64) float64 {
	a, b, c := math.Log1p(1/x), logInv/x, math.Log1p(x)/x
	return r - a + b - c + (r+a+b+c)*0x1p-48
}

// logDeltaAt returns the ln δ that a Rényi divergence r of order 1+x gives at ε, rounded up: x(r−ε)
// − ln x − (1+x)·ln(1+1/x). Error: as in epsilonAt, with the two large terms xr and xε counted
// apart.
func logDeltaAt(x, r, eps float64) float64 {
	a, b, c, d := x*r, x*eps, math.Log(x), (1+x)*math.Log1p(1/x)
	return a - b - c - d + 1e-14 + (a+b+math.Abs(c)+d)*0x1p-48
}

// leastOver returns the least value of f(x) over x = α−1 from 1e-12 to 1e15, by ternary search in
// ln x.
//
// Both users are quasi-convex in x (ln δ is convex in α, its derivative (2α−1)ρ − ε + ln(1−1/α)
// being increasing, and {ε(α) ≤ e} is the level set of ln δ at ε = e), so the search meets the
// minimum.
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
