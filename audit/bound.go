package audit

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/gauze-dp/gauze/kernel/privacy"
)

// wrongBound is the probability that any bound of a report exceeds what it bounds: half of it is
// the whole's, and the steps share the rest.
const wrongBound = .05

// falseAlarm is the probability that any verdict of a report blames a program that is as private as
// it claims.
const falseAlarm = 1e-6

// least returns the Clopper-Pearson lower bound on the probability of a right guess, after right
// ones of n independent guesses: it is wrong with probability at most level.
//
// Source: [CLOPPER34].
func least(right, n int, level float64) float64 {
	if right == 0 {
		return 0
	}
	low, high := 0.0, 1.0
	for range 60 {
		p := (low + high) / 2
		if mathext.RegIncBeta(float64(right), float64(n-right+1), p) < level {
			low = p
		} else {
			high = p
		}
	}
	return low
}

// phi returns the standard normal distribution function, and quantile its inverse.
func phi(x float64) float64      { return math.Erfc(-x/math.Sqrt2) / 2 }
func quantile(p float64) float64 { return -math.Sqrt2 * math.Erfcinv(2*p) }

// muOf returns the mu of a Gaussian mechanism for which a guess is right with probability p. Which
// of two neighbours was fitted, drawn by a fair coin, can be guessed with probability at most
// Phi(mu/2) from the result of a mu-GDP mechanism, since any test has errors a and b with
// Phi^-1(1-a) - Phi^-1(b) <= mu, and a + b is then at least 2 Phi(-mu/2).
//
// Source: [NASR23] (a bound on mu by the trade-off curve, in place of one on epsilon); [DRS22].
// Differs: one guess per run, right or wrong, in place of two error rates with a bound each: half
// as many runs do.
func muOf(p float64) float64 { return 2 * math.Max(0, quantile(math.Max(.5, p))) }

// epsilonOf returns the epsilon of a mechanism, of any shape, for which a guess is right with
// probability p at delta: p is at most (e^epsilon + delta)/(1 + e^epsilon).
//
// Source: [SNJ23] (guesses, right or wrong, of coins).
// Differs: one guess of each of many runs, in place of many of one run.
func epsilonOf(p, delta float64) float64 {
	if p-delta <= .5 {
		return 0
	}
	return math.Max(0, math.Log((p-delta)/(1-p)))
}

// A claim bounds how often a guess may be right.
type claim struct {
	mu             float64 // of a Gaussian promise; 0 for a promise in epsilon and delta alone
	slack          float64 // total variation beside mu
	epsilon, delta float64
}

// most returns the largest probability of a right guess that the claim allows.
func (c claim) most() float64 {
	if c.mu > 0 {
		return math.Min(1, phi(c.mu/2)+c.slack)
	}
	return (math.Exp(c.epsilon) + c.delta) / (1 + math.Exp(c.epsilon))
}

// A Bound is the result of an attack.
type Bound struct {
	// The number of right guesses in Runs, in each of which a fair coin chose which of two
	// neighbours was fitted.
	Right int `json:"right"`
	Runs  int `json:"runs"`
	// Claimed is the claimed mu, and Mu a lower bound on the actual one; 0 if the claim is not a
	// mu.
	Claimed float64 `json:"claimed_mu,omitempty"`
	Mu      float64 `json:"mu,omitempty"`
	// Epsilon is a lower bound at the budget's delta: that of a Gaussian mechanism of Mu if a mu is
	// claimed, and Any otherwise.
	Epsilon float64 `json:"epsilon"`
	// Any is a lower bound on epsilon that assumes no shape of the loss.
	Any float64 `json:"epsilon_any_shape"`
	// Reach is the part of the claimed mu that these neighbours can show, computed from exact
	// answers: even an attack that sees all of it bounds mu by no more.
	Reach float64 `json:"reach"`
	// Neighbours names the pair of tables that was attacked.
	Neighbours string `json:"neighbours"`
	// Above says that there were more right guesses than the claim allows, with the report's share
	// of falseAlarm.
	Above bool `json:"above_claim"`
}

// bound returns what right guesses show about a claim, wrong with probability at most part of
// wrongBound, with a verdict that has the same part of falseAlarm.
func bound(right, runs int, c claim, part float64) Bound {
	p := least(right, runs, part*wrongBound)
	b := Bound{Right: right, Runs: runs, Claimed: c.mu, Any: epsilonOf(p, c.delta)}
	if b.Epsilon = b.Any; c.mu > 0 {
		b.Mu, b.Epsilon = muOf(p), 0
		if b.Mu > 0 && c.delta > 0 {
			b.Epsilon = privacy.EpsilonOfMu(c.delta, b.Mu)
		}
	}
	b.Above = least(right, runs, part*falseAlarm) > c.most()
	return b
}
