package literal

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// needed is the least number of rows, to one per cent, with which the bound is at most alpha.
func needed(l mixtureLimit, alpha float64) float64 {
	low, high := 1., 2.
	for l.at(high) > alpha {
		low, high = high, 2*high
	}
	for high > 1.01*low {
		if mid := math.Sqrt(low * high); l.at(mid) > alpha {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

// limit is the bound for k components in d columns, under replace-one.
func limit(d, k int, eps, delta float64) mixtureLimit {
	return mixtureLimit{k: float64(k), families: familiesOf(estimate.Problem{Columns: d}), epsilon: eps, delta: delta}
}

// In one column one Gaussian takes ln(1/delta)/epsilon rows, where epsilon is at most 1, whatever
// the accuracy: with a third of them everybody loses half of the time and more.
//
// Shows: [AMN24] Theorem G.1.
func TestTheoremG1(t *testing.T) {
	for _, eps := range []float64{.05, .2, 1} {
		for _, delta := range []float64{1e-4, 1e-6, 1e-12} {
			n := math.Log(1/delta) / eps
			l := limit(1, 1, eps, delta)
			if got := l.at(n / 3); got < .5 {
				t.Errorf("epsilon %v, delta %v: %v with a third of ln(1/delta)/epsilon rows", eps, delta, got)
			}
			if need := needed(l, .3); need < n/2 || need > 3*n {
				t.Errorf("epsilon %v, delta %v: %v rows, ln(1/delta)/epsilon is %v", eps, delta, need, n)
			}
		}
	}
}

// In d columns one Gaussian takes d^2/(alpha epsilon) rows, up to a constant: half of the accuracy,
// or of epsilon, or 1.4 times the columns each take twice the rows, where that term is the largest.
//
// Shows: [AMN24] Theorem G.2.
func TestTheoremG2(t *testing.T) {
	rows := func(d int, alpha, eps float64) float64 { return needed(limit(d, 1, eps, 1e-12), alpha) }
	const d, alpha, eps = 100, .05, .005
	base := rows(d, alpha, eps)
	for name, more := range map[string]float64{"alpha": rows(d, alpha/2, eps), "epsilon": rows(d, alpha, eps/2), "columns": rows(141, alpha, eps)} {
		if r := more / base; r < 1.8 || r > 2.2 {
			t.Errorf("%s: %v times the rows", name, r)
		}
	}
	if c := base * alpha * eps / (d * d); c < 1e-3 || c > 1 {
		t.Errorf("%v d^2/(alpha epsilon) rows", c)
	}
}

// The three terms of the rows that mixtures need: k d^2/alpha^2 without privacy, k d^2/(alpha
// epsilon), and k ln(1/delta)/(alpha epsilon), each linear in k and, where it is the largest, in
// the rest.
//
// Shows: [AMN24] Theorem 1.6.
func TestTheorem16(t *testing.T) {
	type at struct {
		d, k              int
		alpha, eps, delta float64
	}
	rows := func(x at) float64 { return needed(limit(x.d, x.k, x.eps, x.delta), x.alpha) }
	for _, c := range []struct {
		name       string
		base, more at
		times      float64
	}{
		{"sampling: alpha", at{10, 3, .02, 0, 0}, at{10, 3, .01, 0, 0}, 4},
		{"sampling: k", at{10, 3, .02, 0, 0}, at{10, 6, .02, 0, 0}, 2},
		{"sampling: d", at{20, 3, .02, 0, 0}, at{40, 3, .02, 0, 0}, 4},
		{"columns: k", at{100, 3, .05, .005, 1e-12}, at{100, 6, .05, .005, 1e-12}, 2},
		{"columns: epsilon", at{100, 3, .05, .005, 1e-12}, at{100, 3, .05, .0025, 1e-12}, 2},
		{"places: k", at{1, 11, .05, .1, 1e-9}, at{1, 21, .05, .1, 1e-9}, 2},
		{"places: alpha", at{1, 5, .04, .1, 1e-9}, at{1, 5, .02, .1, 1e-9}, 2},
		{"places: epsilon", at{1, 5, .05, .1, 1e-9}, at{1, 5, .05, .05, 1e-9}, 2},
		{"places: delta", at{1, 5, .05, 1, 1e-6}, at{1, 5, .05, 1, 1e-12}, 2},
	} {
		if r := rows(c.more) / rows(c.base); math.Abs(r/c.times-1) > .15 {
			t.Errorf("%s: %v times the rows, want %v", c.name, r, c.times)
		}
	}
}

// A function that is near w times a density, near in L1 by at most a, makes a density, by adding
// what is missing or leaving out what is too much, that is within 2a/w of it in L1, so within a/w
// in total variation; which is attained.
//
// Shows: [AMN24] Lemma G.3.
func TestLemmaG3(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 3))
	worst := 0.
	for range 20_000 {
		const cells = 6
		w, f, g := .05+.95*rng.Float64(), make([]float64, cells), make([]float64, cells)
		sum := 0.
		for i := range f {
			f[i] = math.Pow(rng.Float64(), 4)
			sum += f[i]
		}
		one, near, mass := rng.IntN(cells), 0., 0. // where it is off, if at one place only
		for i := range f {
			f[i] /= sum
			g[i] = w * f[i]
			if i == one || rng.IntN(2) == 0 {
				g[i] = math.Max(0, g[i]+w*(2*rng.Float64()-1)/4)
			}
			near += math.Abs(w*f[i] - g[i])
			mass += g[i] / w
		}
		q := make([]float64, cells)
		for i := range q {
			q[i] = g[i] / w
		}
		if mass < 1 {
			q[rng.IntN(cells)] += 1 - mass
		}
		for i := range q { // greedily
			cut := math.Max(0, math.Min(q[i], mass-1))
			q[i], mass = q[i]-cut, mass-cut
		}
		total, off := 0., 0.
		for i := range q {
			total += q[i]
			off += math.Abs(q[i] - f[i])
		}
		if math.Abs(total-1) > 1e-9 || off > 2*near/w+1e-9 {
			t.Fatalf("w %v, f %v, g %v: %v of mass %v, %v away, want %v", w, f, g, q, total, off, 2*near/w)
		}
		if near > 0 {
			worst = math.Max(worst, off*w/near)
		}
	}
	if worst < 1.99 {
		t.Errorf("at most %v times: the search does not attain the bound", worst)
	}
}

// A learner of mixtures from n rows learns a component of weight w from w n/b: more rows of it come
// up with probability at most b, exactly, so with the rest drawn at random what succeeds with
// probability p succeeds with p - b. A row of the component is then at one place of the mixture's
// rows at most, so neighbours stay neighbours. And the bounds agree: a component of n rows is lost
// at least as often as n/w rows of a mixture lose it.
//
// Shows: [AMN24] Lemma G.4.
func TestLemmaG4(t *testing.T) {
	for _, n := range []float64{10, 100, 1000, 1e5} {
		for _, w := range []float64{.01, .1, .5, .9} {
			for _, b := range []float64{.05, 1. / 3, .9} {
				if more := 1 - (distuv.Binomial{N: n, P: w}).CDF(math.Floor(w*n/b)); more > b+1e-12 {
					t.Errorf("n %v, w %v: more than w n/%v rows with probability %v", n, w, b, more)
				}
			}
		}
	}
	rng := rand.New(rand.NewPCG(51, 4))
	for range 2000 {
		own, seed := make([]int, rng.IntN(12)+1), rng.Uint64()
		for i := range own {
			own[i] = i + 1
		}
		before := planted(own, 30, .2, seed)
		own[rng.IntN(len(own))] = -7
		changed := 0
		for i, v := range planted(own, 30, .2, seed) {
			if v != before[i] {
				changed++
			}
		}
		if changed > 1 {
			t.Fatalf("one row of a component changed %d of the mixture's", changed)
		}
	}
	for _, b := range []privacy.Budget{{Epsilon: .2, Delta: 1e-6}, {Epsilon: 1, Delta: 1e-9}} {
		l := limit(1, 1, b.Epsilon, b.Delta)
		for _, w := range []float64{.05, .3} {
			for _, own := range []float64{5, 20, 80} {
				// by Markov's inequality, b = 1/2: half of what 2 w n rows lose is lost
				if of := l.lost(own/w, w); of < l.missed(2*own)/2-1e-9 {
					t.Errorf("%v, weight %v, %v rows: %v lost of a mixture, %v of a component", b, w, own, of, l.missed(2*own))
				}
			}
		}
	}
}

// planted are n rows of a mixture of which a part w are those of a component, in order, or 0 where
// there are not enough, or all where that is so; the others are drawn.
func planted(own []int, n int, w float64, seed uint64) []int {
	rng := rand.New(rand.NewPCG(seed, 0))
	rows, used := make([]int, n), 0
	for i := range rows {
		if rng.Float64() >= w {
			rows[i] = 1000 + rng.IntN(1000)
			continue
		}
		if used < len(own) {
			rows[i] = own[used]
		}
		used++
	}
	if used > len(own) {
		return make([]int, n)
	}
	return rows
}
