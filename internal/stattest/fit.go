package stattest

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"
)

// MinExpected is the least expected count of a cell in GoodFit and GoodSameLaw;
// smaller cells are pooled with their right-hand neighbours.
const MinExpected = 25

// fitMargin multiplies the p-value of the likelihood-ratio test, for what its
// asymptotic law leaves out; TestFitFalseAlarm measures that it is enough.
const fitMargin = 10

// probTolerance is how far from 1 the sum of cell probabilities may be.
const probTolerance = 1e-9

// GoodFit fails t if observed[i], the number of independent draws that fell into
// cell i, does not fit the cell probabilities probs, which must sum to 1.
//
// It is the chi-square test in its likelihood-ratio form, 2 sum O ln(O/E) on
// (cells - 1) degrees of freedom, because at rates like 1e-9 the tail of Pearson's
// statistic is far from its limit at any affordable sample size, and this one's is
// not. Cells are pooled with their neighbours up to MinExpected. A draw in a cell of
// probability 0 is always an error.
func GoodFit(t testing.TB, observed []int, probs []float64, alpha float64) {
	t.Helper()
	p, what := fit(t, observed, probs)
	judge(t, true, p, alpha, what)
}

// BadFit fails t if GoodFit would not: probs is a law that must be rejected.
func BadFit(t testing.TB, observed []int, probs []float64, alpha float64) {
	t.Helper()
	p, what := fit(t, observed, probs)
	judge(t, false, p, alpha, what)
}

// GoodSameLaw fails t if two independent samples, counted in the same cells, are
// not from the same law (whatever it is). Margin and pooling are GoodFit's, with
// expected counts estimated from both samples together.
func GoodSameLaw(t testing.TB, a, b []int, alpha float64) {
	t.Helper()
	p, what := sameLaw(t, a, b)
	judge(t, true, p, alpha, what)
}

// BadSameLaw fails t if GoodSameLaw would not.
func BadSameLaw(t testing.TB, a, b []int, alpha float64) {
	t.Helper()
	p, what := sameLaw(t, a, b)
	judge(t, false, p, alpha, what)
}

// fit returns the p-value of GoodFit and a description of the test.
func fit(t testing.TB, observed []int, probs []float64) (p float64, what string) {
	t.Helper()
	if len(observed) != len(probs) {
		t.Fatalf("stattest: observed and probs must have equally many cells, got %d and %d", len(observed), len(probs))
	}
	checkProbs(t, probs)
	n := total(t, observed)
	var cells pool
	for i, q := range probs {
		if q == 0 && observed[i] > 0 {
			return 0, fmt.Sprintf("%d draws in cell %d, which has probability 0", observed[i], i)
		}
		cells.add([2]float64{float64(observed[i])}, [2]float64{q * n})
	}
	return cells.test(t, 1)
}

// sameLaw returns the p-value of GoodSameLaw and a description of the test.
func sameLaw(t testing.TB, a, b []int) (p float64, what string) {
	t.Helper()
	if len(a) != len(b) {
		t.Fatalf("stattest: both samples must have equally many cells, got %d and %d", len(a), len(b))
	}
	na, nb := total(t, a), total(t, b)
	var cells pool
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		q := (x + y) / (na + nb)
		cells.add([2]float64{x, y}, [2]float64{q * na, q * nb})
	}
	return cells.test(t, 2)
}

// pool gathers cells, of one or two samples, and merges those that are too small.
type pool struct {
	observed, expected [][2]float64
	open               bool // the last cell is still too small in some sample
}

func (c *pool) add(observed, expected [2]float64) {
	if !c.open {
		c.observed = append(c.observed, observed)
		c.expected = append(c.expected, expected)
	} else {
		c.mergeInto(len(c.observed)-1, observed, expected)
	}
	c.open = !bigEnough(c.expected[len(c.expected)-1])
}

// bigEnough reports whether every sample that is there expects enough draws.
func bigEnough(expected [2]float64) bool {
	return expected[0] >= MinExpected && (expected[1] == 0 || expected[1] >= MinExpected)
}

func (c *pool) mergeInto(i int, observed, expected [2]float64) {
	for s := range 2 {
		c.observed[i][s] += observed[s]
		c.expected[i][s] += expected[s]
	}
}

// test returns the p-value of the pooled cells of that many samples.
func (c *pool) test(t testing.TB, samples int) (p float64, what string) {
	t.Helper()
	if last := len(c.observed) - 1; c.open && last > 0 {
		o, e := c.observed[last], c.expected[last]
		c.observed, c.expected = c.observed[:last], c.expected[:last]
		c.mergeInto(last-1, o, e)
	}
	if len(c.observed) < 2 {
		t.Fatalf("stattest: wanted at least 2 cells that expect %d draws, got %d: such a test cannot fail; draw more or cut finer", MinExpected, len(c.observed))
	}
	g, worst, worstAt := 0.0, 0.0, 0
	for i := range c.observed {
		for s := range samples {
			o, e := c.observed[i][s], c.expected[i][s]
			if o > 0 {
				g += 2 * o * math.Log(o/e)
			}
			if z := (o - e) / math.Sqrt(e); math.Abs(z) > math.Abs(worst) {
				worst, worstAt = z, i
			}
		}
	}
	df := float64(len(c.observed) - 1)
	p = min(1, fitMargin*distuv.ChiSquared{K: df}.Survival(max(g, 0)))
	return p, fmt.Sprintf("G = %.2f on %.0f degrees of freedom, worst cell %d (after pooling) off by %+.1f standard deviations", g, df, worstAt, worst)
}

func checkProbs(t testing.TB, probs []float64) {
	t.Helper()
	for i, q := range probs {
		if !(q >= 0) {
			t.Fatalf("stattest: probs must be ≥ 0, got probs[%d] = %v", i, q)
		}
	}
	if sum := floats.SumCompensated(probs); math.Abs(sum-1) > probTolerance {
		t.Fatalf("stattest: probs must sum to 1, got 1%+.3g: is a cell for the rest missing?", sum-1)
	}
}

func total(t testing.TB, counts []int) float64 {
	t.Helper()
	n := 0
	for i, c := range counts {
		if c < 0 {
			t.Fatalf("stattest: counts must be ≥ 0, got counts[%d] = %d", i, c)
		}
		n += c
	}
	if n == 0 {
		t.Fatalf("stattest: wanted draws, got none")
	}
	return float64(n)
}
