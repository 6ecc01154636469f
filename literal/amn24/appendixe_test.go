package amn24

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/literal/paper"
)

// A known is an estimate by score (3) of two components of which the facts are stated; w is a
// fourth of their weights, as the paper's w is of the least weight that matters.
type known struct {
	c Constants
	x design
}

var newKnown = sync.OnceValue(func() known {
	c := Practical()
	c.LeastWeight = .25
	l, ok := c.lattice(4, .7, 1.5, 2)
	if !ok {
		panic("no lattice")
	}
	return known{c, design{c: c, d: 1, k: 2, lattice: &l, h: c.Spacing, factor: c.Factor}}
})

// scored are the pairs for which some multiset is good, and their scores; and m.
func (k known) scored(x []float64) (pairs []pair, of []int64, m int64) {
	s := k.x.scorer(float64(len(x))).(overlap)
	pairs, q := s.options(region{})
	for _, v := range q.Scores(x, 1) {
		of = append(of, -v)
	}
	return pairs, of, int64(s.block * s.Size)
}

// wide is how far from a component a pair may be that was found for it: a power of n in the source.
const wide = 4

// twoParts are two components within the facts, of means 4 to 8 apart.
func twoParts(rng *rand.Rand) [][3]float64 {
	sd := func() float64 { return .75 + .6*rng.Float64() }
	return [][3]float64{{.5, -4 + 2*rng.Float64(), sd()}, {.5, 2 + 2*rng.Float64(), sd()}}
}

// On rows of a mixture with components of weight 4 w all pairs that are close to a component score
// 0. Sds are at least 1: the points of the lattice, 1.2 apart, are too coarse for less. (Rows are
// seeded: no false alarms. Of 50 other seeds all passed.)
//
// Shows: [AMN24] Proposition E.1.
func TestPropositionE1(t *testing.T) {
	rng, k, close := rand.New(rand.NewPCG(stattest.Seed(t), 1)), newKnown(), 0
	for range 20 {
		parts := twoParts(rng)
		parts[0][2], parts[1][2] = 1+.4*rng.Float64(), 1+.4*rng.Float64()
		pairs, of, m := k.scored(column(estimatetest.Draw(t, line(t, parts...), 4000, rng)))
		for i, p := range pairs {
			for _, q := range parts {
				if (tolerance{.3, .3, .3}).close(p, paper.Line(q[1], q[2])) {
					if close++; of[i] != 0 {
						t.Errorf("%v: N(%v, %v^2) scores %d of %d", parts, p.Mean, p.L.At(0, 0), of[i], m)
					}
				}
			}
		}
	}
	if close < 20 {
		t.Errorf("%d pairs are close to a component: the test sees little", close)
	}
}

// Where one pair scores s in a table, whatever its rows, so does all of a region at most: what is
// close to the opinion about the multiset that it owes its score.
//
// Shows: [AMN24] Proposition E.2.
func TestPropositionE2(t *testing.T) {
	rng := rand.New(rand.NewPCG(42, 2))
	l := newKnown().x.lattice
	s := overlap{lattice: *l, block: 1}
	pairs, q := s.options(region{})
	regions := 0
	for range 60 {
		x := make([]float64, rng.IntN(10))
		for i := range x {
			x[i] = 12*rng.Float64() - 6
		}
		of := q.Scores(x, 1)
		for i, p := range pairs {
			var best opinion
			for y := range l.Multisets {
				if l.good(y, p, region{}) && missing(l, l.Multisets[y], x) == int(-of[i]) {
					best = l.Opinions[y]
					break
				}
			}
			if !best.OK {
				t.Fatalf("%v: no multiset has the score %d of %v", x, -of[i], p.Mean)
			}
			near := 0
			for j, r := range pairs {
				if l.Robust.Closeness.close(best.pair(), r) {
					if near++; of[j] < of[i] {
						t.Fatalf("%v: N(%v, ..) scores %d, and %v in its region %d", x, p.Mean, -of[i], r.Mean, -of[j])
					}
				}
			}
			if near > 1 {
				regions++
			}
		}
	}
	if regions < 1000 {
		t.Errorf("%d regions of more than one pair: the test sees little", regions)
	}
}

// missing is how many elements of a multiset are not among the rows, each rounded to the nearest
// point.
func missing(l *lattice, y []int, x []float64) int {
	left, n := slices.Clone(y), size(y)
	for _, v := range x {
		at := 0
		for j, p := range l.Robust.Points {
			if math.Abs(v-p) < math.Abs(v-l.Robust.Points[at]) {
				at = j
			}
		}
		if left[at] > 0 {
			left[at]--
			n--
		}
	}
	return n
}

// Whatever the table, what scores 0 lies in few regions: one around the opinion about each subset
// of N = 3 of its rows, of C(n, 3), within the closeness that (2) allows a multiset's subsets, and
// that of (2) itself; and most opinions have regions that hold no such pair.
//
// Shows: [AMN24] Proposition E.3.
func TestPropositionE3(t *testing.T) {
	rng := rand.New(rand.NewPCG(42, 3))
	l := newKnown().x.lattice
	s := overlap{lattice: *l, block: 1}
	pairs, q := s.options(region{})
	r := l.Robust
	parts, opinions := multisets(len(r.Points), l.Sub), r.opinions(l.Sub)
	zero, most := 0, 0
	for range 2000 {
		x := make([]float64, 4+rng.IntN(4))
		held := make([]int, len(r.Points))
		for i := range x {
			at := rng.IntN(len(r.Points))
			x[i], held[at] = r.Points[at], held[at]+1
		}
		var regions []opinion
		for i, z := range parts {
			if opinions[i].OK && changes(z, held, 0) == 0 {
				regions = append(regions, opinions[i])
			}
		}
		if float64(len(regions)) > choose(len(x), l.Sub) {
			t.Fatalf("%d regions of %d rows", len(regions), len(x))
		}
		most = max(most, len(regions))
		for i, v := range q.Scores(x, 1) {
			if v != 0 {
				continue
			}
			zero++
			if !slices.ContainsFunc(regions, func(o opinion) bool {
				for y := range l.Multisets {
					told := l.Opinions[y]
					if told.OK && missing(l, l.Multisets[y], x) == 0 && r.Closeness.times(allowed).close(o.pair(), told.pair()) && r.Closeness.close(told.pair(), pairs[i]) {
						return true
					}
				}
				return false
			}) {
				t.Fatalf("%v: N(%v, ..) scores 0 and is in no region", x, pairs[i].Mean)
			}
		}
	}
	if zero < 200 || most < 10 {
		t.Errorf("%d scores of 0, %d regions at most: the test sees little", zero, most)
	}
}

// On rows of a mixture, here on one side of what the facts allow, what scores less than m/10 is
// within a factor of 4 of a component. (A false alarm would take rows 4 and more sds out in
// numbers: below 1e-9.)
//
// Shows: [AMN24] Proposition E.4.
func TestPropositionE4(t *testing.T) {
	rng, k, low, away := rand.New(rand.NewPCG(stattest.Seed(t), 4)), newKnown(), 0, 0
	for range 20 {
		parts := twoParts(rng)
		parts[1][1] = -4 + 2*rng.Float64()
		pairs, of, m := k.scored(column(estimatetest.Draw(t, line(t, parts...), 4000, rng)))
		for i, p := range pairs {
			near := slices.ContainsFunc(parts, func(q [3]float64) bool { return vague(p, paper.Line(q[1], q[2]), wide) })
			switch {
			case !near:
				away++
				if 10*of[i] < m {
					t.Errorf("%v: N(%v, %v^2) scores %d of %d", parts, p.Mean, p.L.At(0, 0), of[i], m)
				}
			case 10*of[i] < m:
				low++
			}
		}
	}
	if low < 200 || away < 50 {
		t.Errorf("%d pairs score low, %d are away: the test sees little", low, away)
	}
}

// One step finds a component that was not found yet, the other having been removed: a pair that is
// near it, and close to something in the region. Of 20 runs with fresh rows, more fail than 1e-7 of
// all times would if each did with probability .05; the test of Theorem C.3 fails in .01.
//
// Shows: [AMN24] Lemma E.5.
func TestLemmaE5(t *testing.T) {
	rng, k, good := rand.New(rand.NewPCG(stattest.Seed(t), 5)), newKnown(), 0
	const runs = 20
	for seed := range uint64(runs) {
		parts := twoParts(rng)
		r, mu2 := k.run(t, parts, seed, rng)
		omega := region{Factor: k.c.Removed}.without(paper.Line(parts[0][1], parts[0][2]))
		p, ok, err := r.component(k.x.scorer(r.n), omega, k.x.h, mu2/2)
		if err != nil {
			t.Fatal(err)
		}
		in := slices.ContainsFunc(k.x.lattice.Opinions, func(o opinion) bool {
			return ok && o.OK && omega.contains(o.pair()) && k.c.Closeness.close(o.pair(), p)
		})
		if ok && !in {
			t.Errorf("%v: %v is close to nothing in the region", parts, p.Mean)
		}
		if in && vague(p, paper.Line(parts[1][1], parts[1][2]), wide) {
			good++
		}
		if stattest.Enough(good, runs, .95, 1e-7) {
			break
		}
	}
	stattest.GoodAtLeast(t, good, runs, .95, 1e-7)
}

// run is a run of Algorithm 2 up to its steps, and what they may spend.
func (k known) run(t *testing.T, parts [][3]float64, seed uint64, rng *rand.Rand) (r *run, mu2 float64) {
	t.Helper()
	f := trial{rows: estimatetest.Draw(t, line(t, parts...), 3000, rng), d: 1, k: 2, eps: 20, facts: knowing(4, .7, 1.5), noise: kerneltest.Options{Seed: seed},
		relation: relations[seed%2]}
	s := f.open(t, kernelPlan(k.x))
	r, _, err := begin(s, k.c, 2)
	if err != nil {
		t.Fatal(err)
	}
	return r, k.c.CrudeShare * s.Mu() * s.Mu()
}

// All steps find a pair near each component, and no more pairs than there are components (20 runs,
// each fails with probability .1, 1e-7).
//
// Shows: [AMN24] Lemma E.6.
func TestLemmaE6(t *testing.T) {
	rng, k, good := rand.New(rand.NewPCG(stattest.Seed(t), 6)), newKnown(), 0
	const runs = 20
	for seed := range uint64(runs) {
		parts := twoParts(rng)
		r, mu2 := k.run(t, parts, seed, rng)
		found, none, err := r.components(t.Context(), k.x.scorer(r.n), k.x.h, mu2)
		if err != nil || len(found) > 2 {
			t.Fatal(err, found)
		}
		all := none == nil
		for _, q := range parts {
			all = all && slices.ContainsFunc(found, func(p pair) bool { return vague(p, paper.Line(q[1], q[2]), wide) })
		}
		if all {
			good++
		} else {
			t.Logf("%v: found %v", parts, found)
		}
		if stattest.Enough(good, runs, .9, 1e-7) {
			break
		}
	}
	stattest.GoodAtLeast(t, good, runs, .9, 1e-7)
}
