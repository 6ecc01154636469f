package noise

import (
	"fmt"
	"math"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
)

// The tests of this package make fewer than 400 statistical decisions at
// stattest.FalseAlarm each: the package's false-alarm rate is below 4e-7.
const alpha = stattest.FalseAlarm

// draws returns n draws of Round(sigma) from the seed of t.
func draws(t *testing.T, n int, sigma float64) []int64 {
	t.Helper()
	g := NewGaussian(NewSeeded(stattest.Seed(t)))
	js := make([]int64, n)
	for i := range js {
		js[i] = g.Round(sigma)
	}
	return js
}

// shiftedCells is stattest.RoundedGaussianCells for round(sigma X + shift).
func shiftedCells(sigma, shift float64, lo, hi int64) []float64 {
	cdf := func(x float64) float64 { return 0.5 * math.Erfc(-(x-shift)/sigma/math.Sqrt2) }
	probs := []float64{cdf(float64(lo) - 0.5)}
	for j := lo; j <= hi; j++ {
		probs = append(probs, cdf(float64(j)+0.5)-cdf(float64(j)-0.5))
	}
	return append(probs, 1-cdf(float64(hi)+0.5))
}

// TestLawPerInteger: the probability of each integer, for sigma where that can be
// counted.
func TestLawPerInteger(t *testing.T) {
	const n = 400_000
	for _, sigma := range []float64{0.2, 0.3, 0.5, 1, 3.7, 20} {
		t.Run(fmt.Sprint(sigma), func(t *testing.T) {
			reach := int64(5*sigma) + 1
			counts := stattest.Tally(draws(t, n, sigma), -reach, reach)
			law := func(s float64) []float64 { return stattest.RoundedGaussianCells(s, -reach, reach) }
			stattest.GoodFit(t, counts, law(sigma), alpha)
			stattest.BadFit(t, counts, law(1.03*sigma), alpha)
			stattest.BadFit(t, counts, law(0.97*sigma), alpha)
			shift := max(0.03*sigma, 0.016)
			stattest.BadFit(t, counts, shiftedCells(sigma, shift, -reach, reach), alpha)
			stattest.BadFit(t, counts, shiftedCells(sigma, -shift, -reach, reach), alpha)
		})
	}
}

// TestLawTiny: sigma so small that the result is nearly always 0.
func TestLawTiny(t *testing.T) {
	const n = 400_000
	nonzero := func(sigma float64) float64 { return math.Erfc(0.5 / sigma / math.Sqrt2) }
	for _, sigma := range []float64{0.1, 0.01, 1e-6, 1e-300, math.SmallestNonzeroFloat64} {
		t.Run(fmt.Sprint(sigma), func(t *testing.T) {
			hits := 0
			for _, j := range draws(t, n, sigma) {
				if j != 0 {
					hits++
				}
			}
			stattest.GoodProportion(t, hits, n, nonzero(sigma), alpha)
			stattest.BadProportion(t, hits, n, nonzero(0.15), alpha)
			stattest.BadProportion(t, hits, n, nonzero(2*0.1), alpha)
		})
	}
}

// quantileCells returns m-1 integers that cut the law of round(sigma X) into m cells of
// nearly equal probability, the right-most of each cell.
func quantileCells(sigma float64, m int) (ends []int64) {
	for i := 1; i < m; i++ {
		z := math.Sqrt2 * math.Erfinv(2*float64(i)/float64(m)-1)
		ends = append(ends, int64(math.Round(z*sigma)))
	}
	return ends
}

func cellProbs(ends []int64, cdf func(x float64) float64) []float64 {
	probs, before := []float64{}, 0.0
	for _, j := range ends {
		c := cdf(float64(j))
		probs, before = append(probs, c-before), c
	}
	return append(probs, 1-before)
}

// TestLawLarge: sigma where only ranges of integers can be counted, up to maxSigma,
// where every rounding takes big integers.
func TestLawLarge(t *testing.T) {
	const n = 200_000
	for _, sigma := range []float64{1e3, 1e6, 1e12, maxSigma} {
		t.Run(fmt.Sprint(sigma), func(t *testing.T) {
			ends := quantileCells(sigma, 24)
			counts, low := make([]int, len(ends)+1), make([]int, 16)
			xs := make([]float64, n)
			for i, j := range draws(t, n, sigma) {
				c := 0
				for c < len(ends) && j > ends[c] {
					c++
				}
				counts[c]++
				low[j&15]++
				xs[i] = float64(j)
			}
			law := func(scale, shift float64) func(float64) float64 {
				return func(x float64) float64 { return stattest.RoundedGaussianCDF(scale*sigma, x-shift*sigma) }
			}
			stattest.GoodFit(t, counts, cellProbs(ends, law(1, 0)), alpha)
			stattest.BadFit(t, counts, cellProbs(ends, law(1.03, 0)), alpha)
			stattest.BadFit(t, counts, cellProbs(ends, law(0.97, 0)), alpha)
			stattest.BadFit(t, counts, cellProbs(ends, law(1, 0.03)), alpha)
			stattest.GoodKS(t, xs, law(1, 0), alpha)
			stattest.BadKS(t, xs, law(1.06, 0), alpha)
			stattest.BadKS(t, xs, law(1, 0.04), alpha)
			// The last four bits are uniform up to e^(-2 pi^2 sigma^2/16^2), that is, not at all
			// different: digits below those of a float64 are there too.
			stattest.GoodFit(t, low, uniformCells(16), alpha)
		})
	}
}

func uniformCells(n int) []float64 {
	probs := make([]float64, n)
	for i := range probs {
		probs[i] = 1 / float64(n)
	}
	return probs
}

// TestDrawsAreIndependent: pairs of consecutive draws have the product law, and
// halves of a repeated stream do not.
func TestDrawsAreIndependent(t *testing.T) {
	const n, reach = 200_000, 3
	side := stattest.RoundedGaussianCells(1, -reach, reach)
	var product []float64
	for _, p := range side {
		for _, q := range side {
			product = append(product, p*q)
		}
	}
	pairs := func(js []int64) []int {
		counts := make([]int, len(product))
		cell := func(j int64) int { return int(min(max(j, -reach-1), reach+1) + reach + 1) }
		for i := 0; i+1 < len(js); i += 2 {
			counts[cell(js[i])*len(side)+cell(js[i+1])]++
		}
		return counts
	}
	js := draws(t, 2*n, 1)
	stattest.GoodFit(t, pairs(js), product, alpha)
	for i := 0; i+50 < len(js); i += 50 { // one pair in 25 repeats
		js[i+1] = js[i]
	}
	stattest.BadFit(t, pairs(js), product, alpha)
}

// TestPlantedBugs: samplers with typical faults are told apart from the right one.
func TestPlantedBugs(t *testing.T) {
	const n, sigma, reach = 400_000, 3.7, 18
	g := NewGaussian(NewSeeded(stattest.Seed(t)))
	law := stattest.RoundedGaussianCells(sigma, -reach, reach)
	signed := func(k uint64, x Deviate) int64 {
		j := roundScaled(g.src, k, &x, sigma)
		if g.coin() {
			return -j
		}
		return j
	}
	value := func() float64 {
		k, x := g.halfNormal()
		v := sigma * (float64(k) + math.Ldexp(float64(x.Head), -64))
		if g.coin() {
			return -v
		}
		return v
	}
	for name, draw := range map[string]func() int64{
		"half the scale":  func() int64 { return g.Round(sigma / 2) },
		"scale 2 % off":   func() int64 { return g.Round(sigma * 1.02) },
		"rounded down":    func() int64 { return int64(math.Floor(value())) },
		"rounded to zero": func() int64 { return int64(math.Trunc(value())) },
		"no sign":         func() int64 { return int64(math.Round(math.Abs(value()))) },
		"no test of k": func() int64 {
			for {
				k, x := g.geometric(), newDeviate(g.src)
				if g.keep(k, &x) {
					return signed(k, x)
				}
			}
		},
		"no test of x": func() int64 {
			for {
				if k := g.geometric(); g.allHalf(k) {
					return signed(k, newDeviate(g.src))
				}
			}
		},
		"x tested once": func() int64 {
			for {
				k, x := g.geometric(), newDeviate(g.src)
				if g.allHalf(k) && g.expPart(k, &x) {
					return signed(k, x)
				}
			}
		},
		"k kept when x fails": func() int64 {
			k := g.geometric()
			for !g.allHalf(k) {
				k = g.geometric()
			}
			x := newDeviate(g.src)
			for !g.keep(k, &x) {
				x = newDeviate(g.src)
			}
			return signed(k, x)
		},
	} {
		t.Run(name, func(t *testing.T) {
			js := make([]int64, n)
			for i := range js {
				js[i] = draw()
			}
			stattest.BadFit(t, stattest.Tally(js, -reach, reach), law, alpha)
		})
	}
}
