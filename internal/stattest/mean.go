package stattest

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"
)

// GoodMean fails t if the mean of the independent draws xs does not fit mean,
// given their standard deviation sigma (two-sided z-test).
//
// Exact for Gaussian draws. For others it rests on the central limit theorem, which
// is poor so far out in the tail: wanted then are n >= 1000 and light tails, or a test
// of a proportion instead. The draws are not used to estimate sigma.
func GoodMean(t testing.TB, xs []float64, mean, sigma, alpha float64) {
	t.Helper()
	p, what := meanTest(t, xs, mean, sigma)
	judge(t, true, p, alpha, what)
}

// BadMean fails t if GoodMean would not.
func BadMean(t testing.TB, xs []float64, mean, sigma, alpha float64) {
	t.Helper()
	p, what := meanTest(t, xs, mean, sigma)
	judge(t, false, p, alpha, what)
}

func meanTest(t testing.TB, xs []float64, mean, sigma float64) (p float64, what string) {
	t.Helper()
	if len(xs) == 0 || !(sigma > 0) {
		t.Fatalf("stattest: wanted draws and sigma > 0, got %d draws and sigma = %v", len(xs), sigma)
	}
	got := stat.Mean(xs, nil)
	if math.IsNaN(got) {
		return 0, "the mean is NaN"
	}
	z := (got - mean) / sigma * math.Sqrt(float64(len(xs)))
	return math.Erfc(math.Abs(z) / math.Sqrt2), fmt.Sprintf("mean %.6g against %.6g: z = %+.2f, n = %d", got, mean, z, len(xs))
}
