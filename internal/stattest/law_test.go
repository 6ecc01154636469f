package stattest

import (
	"math"
	"math/big"
	"testing"
)

// TestRoundedGaussian compares the law with a reference of 200 bits.
func TestRoundedGaussian(t *testing.T) {
	edge := func(sigma float64, twice int64) *big.Float {
		z := new(big.Float).SetPrec(bigPrec).SetFloat64(float64(twice) / 2)
		return BigPhi(z.Quo(z, big.NewFloat(sigma)))
	}
	for _, sigma := range []float64{0.1, 0.3, 1, 3.7, 20, 24.9, 25.1, 600, 1e4, 1e9} {
		for _, x := range []float64{0, 0.01, 0.5, 1, 2, 5, 8, 12} {
			j := int64(math.Round(x * sigma))
			b := new(big.Float).Sub(edge(sigma, 2*j+1), edge(sigma, 2*j-1))
			want, _ := b.Float64()
			if got := RoundedGaussian(sigma, j); math.Abs(got/want-1) > 1e-12 {
				t.Errorf("P(round(%v·X) = %d) = %v, want %v", sigma, j, got, want)
			}
			if RoundedGaussian(sigma, j) != RoundedGaussian(sigma, -j) {
				t.Errorf("not symmetric at σ = %v, j = %d", sigma, j)
			}
			want, _ = edge(sigma, 2*j+1).Float64()
			if got := RoundedGaussianCDF(sigma, float64(j)+0.3); math.Abs(got/want-1) > 1e-12 {
				t.Errorf("P(round(%v·X) ≤ %d) = %v, want %v", sigma, j, got, want)
			}
		}
	}
}

func TestCells(t *testing.T) {
	probs := RoundedGaussianCells(3.7, -6, 9)
	counts := Tally([]int64{-100, -7, -6, 0, 9, 10, 11, math.MaxInt64, math.MinInt64}, -6, 9)
	if len(probs) != 18 || len(counts) != 18 {
		t.Fatalf("%d probabilities and %d counts, want 18", len(probs), len(counts))
	}
	checkProbs(t, probs)
	if counts[0] != 3 || counts[1] != 1 || counts[7] != 1 || counts[16] != 1 || counts[17] != 3 {
		t.Errorf("counts are %v", counts)
	}
	if probs[7] != RoundedGaussian(3.7, 0) || probs[0] != RoundedGaussianCDF(3.7, -7) || math.Abs(probs[17]-(1-RoundedGaussianCDF(3.7, 9))) > 1e-15 {
		t.Errorf("probabilities are %v", probs)
	}
}

func TestSeed(t *testing.T) {
	a := Seed(t)
	if a != Seed(t) {
		t.Error("two seeds of one test differ")
	}
	t.Setenv(SeedVariable, "other")
	if a == Seed(t) {
		t.Error("the variable changes nothing")
	}
}
