package stattest

import (
	"fmt"
	"os"
	"testing"

	"gonum.org/v1/gonum/mathext"
)

// ProportionBounds returns the two-sided bounds lo <= hi on the probability of a
// success, given the number of successes in n independent trials: each is wrong
// with probability at most alpha/2, for every n and every probability.
//
// Source: [CLOPPER34].
func ProportionBounds(t testing.TB, successes, n int, alpha float64) (lo, hi float64) {
	t.Helper()
	checkTrials(t, successes, n)
	// Both tails are monotone in p, so bisection gives the bound to the last bit.
	lo = bisect(func(p float64) bool { return atLeast(successes, n, p) < alpha/2 })
	hi = bisect(func(p float64) bool { return atMost(successes, n, p) >= alpha/2 })
	return lo, hi
}

// GoodProportion fails t if the number of successes in n independent trials does
// not fit the probability p of a success (two-sided, exact).
func GoodProportion(t testing.TB, successes, n int, p, alpha float64) {
	t.Helper()
	checkTrials(t, successes, n)
	judge(t, true, twoSided(successes, n, p), alpha, describe(successes, n, p))
}

// BadProportion fails t if GoodProportion would not.
func BadProportion(t testing.TB, successes, n int, p, alpha float64) {
	t.Helper()
	checkTrials(t, successes, n)
	judge(t, false, twoSided(successes, n, p), alpha, describe(successes, n, p))
}

// GoodAtMost fails t if there are too many successes for a probability of at most
// p (one-sided, exact): for failure probabilities and delta.
func GoodAtMost(t testing.TB, successes, n int, p, alpha float64) {
	t.Helper()
	checkTrials(t, successes, n)
	judge(t, true, atLeast(successes, n, p), alpha, describe(successes, n, p))
}

// BadAtMost fails t if GoodAtMost would not.
func BadAtMost(t testing.TB, successes, n int, p, alpha float64) {
	t.Helper()
	checkTrials(t, successes, n)
	judge(t, false, atLeast(successes, n, p), alpha, describe(successes, n, p))
}

// GoodAtLeast fails t if there are too few successes for a probability of at least
// p (one-sided, exact): for success probabilities 1 - beta.
func GoodAtLeast(t testing.TB, successes, n int, p, alpha float64) {
	t.Helper()
	checkTrials(t, successes, n)
	judge(t, true, atMost(successes, n, p), alpha, describe(successes, n, p))
}

// Enough reports that GoodAtLeast passes whatever comes of the trials that are left, so that they
// need not be made: as many successes are there as it wants of all n. Where GAUZE_LONG is set all
// are made.
func Enough(successes, n int, p, alpha float64) bool {
	return os.Getenv("GAUZE_LONG") == "" && atMost(successes, n, p) >= alpha
}

// BadAtLeast fails t if GoodAtLeast would not.
func BadAtLeast(t testing.TB, successes, n int, p, alpha float64) {
	t.Helper()
	checkTrials(t, successes, n)
	judge(t, false, atMost(successes, n, p), alpha, describe(successes, n, p))
}

// twoSided returns the exact p-value 2 min(P(B <= x), P(B >= x)) for B ~ Bin(n, p).
func twoSided(x, n int, p float64) float64 {
	return min(1, 2*atMost(x, n, p), 2*atLeast(x, n, p))
}

// atLeast returns P(B >= x) for B ~ Bin(n, p).
func atLeast(x, n int, p float64) float64 {
	switch {
	case x <= 0 || p >= 1:
		return 1
	case p <= 0:
		return 0
	}
	return mathext.RegIncBeta(float64(x), float64(n-x+1), p)
}

// atMost returns P(B <= x) for B ~ Bin(n, p).
func atMost(x, n int, p float64) float64 { return atLeast(n-x, n, 1-p) }

// bisect returns the end of the initial part of [0, 1] on which below is true.
func bisect(below func(float64) bool) float64 {
	lo, hi := 0.0, 1.0
	if below(hi) {
		return hi
	}
	for mid := 0.5; lo < mid && mid < hi; mid = lo + (hi-lo)/2 {
		if below(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

func checkTrials(t testing.TB, successes, n int) {
	t.Helper()
	if n < 1 || successes < 0 || successes > n {
		t.Fatalf("stattest: wanted 0 ≤ successes ≤ n and n ≥ 1, got %d of %d", successes, n)
	}
}

func describe(successes, n int, p float64) string {
	return fmt.Sprintf("%d of %d (%.4g) against probability %.4g", successes, n, float64(successes)/float64(n), p)
}
