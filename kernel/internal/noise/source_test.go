package noise

import (
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
)

// TestGolden: results are a function of the words alone, the same on every machine.
func TestGolden(t *testing.T) {
	for _, c := range []struct {
		sigma float64
		want  []int64
	}{
		{0.5, []int64{0, 1, 0, -1, 0, 0, 0, 0}},
		{3.7, []int64{0, 6, -2, -7, -1, 3, -1, -2}},
		{1e6, []int64{-58621, 1505340, -544339, -1839841, -383737, 913143, -255945, -650475}},
		{maxSigma, []int64{
			-2112037074247968, 54235578675560747, -19611883126610161, -66287275807721048,
			-13825567379365116, 32899450961929973, -9221390882795295, -23435826374313874,
		}},
	} {
		g := NewGaussian(NewSeeded(1))
		got := make([]int64, 8)
		for i := range got {
			got[i] = g.Round(c.sigma)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("σ = %v: %d, want %d", c.sigma, got, c.want)
		}
	}
	src := NewSeeded(2)
	got := []uint64{Uniform(src, 1000), Uniform(src, 3<<62), Uniform(src, 1), Tag(src)}
	if want := []uint64{688, 4923859793214175052, 0, 18040265733979381713}; !slices.Equal(got, want) {
		t.Errorf("uniform integers and tag: %d, want %d", got, want)
	}
}

// inverse is the second, dumb sampler: inversion of a table of Phi with 200 bits.
type inverse struct {
	first int64
	cdf   []*big.Int // ⌊2^192 P(round(sigma X) <= first + i)⌋
}

func newInverse(sigma float64, reach int64) inverse {
	v := inverse{first: -reach}
	for j := -reach; j <= reach; j++ {
		z := new(big.Float).SetPrec(1024).SetFloat64(float64(j) + 0.5)
		p := stattest.BigPhi(z.Quo(z, big.NewFloat(sigma)))
		i, _ := p.SetMantExp(p, 192).Int(nil)
		v.cdf = append(v.cdf, i)
	}
	return v
}

func (v inverse) draw(src Source) int64 {
	u := new(big.Int)
	for range 3 {
		u.Lsh(u, 64).Or(u, new(big.Int).SetUint64(src.Uint64()))
	}
	i, _ := slices.BinarySearchFunc(v.cdf, u, func(c, u *big.Int) int {
		if u.Cmp(c) < 0 {
			return 1
		}
		return -1
	})
	return v.first + int64(i)
}

// TestSameLawAsInversion compares the sampler with the dumb one, and both with the
// formula.
func TestSameLawAsInversion(t *testing.T) {
	const n, sigma, reach = 300_000, 3.7, 40
	src := NewSeeded(stattest.Seed(t))
	dumb, g := newInverse(sigma, reach), NewGaussian(src)
	a, b, wrong := make([]int64, n), make([]int64, n), make([]int64, n)
	for i := range n {
		a[i], b[i], wrong[i] = g.Round(sigma), dumb.draw(src), g.Round(1.03*sigma)
	}
	tally := func(js []int64) []int { return stattest.Tally(js, -18, 18) }
	stattest.GoodSameLaw(t, tally(a), tally(b), alpha)
	stattest.BadSameLaw(t, tally(wrong), tally(b), alpha)
	stattest.GoodFit(t, tally(b), stattest.RoundedGaussianCells(sigma, -18, 18), alpha)
}

func TestUniform(t *testing.T) {
	const draws = 200_000
	src := NewSeeded(stattest.Seed(t))
	for _, n := range []uint64{1, 2, 3, 6, 10, 100} {
		counts := make([]int, n)
		for range draws {
			counts[Uniform(src, n)]++
		}
		if n > 1 {
			stattest.GoodFit(t, counts, uniformCells(int(n)), alpha)
		}
	}
	// n so large that a quarter of the words must be thrown away: without that,
	// multiples of 3 would come up half of the time.
	counts, size := make([]int, 3), make([]int, 3)
	for range draws {
		u := Uniform(src, 3<<62)
		counts[u%3]++
		size[u>>62]++
	}
	stattest.GoodFit(t, counts, uniformCells(3), alpha)
	stattest.GoodFit(t, size, uniformCells(3), alpha)
	stattest.BadFit(t, counts, []float64{0.5, 0.25, 0.25}, alpha)
	stattest.BadFit(t, counts, []float64{0.35, 0.325, 0.325}, alpha)

	defer func() {
		if recover() == nil {
			t.Error("Uniform(0): want a panic")
		}
	}()
	Uniform(src, 0)
}

// TestUniformRejects: of the words, exactly those with a low half below 2^64 mod n
// are thrown away.
func TestUniformRejects(t *testing.T) {
	for _, c := range []struct {
		words script
		n     uint64
		want  uint64
	}{
		{script{0, 1}, 3 << 62, 0}, // 0 n has low half 0: rejected; 1 n = 0*2^64 + n
		{script{4, 3}, 3 << 62, 2}, // 4 n = 3*2^64: rejected; 3 n = 2*2^64 + 2^62: kept
		{script{0}, 1 << 40, 0},    // powers of two reject nothing
		{script{1<<64 - 1}, 1 << 40, 1<<40 - 1},
		{script{1<<64 - 1}, 1<<64 - 1, 1<<64 - 2},
		{script{0, 2}, 1<<64 - 1, 1},
		{script{1 << 62, 1}, 1<<63 + 1, 0}, // low halves 2^62 < 2^63-1 <= 2^63+1
	} {
		words := slices.Clone(c.words)
		if got := Uniform(&words, c.n); got != c.want || len(words) != 0 {
			t.Errorf("Uniform(%d) from %d is %d with %d words left, want %d with none", c.n, c.words, got, len(words), c.want)
		}
	}
}

// TestEntropy: used words are wiped, chunks are not repeated, bits are fair.
func TestEntropy(t *testing.T) {
	e, other := NewEntropy(), NewEntropy()
	const words = 3*entropyChunk/8 + 5
	seen, ones := map[uint64]bool{}, make([]int, 64)
	for range words {
		for _, w := range []uint64{e.Uint64(), other.Uint64()} {
			if seen[w] { // an honest source repeats with probability below 1e-12
				t.Fatal("a word came twice")
			}
			seen[w] = true
			for b := range ones {
				ones[b] += int(w >> b & 1)
			}
		}
		for i, b := range e.buf[:entropyChunk-e.left] {
			if b != 0 {
				t.Fatalf("byte %d was used and is still there, %d left", i, e.left)
			}
		}
	}
	if e.left != entropyChunk-5*8 {
		t.Errorf("%d bytes left, want %d", e.left, entropyChunk-5*8)
	}
	for _, c := range ones {
		stattest.GoodProportion(t, c, 2*words, 0.5, alpha)
	}
	counts := make([]int, 33)
	g := NewGaussian(e)
	for range 20_000 {
		counts[min(max(g.Round(3.7), -16), 16)+16]++
	}
	stattest.GoodFit(t, counts, stattest.RoundedGaussianCells(3.7, -15, 15), alpha)
}

func TestSeeded(t *testing.T) {
	a, b, c := NewSeeded(1), NewSeeded(1), NewSeeded(2)
	for range 100 {
		x, y, z := a.Uint64(), b.Uint64(), c.Uint64()
		if x != y || x == z {
			t.Fatalf("seeds 1, 1, 2 give %d, %d, %d", x, y, z)
		}
	}
}

func TestTag(t *testing.T) {
	src := script{17, 4}
	if a, b := Tag(&src), Tag(&src); a != 17 || b != 4 {
		t.Errorf("tags are %d and %d", a, b)
	}
}

// TestNoAllocation: a draw keeps nothing on the heap.
func TestNoAllocation(t *testing.T) {
	g := NewGaussian(NewSeeded(1))
	if a := testing.AllocsPerRun(10_000, func() { g.Round(3.7) }); a != 0 {
		t.Errorf("%v allocations per draw, want 0", a)
	}
}

func BenchmarkRound(b *testing.B) {
	for name, src := range map[string]Source{"entropy": NewEntropy(), "seeded": NewSeeded(1)} {
		for _, sigma := range []float64{1e-6, 3.7, 1e12, maxSigma} {
			b.Run(fmt.Sprintf("%s/sigma=%g", name, sigma), func(b *testing.B) {
				g := NewGaussian(src)
				for b.Loop() {
					g.Round(sigma)
				}
			})
		}
	}
}

func BenchmarkUniform(b *testing.B) {
	src := NewEntropy()
	for b.Loop() {
		Uniform(src, 1000)
	}
}
