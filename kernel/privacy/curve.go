package privacy

import (
	"fmt"
	"math"
	"slices"
)

// Curve is a Rényi loss curve: for each order alpha of [Orders], a bound on the Rényi divergence
//
//	D_alpha(M(X) | M(X')) = ln E[(dM(X)/dM(X'))^(alpha-1)] / (alpha-1), expectation under M(X),
//
// over all neighbours X, X' in both directions. +Inf is allowed: the curve then says nothing at
// that order. Curves are values and do not change. The zero Curve is invalid (it is not "no loss";
// that is GaussianCurve(0)).
type Curve struct{ at []float64 }

var orders = func() (a []float64) {
	for j := -80; j <= 160; j++ {
		a = append(a, 1+math.Exp2(float64(j)/8))
	}
	return a
}()

// Orders returns a copy of the orders at which every curve is known: alpha = 1 + 2^(j/8) for
// alpha-1 from 2^-10 to 2^20, 241 in all. At delta = 1e-6 this spans the best order of plans with
// epsilon from 1e-4 to 1e7, and missing it by half a step costs at most .1 % of epsilon.
func Orders() []float64 { return slices.Clone(orders) }

// CurveOf returns the curve of the given divergence, a function of the order that rounds up. It
// panics where that is NaN, negative, or decreases with the order.
func CurveOf(divergence func(order float64) float64) Curve {
	at := make([]float64, len(orders))
	for i, a := range orders {
		at[i] = divergence(a)
		// Rényi divergences grow with the order; a bound may be loose, but a fall beyond rounding
		// is a mistake.
		if !(at[i] >= 0) || i > 0 && at[i] < at[i-1]*(1-1e-9) {
			panic(fmt.Sprintf("privacy: CurveOf: want a number >= 0 that does not decrease with the order, got %v at %v", at[i], a))
		}
	}
	return Curve{at}
}

// GaussianCurve returns alpha mu^2/2, which bounds the curve of every mu-GDP mechanism and is that
// of the Gaussian one. It panics unless mu >= 0.
func GaussianCurve(mu float64) Curve {
	rho := RhoOfMu(mu)
	return CurveOf(func(a float64) float64 { return MulUp(a, rho) })
}

// IsZero reports whether c is the invalid zero Curve.
func (c Curve) IsZero() bool { return c.at == nil }

// Values returns a copy of the divergences, in the order of [Orders].
func (c Curve) Values() []float64 { return slices.Clone(c.valid()) }

func (c Curve) valid() []float64 {
	if c.at == nil {
		panic("privacy: the zero Curve has no loss; GaussianCurve(0) is the curve of no loss")
	}
	return c.at
}

// Compose returns the curve of running mechanisms with curves c and others, adaptively: the sums,
// rounded up.
//
// Source: [MIR17] Proposition 1.
func (c Curve) Compose(others ...Curve) Curve {
	sum := c.Values()
	for _, o := range others {
		for i, r := range o.valid() {
			sum[i] = AddUp(sum[i], r)
		}
	}
	return Curve{sum}
}

// Epsilon returns an epsilon >= 0 for which a loss within c implies (epsilon, delta)-DP, rounded
// up: min over alpha of R(alpha) + ln((alpha-1)/alpha) - (ln delta + ln alpha)/(alpha-1); +Inf if c
// is +Inf throughout. It panics unless 0 < delta < 1.
//
// Source: [CKS20] Proposition 12.
func (c Curve) Epsilon(delta float64) float64 {
	checkDelta(delta)
	best, logInv := math.Inf(1), -math.Log(delta)
	for i, r := range c.valid() {
		if !math.IsInf(r, 1) {
			best = math.Min(best, epsilonAt(orders[i]-1, r, logInv)) // alpha-1 is exact
		}
	}
	return math.Max(0, best)
}
