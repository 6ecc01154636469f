package noise

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
)

// cells of |X| by the first two binary places, up to 4, and sign.
func normalCells(scale float64) []float64 {
	var probs []float64
	cdf := func(x float64) float64 { return .5 * math.Erfc(-x/scale/math.Sqrt2) }
	for j := range 16 {
		p := cdf(float64(j+1)/4) - cdf(float64(j)/4)
		probs = append(probs, p, p)
	}
	return append(probs, cdf(-4), cdf(-4))
}

// TestNormalLaw: exact counts of the leading digits against erf, KS, and digits that are uniform
// and independent of them at every depth.
func TestNormalLaw(t *testing.T) {
	const n = 100_000
	g := NewGaussian(NewSeeded(stattest.Seed(t)))
	counts, xs := make([]int, 34), make([]float64, n)
	depths := []int{60, 64, 65, 128, 190, 255, 320, 448, 511}
	deep := make([][]int, len(depths)) // 3 binary places from there on, and whether |X| > .67
	for i := range deep {
		deep[i] = make([]int, 16)
	}
	scaled, digit := new(big.Float).SetPrec(1024), new(big.Int)
	for i := range n {
		z := g.Normal()
		xs[i], _ = z.Float64()
		cell := 2 * min(16, int(4*math.Abs(xs[i])))
		if z.Sign() < 0 {
			cell++
		}
		counts[cell]++
		for d, depth := range depths {
			scaled.SetMantExp(scaled.Abs(z), min(depth+3, normalDigits)).Int(digit)
			c := int(digit.Uint64() & 7)
			if math.Abs(xs[i]) > .6744897501960817 { // the median
				c += 8
			}
			deep[d][c]++
		}
		if scaled.SetMantExp(z, normalDigits); !scaled.IsInt() {
			t.Fatal("more digits than normalDigits")
		}
	}
	stattest.GoodFit(t, counts, normalCells(1), alpha)
	stattest.BadFit(t, counts, normalCells(1.03), alpha)
	stattest.BadFit(t, counts, normalCells(.97), alpha)
	cdf := func(scale float64) func(float64) float64 {
		return func(x float64) float64 { return .5 * math.Erfc(-x/scale/math.Sqrt2) }
	}
	stattest.GoodKS(t, xs, cdf(1), alpha)
	stattest.BadKS(t, xs, cdf(1.06), alpha)
	for d, depth := range depths {
		t.Run(fmt.Sprint(depth), func(t *testing.T) {
			stattest.GoodFit(t, deep[d], uniformCells(16), alpha)
			worn := append([]int(nil), deep[d]...) // one digit in ten stuck
			worn[0] += worn[1] / 5
			worn[1] -= worn[1] / 5
			stattest.BadFit(t, worn, uniformCells(16), alpha)
		})
	}
}

// TestNormalIsRound: on the same words, Normal rounds to what Round gives.
func TestNormalIsRound(t *testing.T) {
	for seed := range uint64(2000) {
		j := NewGaussian(NewSeeded(seed)).Round(1 << 20)
		z := NewGaussian(NewSeeded(seed)).Normal()
		x, _ := z.Abs(z).Float64()
		// The sign's coin may come after other words; sizes agree.
		if got := int64(math.Round(math.Ldexp(x, 20))); got != max(j, -j) {
			t.Fatalf("seed %d: Normal rounds to %d, Round gives %d", seed, got, j)
		}
	}
}
