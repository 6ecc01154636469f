package noise

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
)

// laplaceCells returns the probabilities that a discrete Laplace variable is below lo, lo, lo+1,
// .., hi, and above hi, for lo <= 0 <= hi.
func laplaceCells(gamma float64, lo, hi int64) []float64 {
	q := math.Exp(-gamma)
	// sum_{j>=from}, from >= 1
	tail := func(from int64) float64 { return math.Exp(-gamma*float64(from)) / (1 + q) }
	probs := []float64{tail(1 - lo)}
	for j := lo; j <= hi; j++ {
		probs = append(probs, -math.Expm1(-gamma)/(1+q)*math.Exp(-gamma*math.Abs(float64(j))))
	}
	return append(probs, tail(hi+1))
}

// TestLaplaceLaw: the probability of each integer, and neighbours of the law that must be rejected.
func TestLaplaceLaw(t *testing.T) {
	const n = 200_000
	for _, gamma := range []float64{5, 1.5, 1, .7, .25, .05} {
		t.Run(fmt.Sprint(gamma), func(t *testing.T) {
			src := NewSeeded(stattest.Seed(t))
			js := make([]int64, n)
			for i := range js {
				js[i] = DiscreteLaplace(src, gamma)
			}
			reach := int64(4/gamma) + 1
			counts := stattest.Tally(js, -reach, reach)
			stattest.GoodFit(t, counts, laplaceCells(gamma, -reach, reach), laplaceAlpha)
			stattest.BadFit(t, counts, laplaceCells(1.05*gamma, -reach, reach), laplaceAlpha)
			stattest.BadFit(t, counts, laplaceCells(.95*gamma, -reach, reach), laplaceAlpha)
			slices.Reverse(counts) // and zero counts once, not twice or never
			stattest.GoodFit(t, counts, laplaceCells(gamma, -reach, reach), laplaceAlpha)
			counts[reach+1] *= 2
			stattest.BadFit(t, counts, laplaceCells(gamma, -reach, reach), laplaceAlpha)
		})
	}
}

// TestLaplaceLarge: rates where only ranges can be counted, down to MinRate, and the last bits,
// which are uniform.
func TestLaplaceLarge(t *testing.T) {
	const n = 60_000
	for _, gamma := range []float64{1e-3, 1e-6, 3e-10, MinRate} {
		t.Run(fmt.Sprint(gamma), func(t *testing.T) {
			src := NewSeeded(stattest.Seed(t))
			xs, low := make([]float64, n), make([]int, 16)
			for i := range xs {
				j := DiscreteLaplace(src, gamma)
				xs[i] = float64(j)
				low[j&15]++
			}
			cdf := func(gamma float64) func(float64) float64 {
				return func(x float64) float64 {
					if x = math.Floor(x); x < 0 {
						return math.Exp(gamma*x) / (1 + math.Exp(-gamma))
					}
					return 1 - math.Exp(-gamma*(x+1))/(1+math.Exp(-gamma))
				}
			}
			stattest.GoodKS(t, xs, cdf(gamma), laplaceAlpha)
			stattest.BadKS(t, xs, cdf(1.1*gamma), laplaceAlpha)
			stattest.BadKS(t, xs, cdf(.9*gamma), laplaceAlpha)
			stattest.GoodFit(t, low, laplaceUniformCells(16), laplaceAlpha)
		})
	}
}

// TestExpMinus: e^(-gamma k), however gamma k is made up.
func TestExpMinus(t *testing.T) {
	src := NewSeeded(stattest.Seed(t))
	for _, c := range []struct {
		gamma float64
		k     uint64
	}{{.5, 1}, {.01, 3}, {1, 1}, {1, 2}, {.3, 7}, {2.5, 1}, {1e-300, 1 << 63}, {0x1p-64, 1 << 63}, {0x1p-63, 1<<63 + 1<<62}, {0x1p-60, 1 << 60},
		{math.Nextafter(1, 0), 1}, {math.SmallestNonzeroFloat64, math.MaxUint64}, {0, 5}, {7, 0}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			laplaceWantProbability(t, math.Exp(-c.gamma*float64(c.k)), func() bool { return expMinus(src, c.gamma, c.k) })
		})
	}
	for range 1000 {
		if expMinus(src, 100, 1) || expMinus(src, math.MaxFloat64, math.MaxUint64) || expMinus(src, 1, math.MaxUint64) {
			t.Fatal("true with a probability below e^-100")
		}
	}
}

// TestExpMinusWithTies: with digits that tie once in four comparisons the code for ties decides; u
// < x for an x of two bits is then a comparison of numbers of base 4.
func TestExpMinusWithTies(t *testing.T) {
	src := laplaceCoarse{NewSeeded(stattest.Seed(t))}
	for _, x := range []float64{.25, .5, .75, 1, 1.5} {
		laplaceWantProbability(t, math.Exp(-x), func() bool { return expMinus(src, x, 1) })
	}
	for _, c := range []struct {
		u, x []uint64
		want bool
	}{{[]uint64{1}, []uint64{2}, true}, {[]uint64{2}, []uint64{2}, false}, {[]uint64{2}, nil, false}, {[]uint64{0}, nil, false},
		{[]uint64{2, 1}, []uint64{2, 2}, true}, {[]uint64{2, 2, 5}, []uint64{2, 2}, false}, {[]uint64{2, 3}, []uint64{2, 2}, false}} {
		script := laplaceScript(c.u)
		u := newDeviate(&script)
		if got := below(&u, &script, c.x); got != c.want {
			t.Errorf("%d < %d is %v", c.u, c.x, got)
		}
	}
}

// TestSplit compares the digits of m k 2^e with rational arithmetic.
func TestSplit(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	two := func(e int) *big.Rat {
		p := new(big.Int).Lsh(big.NewInt(1), uint(max(e, -e)))
		if e < 0 {
			return new(big.Rat).SetFrac(big.NewInt(1), p)
		}
		return new(big.Rat).SetInt(p)
	}
	for range 20_000 {
		m, k, e := rng.Uint64()>>(11+rng.IntN(53)), rng.Uint64()>>rng.IntN(64), rng.IntN(180)-150
		if rng.IntN(10) == 0 {
			e = rng.IntN(2046) - 1074
		}
		if m == 0 || k == 0 {
			continue
		}
		exact := new(big.Rat).SetInt(new(big.Int).Mul(new(big.Int).SetUint64(m), new(big.Int).SetUint64(k)))
		exact.Mul(exact, two(e))
		hi, lo := new(big.Int).SetUint64(0), new(big.Int)
		product := new(big.Int).Mul(new(big.Int).SetUint64(m), new(big.Int).SetUint64(k))
		hi.Rsh(product, 64)
		lo.And(product, new(big.Int).SetUint64(math.MaxUint64))
		n, x := split(hi.Uint64(), lo.Uint64(), e)
		got := new(big.Rat).SetInt(new(big.Int).SetUint64(n))
		if exact.Cmp(new(big.Rat).SetInt(new(big.Int).SetUint64(math.MaxUint64))) >= 0 {
			if n != math.MaxUint64 {
				t.Fatalf("%d·%d·2^%d: integer part %d", m, k, e, n)
			}
			continue
		}
		for i, d := range x {
			got.Add(got, new(big.Rat).Mul(new(big.Rat).SetInt(new(big.Int).SetUint64(d)), two(-64*(i+1))))
		}
		if got.Cmp(exact) != 0 {
			t.Fatalf("%d·%d·2^%d is %v, split gives %d and %v", m, k, e, exact, n, x)
		}
	}
}

// TestExponential: the law of the exponential mechanism against its formula, for scores that differ
// little, much and not at all, and at the ends of int64.
func TestExponential(t *testing.T) {
	const n = 100_000
	for i, c := range []struct {
		gamma  float64
		scores []int64
	}{{.3, []int64{0, 1, 5, -3, 5, 7}}, {1e-9, []int64{0, 1e9, -1e9, 5e8}}, {2, []int64{1, 1, 1, 0}}, {0x1p-62, []int64{math.MaxInt64, math.MinInt64, 0}},
		{5, []int64{0}}, {1e300, []int64{0, 1, 1}}, {.01, []int64{300, 0, 0, 0, 0, 0}}} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			src := NewSeeded(stattest.Seed(t))
			counts := make([]int, len(c.scores))
			for range n {
				counts[Exponential(src, c.gamma, c.scores)]++
			}
			law := func(gamma float64) []float64 {
				probs, sum := make([]float64, len(c.scores)), 0.0
				for i, q := range c.scores {
					probs[i] = math.Exp(gamma * (float64(q) - float64(slices.Max(c.scores))))
					sum += probs[i]
				}
				for i := range probs {
					probs[i] /= sum
				}
				return probs
			}
			if len(c.scores) == 1 {
				return
			}
			stattest.GoodFit(t, counts, law(c.gamma), laplaceAlpha)
			if c.gamma < 1e300 {
				stattest.BadFit(t, counts, law(2*c.gamma), laplaceAlpha)
			}
		})
	}
}

// TestLaplaceGolden: results are a function of the words alone.
func TestLaplaceGolden(t *testing.T) {
	src := NewSeeded(1)
	var got []int64
	for _, gamma := range []float64{2, .3, 1e-6, MinRate} {
		for range 3 {
			got = append(got, DiscreteLaplace(src, gamma))
		}
	}
	if want := []int64{0, 0, 0, -5, 6, -1, -3501965, -1209540, 760430, -467699165204746, -89295456973929, -3645288166110}; !slices.Equal(got, want) {
		t.Errorf("%d, want %d", got, want)
	}
}

func TestLaplaceRefuses(t *testing.T) {
	for _, gamma := range []float64{0, -1, MinRate / 2, math.NaN(), math.Inf(1)} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("γ = %v: want a panic", gamma)
				}
			}()
			DiscreteLaplace(NewSeeded(1), gamma)
		}()
	}
}

func BenchmarkDiscreteLaplace(b *testing.B) {
	src := NewEntropy()
	for _, gamma := range []float64{1, 1e-3, 1e-9} {
		b.Run(fmt.Sprint(gamma), func(b *testing.B) {
			for b.Loop() {
				DiscreteLaplace(src, gamma)
			}
		})
	}
}

// TestTruncatedLaplaceLaw: the probability of each integer of the support and none beyond, and
// neighbours of the law that must be rejected.
func TestTruncatedLaplaceLaw(t *testing.T) {
	const n = 200_000
	law := func(gamma float64, most, reach int64) (probs []float64) {
		total := 0.
		for j := -reach; j <= reach; j++ {
			p := math.Exp(-gamma * math.Abs(float64(j)))
			if j < -most || j > most {
				p = 0
			}
			probs, total = append(probs, p), total+p
		}
		for i := range probs {
			probs[i] /= total
		}
		return append(append([]float64{0}, probs...), 0)
	}
	for _, c := range []struct {
		gamma float64
		most  int64
	}{{1, 3}, {.25, 9}, {2, 1}, {.05, 20}, {1. / 6, 5}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			src := NewSeeded(stattest.Seed(t))
			js := make([]int64, n)
			for i := range js {
				js[i] = TruncatedLaplace(src, c.gamma, c.most)
			}
			reach := c.most + 1
			counts := stattest.Tally(js, -reach, reach)
			stattest.GoodFit(t, counts, law(c.gamma, c.most, reach), laplaceAlpha)
			stattest.BadFit(t, counts, law(1.07*c.gamma+.01, c.most, reach), laplaceAlpha)
			stattest.BadFit(t, counts, law(c.gamma/1.07-.01, c.most, reach), laplaceAlpha)
			stattest.BadFit(t, counts, law(c.gamma, c.most-1, reach), laplaceAlpha)
			slices.Reverse(counts)
			stattest.GoodFit(t, counts, law(c.gamma, c.most, reach), laplaceAlpha)
		})
	}
	src := NewSeeded(1)
	if TruncatedLaplace(src, 1, 0) != 0 {
		t.Error("a support of 0 alone has another number")
	}
	defer func() {
		if recover() == nil {
			t.Error("a negative reach was accepted")
		}
	}()
	TruncatedLaplace(src, 1, -1)
}

const laplaceAlpha = stattest.FalseAlarm

// wantProbability checks how often draw is true against p, and that a probability
// off by 0.01 would show.
func laplaceWantProbability(t *testing.T, p float64, draw func() bool) {
	t.Helper()
	const n = 300_000
	hits := 0
	for range n {
		if draw() {
			hits++
		}
	}
	stattest.GoodProportion(t, hits, n, p, laplaceAlpha)
	if p < 0.99 {
		stattest.BadProportion(t, hits, n, p+0.01, laplaceAlpha)
	}
	stattest.BadProportion(t, hits, n, p-0.01, laplaceAlpha)
}

func laplaceUniformCells(n int) []float64 {
	probs := make([]float64, n)
	for i := range probs {
		probs[i] = 1 / float64(n)
	}
	return probs
}

// coarse is a source of words with two uniform bits each, followed by zeros: digits that tie once
// in four comparisons.
type laplaceCoarse struct{ Source }

func (c laplaceCoarse) Uint64() uint64 { return c.Source.Uint64() &^ (1<<62 - 1) }

// script is a source that yields given words, then panics.
type laplaceScript []uint64

func (s *laplaceScript) Uint64() uint64 {
	w := (*s)[0]
	*s = (*s)[1:]
	return w
}
