package privacy

import (
	"fmt"
	"math"
)

// shares say how the delta of a grant is divided, so that the request of a fit may depend on what
// others have released (compose_proof.md, steps 6 to 8). They sum to 1.
type shares struct {
	added float64 // of closeness that counts as it stands
	slack float64 // of total variation
	gauss float64 // of accounts in Gaussian DP alone
	curve float64 // of each of the orders of accounts with curves
}

// How delta is divided if the first fit had no Rényi curve, and if it had one. Guesses: at (1,
// 1e-6) an account of Gaussian fits loses 5 % of mu^2 by not having all of delta.
var (
	plainShares = shares{added: .20, slack: .05, gauss: .60, curve: .05}
	curveShares = shares{added: .35, slack: .05, gauss: .06, curve: .18}
)

// curveOrders is the number of orders in which an account with curves may end.
const curveOrders = 3

func (a Account) shares() shares {
	if a.CurveFirst {
		return curveShares
	}
	return plainShares
}

// An Account holds the joint cost of the fits of one data set, and the budget granted for them.
type Account struct {
	Epsilon, Delta float64 // granted: 0 for nothing
	// CurveFirst says that the first fit had a Rényi curve, which decides how delta is divided.
	CurveFirst bool
	Fits       int  // that count, those that have not ended included
	Rho        int  // fits requested as zCDP, which are in no sum of epsilons
	Sum        Cost // of all that count, under the account's relation
}

// Full returns why the account's Sum exceeds the grant; "" if it does not.
//
// Theorem. If it is "" on every path, all that the fits release is together (Epsilon, Delta)-DP,
// even if each request depends on everything released before. Proof: compose_proof.md, step 8.
//
// One fit alone is within its own calibration; several have to stay, on every path, within caps
// that the grant and the first fit have fixed.
func (a Account) Full() string {
	if a.Epsilon == 0 && a.Delta == 0 {
		return "nothing was granted"
	}
	if a.Fits <= 1 && (a.Rho == 0 && a.Sum.Epsilon <= a.Epsilon && a.Sum.Delta <= a.Delta || a.Sum.Holds(a.Epsilon, a.Delta)) {
		return ""
	}
	share := a.shares()
	part := func(share float64) float64 { return MulDown(share, a.Delta) }
	if a.Sum.Added > part(share.added) {
		return fmt.Sprintf("the thresholds and tests of all fits together need %.3g of the granted delta = %.3g, and at most %.3g is set aside for them", a.Sum.Added, a.Delta, part(share.added))
	}
	if slack := a.Sum.slackDelta(a.Epsilon); slack > part(share.slack) {
		return fmt.Sprintf("the truncated noise of all fits together needs %.3g of the granted delta = %.3g, and at most %.3g is set aside for it", slack, a.Delta, part(share.slack))
	}
	needs := math.Inf(1)
	if a.Sum.Renyi == nil {
		mu := SqrtUp(a.Sum.Mu2)
		if DeltaOfMu(a.Epsilon, mu) <= part(share.gauss) {
			return ""
		}
		needs = EpsilonOfMu(part(share.gauss), mu)
	} else {
		for _, i := range bestOrders(a.Epsilon, part(share.curve)) {
			needs = math.Min(needs, a.Sum.atOrder(i, part(share.curve)))
		}
		if needs <= a.Epsilon {
			return ""
		}
	}
	return fmt.Sprintf("all fits together need epsilon = %.4g at delta = %.4g, and epsilon = %.4g is granted", needs, a.Delta, a.Epsilon)
}

// Spent returns what the fits cost together, as an epsilon at the granted delta: at most the
// granted one, if Full lets the account through (compose_proof.md, steps 8 and 9).
func (a Account) Spent() (epsilon, delta float64) {
	if a.Fits == 0 {
		return 0, 0
	}
	epsilon = a.Sum.epsilonAt(a.Delta)
	if a.Rho == 0 && a.Sum.Delta <= a.Delta {
		epsilon = math.Min(epsilon, a.Sum.Epsilon)
	}
	if epsilon > a.Epsilon && a.Full() == "" {
		epsilon = a.Epsilon
	}
	return math.Min(epsilon, Unbounded), a.Delta // Unbounded never occurs for an account that Full lets through
}

// bestOrders returns the orders, by index, at which epsilon and delta allow the largest mu: the
// best one and its neighbours. They depend on the grant alone.
func bestOrders(epsilon, delta float64) []int {
	best, room := 0, math.Inf(-1)
	for i, a := range composeOrders {
		// the mu^2 with which the Gaussian divergence a mu^2/2 implies epsilon
		if mu2 := 2 * (epsilon - epsilonAt(a-1, 0, -math.Log(delta))) / a; mu2 > room {
			best, room = i, mu2
		}
	}
	first := min(max(best-1, 0), len(composeOrders)-curveOrders)
	return []int{first, first + 1, first + 2}
}
