package stattest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// TestFitFalseAlarm computes the exact false-alarm rate of GoodFit for the fewest
// draws that it takes.
func TestFitFalseAlarm(t *testing.T) {
	for _, alpha := range []float64{1e-3, 1e-6, 1e-9} {
		for _, n := range []int{50, 75, 200, 1000} {
			p := MinExpected / float64(n)
			rate := 0.0
			for x := range n + 1 {
				if q, _ := fit(t, []int{x, n - x}, []float64{p, 1 - p}); q < alpha {
					rate += math.Exp(logMultinomial([]int{x, n - x}, []float64{p, 1 - p}))
				}
			}
			wantRate(t, fmt.Sprintf("2 cells, n = %d", n), rate, alpha)
		}
		for _, probs := range [][]float64{{1. / 3, 1. / 3, 1. / 3}, {0.2, 0.2, 0.6}} {
			n := int(math.Round(MinExpected / probs[0]))
			rate := 0.0
			for x := range n + 1 {
				for y := range n + 1 - x {
					o := []int{x, y, n - x - y}
					if q, _ := fit(t, o, probs); q < alpha {
						rate += math.Exp(logMultinomial(o, probs))
					}
				}
			}
			wantRate(t, "3 cells", rate, alpha)
		}
	}
	// Many cells: the law of G by convolution, each term rounded up to a grid, as the
	// law of independent Poisson counts given their sum.
	const cells, grid, alpha = 8, 0.1, FalseAlarm
	limit := distuv.ChiSquared{K: cells - 1}.Quantile(1 - alpha/fitMargin)
	wantRate(t, "8 cells", poissonTail(cells, limit, grid), alpha)
}

// wantRate checks a rate from both sides: a test that never rejects is no test.
func wantRate(t *testing.T, what string, rate, alpha float64) {
	t.Helper()
	t.Logf("%s: false-alarm rate %.2g, promised %.2g", what, rate, alpha)
	if rate > alpha || rate < alpha/100 {
		t.Errorf("%s: false-alarm rate %.3g, want at most %.3g and not below a hundredth of it", what, rate, alpha)
	}
}

// poissonTail returns P(G > limit | sum of counts as expected) for that many
// Poisson counts of mean MinExpected, with each cell's term rounded up to grid.
func poissonTail(cells int, limit, grid float64) float64 {
	const most = 8 * MinExpected // counts above have probability below 1e-90
	n := cells * MinExpected
	bins := int(limit/grid) + 2 // the last one holds all that is above the limit
	type table [][]float64
	empty := func() table {
		a := make(table, n+1)
		for i := range a {
			a[i] = make([]float64, bins)
		}
		return a
	}
	law := empty()
	law[0][0] = 1
	for range cells {
		next := empty()
		for o := 0; o <= min(most, n); o++ {
			x := float64(o)
			g := 2 * (MinExpected - x)
			if o > 0 {
				g += 2 * x * math.Log(x/MinExpected)
			}
			step := int(math.Ceil(g/grid - 1e-9))
			p := distuv.Poisson{Lambda: MinExpected}.Prob(x)
			for sum := 0; sum+o <= n; sum++ {
				to := next[sum+o]
				for b, q := range law[sum] {
					to[min(b+step, bins-1)] += p * q
				}
			}
		}
		law = next
	}
	all := 0.0
	for _, q := range law[n] {
		all += q
	}
	return law[n][bins-1] / all
}

func logMultinomial(o []int, probs []float64) float64 {
	n, sum := 0, 0.0
	for i, x := range o {
		n += x
		l, _ := math.Lgamma(float64(x) + 1)
		sum += float64(x)*math.Log(probs[i]) - l
	}
	l, _ := math.Lgamma(float64(n) + 1)
	return sum + l
}

// TestFitManyCells measures the rate for many small cells where it can be seen.
// False-alarm rate: 1e-9.
func TestFitManyCells(t *testing.T) {
	const cells, n, trials, alpha = 40, 40 * MinExpected, 5000, 1e-2
	probs := make([]float64, cells)
	for i := range probs {
		probs[i] = 1. / cells
	}
	rng := rand.New(rand.NewPCG(Seed(t), 0))
	alarms := 0
	for range trials {
		observed := make([]int, cells)
		for range n {
			observed[rng.IntN(cells)]++
		}
		if p, _ := fit(t, observed, probs); p < alpha {
			alarms++
		}
	}
	GoodAtMost(t, alarms, trials, alpha, FalseAlarm)
	// Without the margin the asymptotic law is already close.
	GoodAtMost(t, alarms, trials, 2*alpha/fitMargin, FalseAlarm)
}

// TestTails compares the tails that p-values are made of with closed forms.
func TestTails(t *testing.T) {
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got/want-1) > 1e-9 {
			t.Errorf("%s = %v, want %v", what, got, want)
		}
	}
	for _, df := range []int{2, 4, 10, 100} {
		for _, g := range []float64{1, 40, 100, 300} {
			// For even df: e^(-g/2) sum_{i<df/2} (g/2)^i/i!.
			term, sum := math.Exp(-g/2), 0.0
			for i := range df / 2 {
				sum += term
				term *= g / 2 / float64(i+1)
			}
			near(fmt.Sprintf("chi-square tail(%d, %v)", df, g), distuv.ChiSquared{K: float64(df)}.Survival(g), sum)
		}
	}
	for _, c := range []struct {
		x, n int
		p    float64
	}{{30, 100, 0.1}, {60, 100, 0.1}, {5500, 10000, 0.5}, {1, 1000, 1e-6}, {900, 1000, 0.95}} {
		sum := 0.0
		for x := c.n; x >= c.x; x-- {
			sum += math.Exp(logMultinomial([]int{x, c.n - x}, []float64{c.p, 1 - c.p}))
		}
		near(fmt.Sprint("P(Bin ≥ x) for ", c), atLeast(c.x, c.n, c.p), sum)
	}
}

func TestProportionBounds(t *testing.T) {
	const n, alpha = 40, 0.01
	if lo, hi := ProportionBounds(t, 0, n, alpha); lo != 0 || math.Abs(hi-(1-math.Pow(alpha/2, 1./n))) > 1e-12 {
		t.Errorf("bounds for 0 of %d: %v, %v", n, lo, hi)
	}
	if lo, hi := ProportionBounds(t, n, n, alpha); hi != 1 || math.Abs(lo-math.Pow(alpha/2, 1./n)) > 1e-12 {
		t.Errorf("bounds for %d of %d: %v, %v", n, n, lo, hi)
	}
	var lo, hi [n + 1]float64
	for x := range n + 1 {
		lo[x], hi[x] = ProportionBounds(t, x, n, alpha)
	}
	worst := 0.0
	for p := 0.001; p < 1; p += 0.001 {
		miss := 0.0
		for x := range n + 1 {
			if p < lo[x] || p > hi[x] {
				miss += math.Exp(logMultinomial([]int{x, n - x}, []float64{p, 1 - p}))
			}
		}
		worst = max(worst, miss)
	}
	if worst > alpha || worst < alpha/2 {
		t.Errorf("bounds miss with probability up to %v, want at most %v and not far below", worst, alpha)
	}
}
