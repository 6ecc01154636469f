package pure

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/blocks"
	"github.com/gauze-dp/gauze/kernel/internal/core"
	"github.com/gauze-dp/gauze/kernel/internal/noise"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/kernel/query/papers"
)

// cutLaplace is P(Z = z), z = -A, .., A, of a Laplace variable that is cut at A, without any closed
// form.
func cutLaplace(rate float64, most int) (p []float64) {
	total := 0.
	for z := -most; z <= most; z++ {
		p = append(p, math.Exp(-rate*math.Abs(float64(z))))
		total += p[len(p)-1]
	}
	for i := range p {
		p[i] /= total
	}
	return p
}

// hockeyStick is the sum over z of (P(z) - factor P(z-t))+, the hockey-stick divergence of the law
// and the law shifted by t.
func hockeyStick(p []float64, t int, factor float64) (sum float64) {
	for z, own := range p {
		other := 0.
		if z-t >= 0 && z-t < len(p) {
			other = p[z-t]
		}
		sum += math.Max(0, own-factor*other)
	}
	return sum
}

// TestTruncatedLaw: what the proof of TruncatedHistogram says of the law: d(t) is the hockey-stick
// divergence at e^(rt), to 1e-12, convex and 0 at 0; of two counts that change at once it is no
// more than d of the sum of the changes; and the support is the least A >= D with d(D) <= s.
func TestTruncatedLaw(t *testing.T) {
	for _, d := range []int{1, 2, 3, 6, 18} {
		for _, epsilon := range []float64{.05, .5, 1, 3, 20} {
			for _, slack := range []float64{.3, 1e-2, 1e-6, 1e-12} {
				rate := epsilon / float64(d)
				most := int(supportOf(rate, float64(d), math.Log(slack)))
				p := cutLaplace(rate, most)
				closed := func(t float64) float64 {
					return math.Expm1(rate*t) / (math.Exp(rate*float64(most))*(math.Exp(rate)+1) - 2)
				}
				for shift := range d + 1 {
					if got, want := hockeyStick(p, shift, math.Exp(rate*float64(shift))*(1+1e-13)), closed(float64(shift)); math.Abs(got-want) > 1e-12 {
						t.Fatalf("D = %d, epsilon %v, slack %v: d(%d) = %v, closed form %v", d, epsilon, slack, shift, got, want)
					}
				}
				tail := func(most int) (sum float64) {
					for z, v := range cutLaplace(rate, most) {
						if z-most > most-d {
							sum += v
						}
					}
					return sum
				}
				if tail(most) > slack*(1+1e-13) || most < d || most > d && tail(most-1) <= slack {
					t.Errorf("D = %d, epsilon %v, slack %v: support %d, tails %v and one less %v", d, epsilon, slack, most, tail(most), tail(most-1))
				}
				if one := d / 2; most < 60 {
					both, factor := 0., math.Exp(epsilon)*(1+1e-13)
					for z, own := range p { // the second count changes by d - one
						other := 0.
						if z-one >= 0 {
							other = p[z-one]
						}
						for y, second := range p {
							shifted := 0.
							if y-(d-one) >= 0 {
								shifted = p[y-(d-one)]
							}
							both += math.Max(0, own*second-factor*other*shifted)
						}
					}
					if both > closed(float64(d))+1e-12 {
						t.Errorf("D = %d, epsilon %v: two counts differ by %v, one by %v", d, epsilon, both, closed(float64(d)))
					}
				}
			}
		}
	}
}

// TestSupportExtremes: supports are finite integers that float64 can count, whatever the budget.
func TestSupportExtremes(t *testing.T) {
	for _, rate := range []float64{leastTruncated, 1e-3, 1, 1e3, 1e7} {
		for _, logSlack := range []float64{-1, -700, -1e5, -2e7} {
			for _, d := range []float64{1, 6, 1e4} {
				if rate*d > maxEpsilon {
					continue
				}
				got := supportOf(rate, d, logSlack)
				// of the tail e^(-r(A-d)) (1-e^(-rd))/(1+e^-r) or more
				want := d + math.Max(0, (-logSlack-math.Log(2/(1-math.Exp(-rate*d))))/rate)
				if float64(got) < d || got >= 1<<46 || float64(got) > want*(1+1e-9)+2+2/rate {
					t.Errorf("rate %v, D = %v, ln slack %v: support %d, about %v", rate, d, logSlack, got, want)
				}
			}
		}
	}
}

// opened is a draw from one column, for its randomness, and the masses that q makes of it.
func opened(t *testing.T, values []float64, q query.SpacingQuery, seed uint64) (draw *core.Draw, masses []query.SpacingMass) {
	b := core.NewBuilder(1)
	for _, v := range values {
		b.Append([]float64{v})
	}
	p := core.Plan{Method: "m", Steps: []core.Step{{Name: "gaps", Query: "gaps", Share: 1, Most: 1}}}
	s, err := core.Open(context.Background(), core.Hooked(b.Protect(privacy.ReplaceOne), seeded(seed)), p, core.Terms{Relation: privacy.ReplaceOne, Budget: privacy.Budget{Rho: 1}})
	if err != nil {
		t.Fatal(err)
	}
	if err := core.Secretly(s.SubBudget(), func(d *core.Draw) error { draw, masses = d, kernel.SpacingMasses(d, q); return nil }); err != nil {
		t.Fatal(err)
	}
	return draw, masses
}

// ladders are neighbours under replace-one with a large change of the masses: in a ladder of 60
// gaps 1 a rung is missing on one side, in one of 60 gaps 64 on the other.
func ladders() (x, y []float64) {
	for i := range 61 {
		for side, rung := range []float64{float64(i), 100 + 64*float64(i)} {
			if i != 30 || side == 1 {
				x = append(x, rung)
			}
			if i != 30 || side == 0 {
				y = append(y, rung)
			}
		}
	}
	return x, y
}

// certified is a lower bound on epsilon from how often an event happens on either side, at 1e-9
// each.
func certified(t *testing.T, onX, onY, runs int, delta float64) float64 {
	low, _ := stattest.ProportionBounds(t, onX, runs, 2*stattest.FalseAlarm)
	_, high := stattest.ProportionBounds(t, onY, runs, 2*stattest.FalseAlarm)
	return math.Log(math.Max(0, low-delta) / high)
}

// TestAuditGaps attacks the release of gaps on the ladders by the likelihood ratio of all windows
// that are released on both sides. The claim is that of a mu = 1 step with slack .01; half the
// noise is caught. False-alarm rate 2e-9.
func TestAuditGaps(t *testing.T) {
	const mu, epsilon, slack, runs = 1, 1, .01, 30_000
	delta := privacy.DeltaOfMu(epsilon, mu) + (1+math.E)*slack
	q := query.SpacingMasses{LogWindow: 15}
	sigma := q.Sensitivity(privacy.ReplaceOne) / mu
	buckets, mass := q.OneSided(privacy.ReplaceOne)
	threshold := privacy.Threshold(mass, sigma, math.Log(slack/buckets))
	x, y := ladders()
	type name struct{ scale, place float64 }
	masses := func(values []float64) map[name]float64 {
		of := map[name]float64{}
		slices.Sort(values)
		for _, m := range q.Masses(0, values) {
			of[name{float64(m.Scale), float64(m.Place)}] = float64(m.Mass)
		}
		return of
	}
	onX, onY := masses(x), masses(y)
	change, common := 0., 0
	for n, m := range onX {
		if onY[n] > 0 {
			change += (m - onY[n]) * (m - onY[n])
			common++
		}
	}
	if math.Sqrt(change)/(mu*sigma) < .98 || common < 2 {
		t.Fatalf("the pair is no worst case: %v of %v", math.Sqrt(change), mu*sigma)
	}
	for _, factor := range []float64{1, .5} {
		var hits [2]int
		for side, values := range [][]float64{x, y} {
			draw, masses := opened(t, values, q, stattest.Seed(t)+uint64(side))
			for range runs {
				ratio := 0.
				released := kernel.NoisySpacings(masses, threshold, 1, func() int64 { return draw.Gaussian(sigma * factor) })
				for ; len(released) > 0; released = released[4:] {
					n := name{released[1], released[2]}
					if own, other := onX[n], onY[n]; own > 0 && other > 0 {
						ratio += (own - other) * (released[3] - (own+other)/2) / (sigma * sigma * factor * factor)
					}
				}
				if ratio > epsilon {
					hits[side]++
				}
			}
		}
		found := certified(t, hits[0], hits[1], runs, delta)
		t.Logf("noise factor %v: %d and %d of %d: epsilon >= %.3f", factor, hits[0], hits[1], runs, found)
		if (found > epsilon) != (factor < 1) {
			t.Errorf("noise factor %v: certified %v, claimed %v", factor, found, epsilon)
		}
	}
}

// TestOneSidedGaps: buckets that one row alone fills pass with probability at most the slack, all
// together; a threshold for 100 times the slack would be seen. An empty bucket is never released.
// False-alarm rate 3e-9.
func TestOneSidedGaps(t *testing.T) {
	const runs, slack = 40_000, .01
	rng := rand.New(rand.NewPCG(1, 5))
	q := query.SpacingMasses{LogWindow: 15}
	for r, mu := range map[privacy.Relation]float64{privacy.ReplaceOne: .5, privacy.AddRemoveOne: 1} {
		sigma := q.Sensitivity(r) / mu
		buckets, mass := q.OneSided(r)
		// One gap more in the middle of nowhere: on ramps and between nodes it fills four buckets.
		values := []float64{-9 * (1<<14 + 1<<20), -9*(1<<14+1<<20) + 9}
		draw, masses := opened(t, values, q, stattest.Seed(t))
		if n := len(q.Masses(0, values)); n != 4 {
			t.Fatalf("%d buckets", n)
		}
		release := func(slack float64) (times int) {
			threshold := privacy.Threshold(mass, sigma, math.Log(slack/buckets))
			for range runs {
				if values := kernel.NoisySpacings(masses, threshold, 1, func() int64 { return draw.Gaussian(sigma) }); len(values) > 0 {
					times++
				}
			}
			return times
		}
		stattest.GoodAtMost(t, release(slack), runs, slack, stattest.FalseAlarm)
		stattest.BadAtMost(t, release(100*slack*.99), runs, slack, stattest.FalseAlarm)
		for range 100 { // ties and single values have no gaps, so nothing can be released
			v := rng.NormFloat64()
			if _, masses := opened(t, []float64{v, v, v}[:rng.IntN(4)], q, 1); len(kernel.NoisySpacings(masses, -math.MaxFloat64, 1, func() int64 { return 0 })) > 0 {
				t.Fatal("an empty bucket was released")
			}
		}
	}
}

// TestAuditTruncated: on the pair of ladders with gaps 1 and 64 hard buckets change by 6 in L1, and
// the law's worst event has exactly the claimed log-ratio: most of it is certified, and more than
// it with half the noise. False-alarm rate 2e-9.
func TestAuditTruncated(t *testing.T) {
	const epsilon, slack, runs = 1, 1e-3, 30_000
	q := papers.SpacingBuckets{Rows: 1 << 10}
	d := q.L1(privacy.ReplaceOne)
	rate := epsilon / d
	most := supportOf(rate, d, math.Log(slack))
	x, y := ladders()
	for i := range 3 * int(most) { // so that gaps of 2 and of 128 are many
		at := 1e4 + 2*float64(i)
		x, y = append(x, at, 1e5+128*float64(i)), append(y, at, 1e5+128*float64(i))
		x, y = append(x, 9e6+float64(i), 9.5e6+64*float64(i)), append(y, 9e6+float64(i), 9.5e6+64*float64(i))
	}
	// by scale; all are at place 0 or far from it
	counts := func(values []float64) map[float64]float64 {
		of := map[float64]float64{}
		slices.Sort(values)
		for _, m := range q.Masses(0, values) {
			of[float64(m.Scale)*1e6+float64(m.Place)] = float64(m.Mass)
		}
		return of
	}
	onX, onY := counts(x), counts(y)
	change, differ := 0., 0
	for n, m := range onX {
		if change += math.Abs(m - onY[n]); m != onY[n] {
			differ++
		}
	}
	if change != d || differ != 4 {
		t.Fatalf("an L1 change of %v in %d buckets", change, differ)
	}
	for _, factor := range []float64{1, .5} {
		var hits [2]int
		for side, values := range [][]float64{x, y} {
			draw, masses := opened(t, values, q, stattest.Seed(t)+uint64(side))
			for range runs {
				released := kernel.NoisySpacings(masses, float64(most)+1, 1, func() int64 { return drawTruncated(draw, rate/factor, most) })
				good := 0
				for ; len(released) > 0; released = released[4:] {
					n := released[1]*1e6 + released[2]
					if own, other := onX[n], onY[n]; own > other && released[3] >= own || own < other && released[3] <= own {
						good++
					}
				}
				if good == differ {
					hits[side]++
				}
			}
		}
		found := certified(t, hits[0], hits[1], runs, (1+math.E)*slack)
		t.Logf("noise factor %v: %d and %d of %d: epsilon >= %.3f", factor, hits[0], hits[1], runs, found)
		if (found > epsilon) != (factor < 1) || found < .5*epsilon {
			t.Errorf("noise factor %v: certified %v, claimed %v", factor, found, epsilon)
		}
	}
}

// TestDerivedGaps: of block estimates a window is released from mass k M + sigma PhiInv(1 - s/(k
// J)) on, sigma = k S/mu, and a bucket of gaps from the support for 6k: one changed block moves k
// estimates.
func TestDerivedGaps(t *testing.T) {
	const k = 3
	budget := privacy.Budget{Epsilon: 1, Delta: 1e-3}
	run := func(kind string, gaps []int, release func(s *core.Session, a *core.SubBudget) (names []int, least float64)) ([]int, float64) {
		b, n := core.NewBuilder(1), 0
		for i, count := range gaps {
			gap := math.Ldexp(1, 6*i)
			for j := range count + 1 {
				b.Append([]float64{gap * float64(1<<15+j)})
				n++
			}
		}
		h := seeded(1)
		h.NoiseFactor = 0
		p := core.Plan{Method: "gaps", Steps: []core.Step{{Name: "gaps", Query: core.OfBlocks(kind), Share: 1, Most: 1, Slack: 1}}}
		s, err := core.Open(context.Background(), core.Hooked(b.Protect(privacy.AddRemoveOne), h), p, core.Terms{Relation: privacy.AddRemoveOne, Budget: budget, Own: func(k int) core.Learner { return largest(k) }})
		if err != nil {
			t.Fatal(err)
		}
		// one row in a block, nearly always
		a, err := blocks.Pool(s.SubBudget(), blocks.Blocks{OfTerms: k, Count: 50 * max(1, n)})
		if err != nil {
			t.Fatal(err)
		}
		return release(s, a)
	}
	for kind, release := range map[string]func(s *core.Session, a *core.SubBudget) ([]int, float64){
		"gaps": func(s *core.Session, a *core.SubBudget) (names []int, least float64) {
			windows, sigma, err := kernel.SpacingHistogram(a, "gaps", query.SpacingMasses{LogWindow: 15}, .9*s.Mu())
			m := s.Measurements()[0]
			if err != nil || math.Abs(m.Sensitivity-k*1.7944) > 1e-3 || sigma != m.Noise || sigma < m.Sensitivity/(.9*s.Mu())*(1-1e-12) {
				t.Fatal(m, sigma, err)
			}
			for _, w := range windows {
				names = append(names, w.Scale)
			}
			return names, k*1.34375 + sigma*privacy.QuantileUp(privacy.LogSlackOf(budget.Epsilon, m.Delta)-math.Log(12*k))
		},
		"gap buckets": func(s *core.Session, a *core.SubBudget) (names []int, least float64) {
			buckets, support, err := TruncatedSpacings(a, "gaps", papers.SpacingBuckets{Rows: 1 << 10}, .2)
			m := s.Measurements()[0]
			if err != nil || m.Sensitivity != 6*k || support != float64(supportOf(.2/(6*k), 6*k, privacy.LogSlackOf(budget.Epsilon, m.Delta))) {
				t.Fatal(m, support, err)
			}
			for _, b := range buckets {
				names = append(names, b.Scale/6)
			}
			return names, support + 1
		},
	} {
		_, least := run(kind, nil, release)
		names, _ := run(kind, []int{int(least) / 2, int(least * 1.2)}, release)
		if !slices.Equal(names, []int{1}) {
			t.Errorf("%s: released %v, threshold %v", kind, names, least)
		}
	}
}

// largest learns the largest value of a block, k times.
type largest int

func (l largest) Estimates() int      { return int(l) }
func (l largest) Coordinates(int) int { return 1 }
func (l largest) Learn(rows [][]float64, _ uint64) (out [][]float64, err error) {
	if len(rows) == 0 {
		return nil, errors.New("empty")
	}
	most := math.Inf(-1)
	for _, r := range rows {
		most = math.Max(most, r[0])
	}
	for range int(l) {
		out = append(out, []float64{most})
	}
	return out, nil
}

func seeded(seed uint64) *core.TestHook {
	h := core.NewTestHook()
	h.Source = noise.NewSeeded(seed)
	return h
}
