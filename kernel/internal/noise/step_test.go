package noise

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
)

// wantProbability checks how often draw is true against p, and that a probability
// off by 0.01 would show.
func wantProbability(t *testing.T, p float64, draw func() bool) {
	t.Helper()
	const n = 300_000
	hits := 0
	for range n {
		if draw() {
			hits++
		}
	}
	stattest.GoodProportion(t, hits, n, p, alpha)
	if p < 0.99 {
		stattest.BadProportion(t, hits, n, p+0.01, alpha)
	}
	stattest.BadProportion(t, hits, n, p-0.01, alpha)
}

// at returns a deviate whose first digits are those of x in (0, 1); the others, not
// drawn yet, change x by less than 2^-53.
func at(x float64) Deviate { return Deviate{Head: uint64(math.Ldexp(x, 64))} }

func TestStepProbabilities(t *testing.T) {
	g := NewGaussian(NewSeeded(stattest.Seed(t)))
	run := func(name string, p float64, draw func() bool) {
		t.Run(name, func(t *testing.T) { wantProbability(t, p, draw) })
	}
	run("coin", 0.5, g.coin)
	run("expHalf", math.Exp(-0.5), g.expHalf)
	for k := range uint64(4) {
		run(fmt.Sprintf("allHalf(%d)", k), math.Exp(-float64(k*k-k)/2), func() bool { return g.allHalf(k) })
	}
	for _, k := range []uint64{0, 1, 2, 6} {
		for _, v := range []float64{0.01, 0.3, 0.97} {
			x, kf := at(v), float64(k)
			run(fmt.Sprintf("step(%d, %v)", k, v), (2*kf+v)/(2*kf+2), func() bool { return g.step(k, &x) })
			run(fmt.Sprintf("expPart(%d, %v)", k, v), math.Exp(-v*(2*kf+v)/(2*kf+2)), func() bool { return g.expPart(k, &x) })
			run(fmt.Sprintf("keep(%d, %v)", k, v), math.Exp(-v*(2*kf+v)/2), func() bool { return g.keep(k, &x) })
		}
	}
}

// TestGeometric: P(k) = e^(-k/2)(1 - e^(-1/2)).
func TestGeometric(t *testing.T) {
	const n, most = 300_000, 30
	law := func(rate float64) []float64 {
		probs := make([]float64, most+1)
		for k := range most {
			probs[k] = math.Exp(-rate*float64(k)) * (1 - math.Exp(-rate))
		}
		probs[most] = math.Exp(-rate * most)
		return probs
	}
	g := NewGaussian(NewSeeded(stattest.Seed(t)))
	counts := make([]int, most+1)
	for range n {
		counts[min(g.geometric(), most)]++
	}
	stattest.GoodFit(t, counts, law(0.5), alpha)
	stattest.BadFit(t, counts, law(0.52), alpha)
}

// TestHalfNormal: k + x is |X|, before any rounding.
func TestHalfNormal(t *testing.T) {
	const n = 200_000
	g := NewGaussian(NewSeeded(stattest.Seed(t)))
	xs := make([]float64, n)
	for i := range xs {
		k, x := g.halfNormal()
		xs[i] = float64(k) + math.Ldexp(float64(x.Head), -64)
	}
	law := func(scale float64) func(float64) float64 {
		return func(x float64) float64 { return math.Erf(max(x, 0) / scale / math.Sqrt2) }
	}
	stattest.GoodKS(t, xs, law(1), alpha)
	stattest.BadKS(t, xs, law(1.05), alpha)
}

// coarse is a source of words with two uniform bits each, followed by zeros: as
// digits they tie once in four comparisons, so that the code for ties, which a
// uniform source never reaches, decides. Numbers made of such digits are in the same
// order as numbers in base 4, and so events about their order keep their
// probability. Uniform(4) and Uniform(2) read just these bits.
type coarse struct{ Source }

func (c coarse) Uint64() uint64 { return c.Source.Uint64() &^ (1<<62 - 1) }

// TestStepsWithTies: given x the steps have the same probabilities, so over all x
// their integral over [0, 1].
func TestStepsWithTies(t *testing.T) {
	g := NewGaussian(coarse{NewSeeded(stattest.Seed(t))})
	integral := func(f func(x float64) float64) (sum float64) {
		const m = 10_000
		for i := range m {
			sum += f((float64(i)+0.5)/m) / m
		}
		return sum
	}
	for _, k := range []uint64{0, 1} {
		kf := float64(k)
		t.Run(fmt.Sprintf("less, step(%d)", k), func(t *testing.T) {
			wantProbability(t, (2*kf+0.5)/(2*kf+2), func() bool { x := newDeviate(g.src); return g.step(k, &x) })
		})
		t.Run(fmt.Sprintf("expPart(%d)", k), func(t *testing.T) {
			p := integral(func(x float64) float64 { return math.Exp(-x * (2*kf + x) / (2*kf + 2)) })
			wantProbability(t, p, func() bool { x := newDeviate(g.src); return g.expPart(k, &x) })
		})
		// Several decisions about one x: they go wrong if a digit of x is forgotten.
		t.Run(fmt.Sprintf("keep(%d) twice", k), func(t *testing.T) {
			p := integral(func(x float64) float64 { return math.Exp(-x * (2*kf + x)) })
			wantProbability(t, p, func() bool {
				x := newDeviate(g.src)
				first := g.keep(k, &x)
				return first && g.keep(k, &x)
			})
		})
	}
}

// script is a source that yields given words, then panics.
type script []uint64

func (s *script) Uint64() uint64 {
	w := (*s)[0]
	*s = (*s)[1:]
	return w
}

// TestLess compares all numbers of three digits out of {0, 1, 2^64-1}, however many
// of the digits are there already.
func TestLess(t *testing.T) {
	var all [][]uint64
	digits := []uint64{0, 1, math.MaxUint64}
	for _, a := range digits {
		for _, b := range digits {
			for _, c := range digits {
				all = append(all, []uint64{a, b, c})
			}
		}
	}
	for _, a := range all {
		for _, b := range all {
			want := slices.Compare(a, b)
			if want == 0 {
				continue // would go on for ever
			}
			for drawnA := 1; drawnA <= 3; drawnA++ {
				for drawnB := 1; drawnB <= 3; drawnB++ {
					checkLess(t, a, b, drawnA, drawnB, want < 0)
				}
			}
		}
	}
}

// checkLess gives less the first digits of a and b and the others as a script.
func checkLess(t *testing.T, a, b []uint64, drawnA, drawnB int, want bool) {
	t.Helper()
	u := Deviate{Head: a[0], tail: slices.Clone(a[1:drawnA])}
	v := Deviate{Head: b[0], tail: slices.Clone(b[1:drawnB])}
	var src script
	for i := 1; i < 3; i++ {
		if i >= drawnA {
			src = append(src, a[i])
		}
		if i >= drawnB {
			src = append(src, b[i])
		}
	}
	got := u.Less(&src, &v)
	if got != want {
		t.Fatalf("%v < %v is %v with %d and %d digits drawn", a, b, got, drawnA, drawnB)
	}
	if !slices.Equal(u.tail, a[1:1+len(u.tail)]) || !slices.Equal(v.tail, b[1:1+len(v.tail)]) {
		t.Fatalf("%v < %v changed digits: %v, %v", a, b, u, v)
	}
}

// TestTiesKeepDigits: a digit of x that was drawn to decide a step stays part of x.
func TestTiesKeepDigits(t *testing.T) {
	const head = 1 << 60
	for name, c := range map[string]struct {
		words script
		step  func(g *Gaussian, x *Deviate) bool
		want  bool
	}{
		// u ties with x in its head, then has 5 against 3.
		"expPart": {script{head, 5, 3}, func(g *Gaussian, x *Deviate) bool { return g.expPart(0, x) }, true},
		"step":    {script{1 << 63, head, 5, 3}, func(g *Gaussian, x *Deviate) bool { return g.step(0, x) }, false},
	} {
		x := Deviate{Head: head}
		got := c.step(NewGaussian(&c.words), &x)
		if got != c.want || len(c.words) != 0 || !slices.Equal(x.tail, []uint64{3}) {
			t.Errorf("%s: %v with x = %v and %d words left, want %v with the digit 3 in x", name, got, x, len(c.words), c.want)
		}
	}
}
