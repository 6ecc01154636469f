package stattest

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// GoodKS fails t if the draws xs, independent of each other, are not from the law
// with distribution function cdf, by the Kolmogorov-Smirnov distance
// D = sup_x |F_n(x) - cdf(x)|.
//
// cdf may have jumps (a law on integers, say); it must then be right-continuous,
// and right at every float64. The p-value is 2 exp(-2nD^2), a bound for every n and
// every law. Its power is modest: at FalseAlarm it sees D > 3.3/sqrt n.
//
// Source: [MASSART90] Corollary 1.
func GoodKS(t testing.TB, xs []float64, cdf func(float64) float64, alpha float64) {
	t.Helper()
	p, what := ks(t, xs, cdf)
	judge(t, true, p, alpha, what)
}

// BadKS fails t if GoodKS would not.
func BadKS(t testing.TB, xs []float64, cdf func(float64) float64, alpha float64) {
	t.Helper()
	p, what := ks(t, xs, cdf)
	judge(t, false, p, alpha, what)
}

func ks(t testing.TB, xs []float64, cdf func(float64) float64) (p float64, what string) {
	t.Helper()
	if len(xs) == 0 {
		t.Fatalf("stattest: wanted draws, got none")
	}
	sorted := slices.Clone(xs)
	slices.Sort(sorted)
	if math.IsNaN(sorted[0]) {
		return 0, "a draw is NaN"
	}
	n := float64(len(sorted))
	d, at := 0.0, math.NaN()
	for i := 0; i < len(sorted); {
		x := sorted[i]
		j := i + 1
		for j < len(sorted) && sorted[j] == x {
			j++
		}
		// F_n steps from i/n to j/n at x; cdf may step there too.
		before := math.Abs(float64(i)/n - cdf(math.Nextafter(x, math.Inf(-1))))
		after := math.Abs(float64(j)/n - cdf(x))
		if math.IsNaN(before) || math.IsNaN(after) {
			t.Fatalf("stattest: cdf must be a number in [0, 1], got NaN at %v", x)
		}
		if m := max(before, after); m > d {
			d, at = m, x
		}
		i = j
	}
	p = min(1, 2*math.Exp(-2*n*d*d))
	return p, fmt.Sprintf("D = %.3g at %v, n = %d", d, at, len(xs))
}
