package tyler

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/parts/component"
)

// alarm is the false-alarm rate of one statistical check; there are fewer than 100 of them.
const radialAlarm = 1e-8

func newRand(t testing.TB) *rand.Rand { return rand.New(rand.NewPCG(stattest.Seed(t), 1)) }

// TestPearson: the closed forms agree with draws of the laws they are said to be, and with one
// another.
func TestPearson(t *testing.T) {
	rng := newRand(t)
	const n = 20000
	chi2 := func(k int) float64 {
		s := 0.0
		for range k {
			z := rng.NormFloat64()
			s += z * z
		}
		return s
	}
	for _, d := range []int{1, 3, 10} {
		for _, c := range []struct {
			inverse float64
			draw    func() float64
		}{
			{0, func() float64 { return chi2(d) }},
			{.2, func() float64 { return chi2(d) / (chi2(5) / 5) }},
			// uniform in the unit ball
			{-.5, func() float64 { return math.Pow(rng.Float64(), 2/float64(d)) }},
		} {
			p := Pearson{D: d, Inverse: c.inverse, Scale: 1}
			if c.inverse < 0 {
				p.Scale = .5
			}
			q := make([]float64, n)
			for i := range q {
				q[i] = c.draw()
			}
			stattest.GoodKS(t, q, func(x float64) float64 { return 1 - p.Survival(x) }, radialAlarm)
			sort.Float64s(q)
			for _, x := range []float64{q[n/10], q[n/2], q[n*19/20]} {
				h := 1e-4 * x
				if slope := (p.excess(x-h) - p.excess(x+h)) / (2 * h); math.Abs(slope-p.Survival(x)) > 1e-5 {
					t.Errorf("d=%d %v: the excess at %v falls by %v, survival %v", d, c.inverse, x, slope, p.Survival(x))
				}
			}
			if e := p.excess(0); math.Abs(e/p.mean()-1) > 1e-9 {
				t.Errorf("d=%d %v: excess over 0 is %v, mean %v", d, c.inverse, e, p.mean())
			}
			l := p.Law(RadialEdges(d))
			if m := l.Mean(); math.Abs(m/p.mean()-1) > 1e-9 {
				t.Errorf("d=%d %v: mean by points %v, want %v", d, c.inverse, m, p.mean())
			}
			if x := q[n*19/20]; math.Abs(l.Clip(x).Excess-p.excess(x)) > .01*p.mean() {
				t.Errorf("d=%d %v: excess by points %v, want %v", d, c.inverse, l.Clip(x).Excess, p.excess(x))
			}
		}
	}
	for _, x := range []float64{1, 5, 20} { // the family is continuous at the Gaussian
		for _, inverse := range []float64{-1e-6, 1e-6} {
			a, b := Pearson{5, inverse, 1}, Pearson{5, 0, 1}
			if math.Abs(a.Survival(x)-b.Survival(x)) > 1e-4 || math.Abs(a.excess(x)-b.excess(x)) > 1e-3 {
				t.Errorf("%v at %v: %v %v, want %v %v", inverse, x, a.Survival(x), a.excess(x), b.Survival(x), b.excess(x))
			}
		}
	}
}

func TestPareto(t *testing.T) {
	for _, shape := range []float64{-.4, 0, .3} {
		p := pareto{from: 7, count: 100, shape: shape, scale: 2}
		if got, want := p.excess(7), 2/(1-shape); math.Abs(got-want) > 1e-9 {
			t.Errorf("shape %v: excess %v, want %v", shape, got, want)
		}
		for _, s := range []float64{1, .5, .01} {
			if got := p.survival(p.quantile(s)); math.Abs(got-s) > 1e-9 {
				t.Errorf("shape %v: survival of the quantile %v is %v", shape, s, got)
			}
		}
		total, mean := 0.0, 0.0
		for _, q := range p.points(.1) {
			total += q.Share
			mean += q.Share * q.Q
		}
		if want := .1 * (7 + 2/(1-shape)); math.Abs(total-.1) > 1e-12 || math.Abs(mean-want) > 1e-9 {
			t.Errorf("shape %v: points of share %v and mean %v, want .1 and %v", shape, total, mean, want)
		}
	}
}

// TestLawClip: for the Gaussian the points give what component.ClippedGaussian gives in closed
// form.
func TestLawClip(t *testing.T) {
	for _, d := range []int{1, 2, 10} {
		l := Pearson{D: d, Scale: 1}.Law(fineEdges(d))
		for _, r2 := range []float64{.5 * float64(d), 1.5 * float64(d), 4 * float64(d)} {
			got, want := l.Clip(r2), component.ClippedGaussian(d, r2)
			for _, v := range [][2]float64{{got.A, want.A}, {got.A1, want.A1}, {got.V, want.V}, {got.VM, want.VM}, {got.Gain, want.TraceGain()}} {
				if math.Abs(v[0]-v[1]) > .01 {
					t.Errorf("d=%d R^2=%v: %+v, want %+v", d, r2, got, want)
					break
				}
			}
			if d > 1 && math.Abs(got.B1-want.B1) > .01 {
				t.Errorf("d=%d R^2=%v: B1 %v, want %v", d, r2, got.B1, want.B1)
			}
		}
	}
}

func fineEdges(d int) []float64 {
	var edges []float64
	for q := 1e-4 * float64(d); q < 100*float64(d); q *= 1.005 {
		edges = append(edges, q)
	}
	return edges
}

func TestIsotonic(t *testing.T) {
	for _, c := range [][2][]float64{
		{{1, 2, 3}, {1, 2, 3}}, {{3, 2, 1}, {2, 2, 2}}, {{1, 3, 2, 4}, {1, 2.5, 2.5, 4}}, {{}, {}}, {{5, 0, 1, 6}, {2, 2, 2, 6}},
	} {
		if isotonic(c[0]); !slices.Equal(c[0], c[1]) {
			t.Errorf("got %v, want %v", c[0], c[1])
		}
	}
}

// expectedCounts is the histogram of n rows of a law without sampling, with Gaussian noise.
func expectedCounts(rng *rand.Rand, d int, edges []float64, n, sigma float64, survival func(float64) float64) *RadialHistogram {
	h := &RadialHistogram{D: d, Edges: edges, Sigma: sigma, Rows: n}
	for _, share := range h.shares(0, survival) {
		h.Counts = append(h.Counts, n*share+sigma*rng.NormFloat64())
	}
	return h
}

// TestRadialLaw: what lies beyond a radius is found to 10 % in a long table, and to 60 % in one in
// which the noise hides half of it (its sd is a sixth), for members of the family and for a law
// that is none (multivariate Laplace); for that one the family is not trusted.
//
// Shows: [TYLERPRESS] Section 3.
func TestRadialLaw(t *testing.T) {
	rng := newRand(t)
	const d = 4
	// q = 2 E chi^2_4, P(q > x) = E over the chi-square by sums
	laplace := func(x float64) float64 {
		sum, total := 0.0, 0.0
		for y := .01; y < 60; y += .02 { // density of chi^2_4: y exp(-y/2)/4
			w := y * math.Exp(-y/2)
			sum += w * math.Exp(-x/y)
			total += w
		}
		return sum / total
	}
	excess := func(survival func(float64) float64, x float64) float64 {
		sum := 0.0
		for y := x; y < 2000; y += .25 {
			sum += .25 * survival(y+.125)
		}
		return sum
	}
	for _, c := range []struct {
		name     string
		survival func(float64) float64
		member   bool
	}{
		{"t5", Pearson{d, .2, .9}.Survival, true}, {"t10", Pearson{d, .1, 1.1}.Survival, true}, {"Gaussian", Pearson{d, 0, 1}.Survival, true},
		{"Laplace", laplace, false},
	} {
		const x, limit = 12, 4
		want := excess(c.survival, x)
		for _, n := range []float64{2e4, 1e6} {
			tolerance := .6
			if n == 1e6 {
				tolerance = .1
			}
			l, trust := expectedCounts(rng, d, RadialEdges(d), n, 25, c.survival).Law(limit)
			if got := l.Clip(x).Excess; !(math.Abs(got-want) < tolerance*want+.05) {
				t.Errorf("%s n=%v: excess %v, want %v", c.name, n, got, want)
			}
			if n == 1e6 && c.member != (trust > .5) {
				t.Errorf("%s n=%v: trust %v", c.name, n, trust)
			}
			sum := 0.0
			for _, p := range l.Points {
				sum += p.Share
			}
			if math.Abs(sum-1) > 1e-9 {
				t.Errorf("%s n=%v: shares sum to %v", c.name, n, sum)
			}
		}
	}
}

// TestHiddenReach: where the bins hold so few rows each that the noise hides them, the law is not
// that of rows in the middle: a radius chosen by it would clip nearly all. A Gaussian has a mean
// square of d.
func TestHiddenReach(t *testing.T) {
	rng := newRand(t)
	const d = 1
	for range 20 {
		h := expectedCounts(rng, d, RadialEdges(d), 650, 45, Pearson{d, 0, 1}.Survival)
		if l, _ := h.Law(4); l.Mean() < .25*d {
			t.Errorf("a mean square of %v, want about %v", l.Mean(), d)
		}
	}
}
