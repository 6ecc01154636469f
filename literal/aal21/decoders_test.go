package aal21

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// runs of every utility test; each algorithm is asked for so many rows that it fails with
// probability below .02.
const runs = 60

// corrupted is n rows of one column, of which a part w is from N(mean, sd^2) and the rest is what
// an adversary might send: one value, a wide Gaussian, all scales, or a Gaussian beside.
func corrupted(rng *rand.Rand, n int, w, mean, sd float64) [][]float64 {
	kind := rng.IntN(4)
	rows := make([][]float64, n)
	for i := range rows {
		v := mean + sd*rng.NormFloat64()
		if rng.Float64() >= w {
			switch kind {
			case 0:
				v = mean + sd/2
			case 1:
				v = 1e3 * sd * rng.NormFloat64()
			case 2:
				v = sd * math.Exp(20*rng.NormFloat64())
			case 3:
				v = mean + 3*sd + sd*rng.NormFloat64()/4
			}
		}
		rows[i] = []float64{v}
	}
	return rows
}

// Lemma 4.2: among a (1-w)-corruption of N(mu, sigma^2), sigma~/2 < sigma <= sigma~, the list has a
// member within sigma~/2 < sigma of mu; it is never longer than its cap. False-alarm rate 1e-9 for
// every relation and each set of constants.
//
// Shows: [AAL21] Lemma 4.2; Algorithm 2; Claim 4.3.
func TestMeanDecoder(t *testing.T) {
	rng := newRand(t)
	for _, rel := range relations {
		for _, constants := range []Constants{Practical(), Printed(.5)} {
			good := 0
			w := .4
			for range runs {
				sd := math.Exp(10 * rng.NormFloat64())
				mean, scale := 1e4*sd*rng.NormFloat64(), sd*(1+.999*rng.Float64())
				c := trial{rows: corrupted(rng, 1500, w*1.1, mean, sd), d: 1, k: 1, eps: 20, relation: rel, noise: kerneltest.Options{Seed: rng.Uint64()}}
				r, mu2 := c.alone(t, constants)
				r.least = w
				lists, err := r.meanDecoder([]axis{{[]float64{1}, scale}}, mu2)
				if err != nil {
					t.Fatal(err)
				}
				if n := len(lists[0]); n > constants.mostMeans(w) {
					t.Errorf("a list of %d, more than its cap %d", n, constants.mostMeans(w))
				}
				for _, bin := range lists[0] {
					if math.Abs(bin*scale-mean) <= scale/2*(1+1e-9) {
						good++
					}
				}
			}
			stattest.GoodAtLeast(t, good, runs, .98, stattest.FalseAlarm)
		}
	}
}

// Algorithm 3: the list has a sigma~ with sigma <= sigma~ < 2 sigma, and is never longer than its
// cap.
//
// Shows: [AAL21] Algorithm 3.
func TestVarianceDecoder(t *testing.T) {
	rng := newRand(t)
	for _, rel := range relations {
		for _, constants := range []Constants{Practical(), Printed(.5)} {
			good := 0
			w := .4
			for range runs {
				sd := math.Exp(50 * rng.NormFloat64())
				c := trial{rows: corrupted(rng, 4000, w*1.1, 1e3*sd*rng.NormFloat64(), sd), d: 1, k: 1, eps: 20, relation: rel,
					noise: kerneltest.Options{Seed: rng.Uint64()}}
				r, mu2 := c.alone(t, constants)
				r.least = w
				lists, err := r.varianceDecoder(mu2)
				if err != nil {
					t.Fatal(err)
				}
				if n := len(lists[0]); n > constants.mostScales(w) {
					t.Errorf("a list of %d, more than its cap %d", n, constants.mostScales(w))
				}
				for _, scale := range lists[0] {
					if sd <= scale && scale < 2*sd {
						good++
					}
				}
			}
			stattest.GoodAtLeast(t, good, runs, .98, stattest.FalseAlarm)
		}
	}
}

// Algorithms 4 and 5: for each of two components of two columns the net over the list has a member
// within total variation 2 step sqrt d.
//
// Shows: [AAL21] Algorithm 4; Algorithm 5; Claim 3.3.
func TestProductDecoder(t *testing.T) {
	rng := newRand(t)
	for _, rel := range relations {
		for _, d := range []int{1, 2} {
			good, total := 0, 0
			for range runs / 6 {
				truth := randomMixture(t, rng, []float64{.55, .45}, d, 8)
				c := trial{rows: sample(t, rng, truth, 6000), d: d, k: 2, eps: 20, relation: rel, noise: kerneltest.Options{Seed: rng.Uint64()}}
				r, mu2 := c.alone(t, Practical())
				l, err := axisAligned{Practical()}.decode(c.sample(r, mu2))
				if err != nil {
					t.Fatal(err)
				}
				if l.Size(1) == 0 {
					total += 2
					continue
				}
				const step = 1. / 4
				lines := l.lines(step)
				for _, g := range truth.Components {
					near := true
					for j, line := range lines {
						found := false
						for _, h := range line {
							sd := math.Sqrt(g.Cov.At(j, j))
							ratio := h.L.At(0, 0) / sd
							found = found || ratio < 1+step && ratio > 1/(1+step) && math.Abs(h.Mean[0]-g.Mean[j]) <= step*sd
						}
						near = near && found
					}
					if total++; near {
						good++
					}
				}
			}
			stattest.GoodAtLeast(t, good, total, .97, stattest.FalseAlarm)
		}
	}
}

// The lists keep to their caps on every table, and an algorithm that finds nothing costs no more
// than it was given.
func TestCaps(t *testing.T) {
	rng := newRand(t)
	for _, constants := range []Constants{Practical(), Printed(.5)} {
		w := constants.leastWeight(1)
		for _, table := range estimatetest.Hard() {
			for _, rel := range relations {
				for _, d := range []int{1, 2} {
					c := trial{rows: table.Rows(rng, 500, d), d: d, k: 1, eps: 20, relation: rel, noise: kerneltest.Options{Seed: rng.Uint64()}}
					r, mu2 := c.alone(t, constants)
					l, err := axisAligned{constants}.decode(c.sample(r, mu2))
					if err != nil {
						t.Fatal(err)
					}
					for _, list := range l.coordinates {
						if len(list) > constants.mostScales(w)*constants.mostMeans(w) {
							t.Errorf("%s: a list of %d", table.Name, len(list))
						}
					}
					if s := r.a.Session(); s.Loss().Mu > s.Mu() {
						t.Errorf("%s: spent %v of %v", table.Name, s.Loss().Mu, s.Mu())
					}
				}
			}
		}
	}
}

// The caps bind: as many equally full bins as there can be are not more than the cap, and beyond it
// the answer is FAIL.
//
// Shows: [AAL21] Claim 4.4.
func TestMeanDecoderFails(t *testing.T) {
	constants := Practical()
	// a bin is listed from .02 of the rows on, and 75 bins are FAIL
	constants.MeanPart, constants.WeightPart = .1, .2
	for _, bins := range []int{30, 45} {
		rows := make([][]float64, 30*45*4)
		for i := range rows {
			rows[i] = []float64{float64(i % bins)}
		}
		r, mu2 := trial{rows: rows, d: 1, k: 1, eps: 100, relation: relations[0], noise: kerneltest.Options{Seed: 1}}.alone(t, constants)
		lists, err := r.meanDecoder([]axis{{[]float64{1}, 1}}, mu2)
		if err != nil {
			t.Fatal(err)
		}
		if len(lists[0]) != bins {
			t.Errorf("%d equal bins: a list of %d", bins, len(lists[0]))
		}
		r, mu2 = trial{rows: rows[:bins], d: 1, k: 1, eps: 100, relation: relations[0], noise: kerneltest.Options{Seed: 1}}.alone(t, constants)
		r.rows = 1 // as a noisy n could be: every bin is then a whole table
		if lists, err = r.meanDecoder([]axis{{[]float64{1}, 1}}, mu2); err != nil || len(lists[0]) != 0 {
			t.Errorf("more bins than can be: %d, %v", len(lists[0]), err)
		}
	}
}

// The net over a rough Gaussian has, for every sd in (scale/2, scale] and mean in the bin, a member
// within the factor 1+step and step/2; and overlapping nets list nothing twice.
func TestLattice(t *testing.T) {
	rng := newRand(t)
	for _, constants := range []Constants{Practical(), Printed(.5)} {
		for _, step := range []float64{2, 1, .5, 1. / 3, .25, .1, 1. / 36} {
			n := latticeOf(step, constants.Reach, false)
			list := []rough{{8, -3}, {8, -2}, {4, -5}}
			net := n.line(list)
			if float64(len(net)) > n.size(list) {
				t.Errorf("step %v: %d members, at most %v", step, len(net), n.size(list))
			}
			seen := map[[2]float64]bool{}
			for _, g := range net {
				key := [2]float64{g.Mean[0], g.L.At(0, 0)}
				if seen[key] {
					t.Errorf("step %v: %v twice", step, key)
				}
				seen[key] = true
			}
			for range 200 {
				at := list[rng.IntN(3)]
				sd, mean := at.scale*(1-rng.Float64()/2), at.scale*(at.bin+rng.Float64()-.5)
				found := false
				for _, g := range net {
					ratio := g.L.At(0, 0) / sd
					found = found || ratio < (1+step)*(1+1e-9) && ratio > 1/(1+step)*(1-1e-9) && math.Abs(g.Mean[0]-mean) <= math.Max(step, 1)/2*at.scale &&
						(step > 1 || math.Abs(g.Mean[0]-mean) <= step/2*at.scale*(1+1e-9))
				}
				if !found {
					t.Fatalf("step %v: nothing near N(%v, %v^2)", step, mean, sd)
				}
			}
		}
	}
}

// TestLineCounts: the size of a net that is counted without its Gaussians is that of the net, also
// where nets of neighbouring bins and of scales a power of the step apart have members in common;
// and a refusal, which counts several, is cheap: it makes next to no Gaussian.
func TestLineCounts(t *testing.T) {
	random := newRand(t)
	common := 0
	for range 200 {
		var list []rough
		step := []float64{2, 1, .5, 1. / 3, 1. / 7, math.Sqrt2 - 1}[random.IntN(6)]
		for octave := range 4 {
			for bin := range 6 {
				if random.IntN(2) == 0 {
					list = append(list, rough{math.Exp2(float64(octave)), float64(bin - 3)})
				}
			}
		}
		n := latticeOf(step, 1, random.IntN(2) == 0)
		line := n.line(list)
		if got := n.count(list); got != len(line) {
			t.Errorf("step %v: %d counted, %d in the net of %v", step, got, len(line), list)
		}
		places := 0
		for range n.places(list) {
			places++
		}
		if len(line) < places*n.sds {
			common++
		}
	}
	if common == 0 {
		t.Error("no two scales had a Gaussian in common")
	}
	p := estimate.Problem{Columns: 1, Rows: 20000, Relation: privacy.ReplaceOne, Mu: 1, Components: 2, MaxComponents: 10}
	e := NewUnivariate(Practical()).Printed()
	if made := testing.AllocsPerRun(1, func() {
		if _, err := e.Plan(p); err == nil {
			t.Error("not refused")
		}
	}); made > 1e4 {
		t.Errorf("a refusal allocates %v times", made)
	}
}
