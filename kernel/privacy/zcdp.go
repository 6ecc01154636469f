package privacy

import "math"

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
