package audit

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/gauze-dp/gauze/kernel/privacy"
)

// wrongBound is the probability with which any bound of a report may be above what it bounds: half
// of it is the whole's, and the steps share the rest.
const wrongBound = .05

// falseAlarm is the probability with which all verdicts of a report together may blame what is as
// private as it says.
const falseAlarm = 1e-6

// least is the Clopper-Pearson lower bound on the probability of a right guess, after so many right
// ones of n independent: it is wrong with probability at most level.
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

// phi is the standard normal distribution function, and quantile its inverse.
func phi(x float64) float64      { return math.Erfc(-x/math.Sqrt2) / 2 }
func quantile(p float64) float64 { return -math.Sqrt2 * math.Erfcinv(2*p) }

// muOf is the mu of a Gaussian mechanism of which a guess is right with probability p: which of two
// neighbours was fitted, drawn by a fair coin, can be told with probability Phi(mu/2) at most from
// what is mu-GDP, since any test has errors a and b with Phi^-1(1-a) - Phi^-1(b) <= mu, and a + b
// is then at least 2 Phi(-mu/2).
//
// Source: [NASR23] (a bound on mu by the trade-off curve, in place of one on epsilon); [DRS22].
// Differs: one guess per run, right or wrong, in place of two error rates with a bound each: half
// as many runs do.
func muOf(p float64) float64 { return 2 * math.Max(0, quantile(math.Max(.5, p))) }

// epsilonOf is the epsilon of a mechanism, of any shape, of which a guess is right with probability
// p at delta: it is at most (e^epsilon + delta)/(1 + e^epsilon).
//
// Source: [SNJ23] (guesses, right or wrong, of coins).
// Differs: one guess of each of many runs, in place of many of one run.
func epsilonOf(p, delta float64) float64 {
	if p-delta <= .5 {
		return 0
	}
	return math.Max(0, math.Log((p-delta)/(1-p)))
}

// A claim is how often a guess may be right.
type claim struct {
	mu             float64 // of what is Gaussian; 0 for a promise in epsilon and delta alone
	slack          float64 // of the total variation, beside mu
	epsilon, delta float64
}

// most is the largest probability of a right guess that the claim allows.
func (c claim) most() float64 {
	if c.mu > 0 {
		return math.Min(1, phi(c.mu/2)+c.slack)
	}
	return (math.Exp(c.epsilon) + c.delta) / (1 + math.Exp(c.epsilon))
}

// A Bound is what an attack has shown.
type Bound struct {
	// Right guesses of so many Runs, each by a fair coin which of two neighbours was fitted.
	Right int `json:"right"`
	Runs  int `json:"runs"`
	// Claimed and Mu are the mu that is claimed and a lower bound on it; 0 for a claim that is none
	// of mu.
	Claimed float64 `json:"claimed_mu,omitempty"`
	Mu      float64 `json:"mu,omitempty"`
	// Epsilon is a lower bound at the budget's delta: that of a Gaussian mechanism of Mu, where a
	// mu is claimed, and else Any.
	Epsilon float64 `json:"epsilon"`
	// Any is a lower bound on epsilon that supposes no shape of the loss.
	Any float64 `json:"epsilon_any_shape"`
	// Reach is the part of the claimed mu that these neighbours can show, computed from exact
	// answers: an attack that sees all of it bounds mu by no more.
	Reach float64 `json:"reach"`
	// Neighbours are the pair of tables that was attacked.
	Neighbours string `json:"neighbours"`
	// Above: more right guesses than the claim allows, but for the report's part of falseAlarm.
	Above bool `json:"above_claim"`
}

// bound is what right guesses show of a claim, wrong with probability at most part of wrongBound,
// and with a verdict that has the same part of falseAlarm.
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
