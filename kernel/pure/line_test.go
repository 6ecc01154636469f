package pure

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/blocks"
	"github.com/gauze-dp/gauze/kernel/internal/core"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// onLine reads a block's value, which is a row of the table, in quarters.
var onLine = Line{Unit: .25, Reach: 8, Mu: 1}

// number is a learner of one number, the largest in magnitude of the block's; it fails at Fail.
func number() core.Learner {
	return kerneltest.Own{K: 1, Width: 3, Make: func(rows [][]float64, _ uint64) ([][]float64, error) {
		v := 0.0
		for _, r := range rows {
			if math.Abs(r[0]) > math.Abs(v) {
				v = r[0]
			}
		}
		if v == kerneltest.Fail {
			return nil, nil
		}
		return [][]float64{{1, v, 7}}, nil
	}}
}

// at are the estimates of blocks that read these values; Fail and what is no number have failed.
func at(values ...float64) (all [][]blocks.Component) {
	for _, v := range values {
		all = append(all, blocks.Decode([][]float64{{1, v, 7}}, 1))
		if v == kerneltest.Fail {
			all[len(all)-1] = nil
		}
	}
	return all
}

func linePlan() core.Plan {
	return core.Plan{Method: "line", Steps: []core.Step{
		{Name: "number", Query: PopularNumberKind, Share: .9, Most: 1, Extra: Closeness{Delta: testDelta, Pure: testPure}, Source: "PPE Theorem 4.3.1"},
		{Name: "popular", Query: PopularKind, Share: .1, Most: 1, Extra: Closeness{fortyMask, testDelta, testPure}, Source: "PPE Section A2"},
	}}
}

// TestLineDecides: without noise the number of close pairs decides, and the first popular number is
// released, in units.
func TestLineDecides(t *testing.T) {
	for _, c := range []struct {
		others []float64
		sum    int64
		want   float64
		ok     bool
	}{
		{nil, 1600, 0, true},
		{[]float64{kerneltest.Fail, 5, math.Inf(1), math.NaN()}, 36*36 + 4, 0, true},
		{[]float64{kerneltest.Fail, 5, 1e300, -7, 9}, 35*35 + 5, 0, false},
		{[]float64{1.12}, 1600, 4, true}, // 4.48 units, within half of the reach
		{[]float64{1.13}, 39*39 + 1, 0, true},
	} {
		var exact [][]int64
		s := kerneltest.OpenColumn(t, privacy.ReplaceOne, nil, kerneltest.Quiet(t, 1, &exact), linePlan())
		draw := kerneltest.DrawOf(t, s, Closeness{Delta: testDelta, Pure: testPure})
		all := at(kerneltest.Zeros(40, c.others...)...)
		passed, sum, release := testOf(t, onLine).Run(draw, all)
		if sum != c.sum || passed != c.ok || passed && release()[0].Mean[0] != c.want {
			t.Errorf("%v: %v, %v, %v", c.others, passed, sum, release())
		}
	}
}

// TestLineReleases: the whole of it on a table, both lines of the certificate, and mu is charged
// whether the test passes or not.
func TestLineReleases(t *testing.T) {
	for _, r := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		for _, values := range [][]float64{make([]float64, 400), {1, 2, 3, 4, 5, 6, 7, 8, 1e300, -1e300, math.NaN()}, nil} {
			s := kerneltest.OpenColumn(t, r, values, kerneltest.Seeded(t, 1), linePlan())
			y, ok, err := ReleasePopular(s.SubBudget(), "number", blocks.Blocks{OfTerms: kerneltest.Place(number()), Count: 40}, onLine, testPure)
			if err != nil || ok != (len(y) == 1) || ok && math.Abs(y[0].Mean[0]) > 8*8 {
				t.Fatalf("%v, %v, %v", y, ok, err)
			}
			lines := s.Measurements()
			if len(lines) != 2 || lines[0].Mu != 0 || lines[0].Law != LawPopular || lines[1].Mu != 1 || lines[1].Sensitivity != 8 || lines[1].Noise < 8 || lines[1].Mask != nil || s.Loss().Mu != 1 {
				t.Errorf("%+v, %+v", lines, s.Loss())
			}
		}
	}
}

// TestLineFriends: as many as there are by definition.
func TestLineFriends(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 3))
	for range 200 {
		h := Line{Unit: 1, Reach: 2 + rng.Int64N(9), Mu: 1}
		values := make([]float64, 1+rng.IntN(12))
		for i := range values {
			if values[i] = float64(rng.IntN(20)); rng.IntN(4) == 0 {
				values[i] = kerneltest.Fail
			}
		}
		all := at(values...)
		got := h.friends(all)
		for i, x := range values {
			want := 0
			for _, y := range values {
				if gap := int64(x) - int64(y); x != kerneltest.Fail && y != kerneltest.Fail && max(gap, -gap) <= h.Reach/2 {
					want++
				}
			}
			if got[i] != want {
				t.Fatalf("%v, reach %d: %v", values, h.Reach, got)
			}
		}
	}
}

// TestTheorem431OnALine: for all pairs of neighbours of a small set, and any value of the one block
// that differs, failed ones among them: the count moves by at most 2(t-1), and where neither side
// is below 4t^2/5 the two anchors are within Reach of one another. With an anchor of half the
// blocks they need not be.
//
// Shows: [PPE] Theorem 4.3.1.
func TestTheorem431OnALine(t *testing.T) {
	const reach = 4
	h := Line{Unit: 1, Reach: reach, Mu: 1}
	anchor := func(values []float64, part int) (sum int, y float64) {
		y = math.NaN()
		for i, q := range h.friends(at(values...)) {
			sum += max(q, 1)
			if math.IsNaN(y) && 5*q > part*len(values) {
				y = values[i]
			}
		}
		return sum, y
	}
	wide, worst, moved := 0., 0., 0
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200_000 {
		blocks := 5 + rng.IntN(6)
		draw := func(fails int) float64 {
			if rng.IntN(fails) == 0 {
				return kerneltest.Fail
			}
			return float64(rng.IntN(7))
		}
		all := make([]float64, blocks)
		for i := range all {
			all[i] = draw(20)
		}
		other := append([]float64(nil), all...)
		other[rng.IntN(blocks)] = draw(5)
		c, y := anchor(all, 3)
		c2, y2 := anchor(other, 3)
		if moved = max(moved, max(c-c2, c2-c)*100/(2*(blocks-1))); moved > 100 {
			t.Fatalf("%v and %v: counts %d and %d", all, other, c, c2)
		}
		if 5*min(c, c2) < 4*blocks*blocks {
			continue
		}
		if !(math.Abs(y-y2) <= reach) {
			t.Fatalf("%v and %v: anchors %v and %v", all, other, y, y2)
		}
		worst = max(worst, math.Abs(y-y2))
		_, y = anchor(all, 2)
		_, y2 = anchor(other, 2)
		wide = max(wide, math.Abs(y-y2))
	}
	t.Logf("anchors at most %v of %d apart; the count moves by %d %% of its bound", worst, reach, moved)
	if worst > reach || wide <= reach || moved < 90 {
		t.Errorf("anchors at most %v apart, %v if two fifths were enough, count moves by %d %%", worst, wide, moved)
	}
}

// TestLineAudit: neighbours whose anchors are as far apart as friends can be are told apart by no
// more than mu says, and by more if the noise is a third of it.
func TestLineAudit(t *testing.T) {
	runs := more(4000)
	h := Line{Unit: 1, Reach: 8, Mu: 1}
	const delta = .05
	claim := privacy.EpsilonOfMu(delta, h.Mu)
	for _, factor := range []float64{1, 1. / 3} {
		var above [2]int
		for side, first := range []float64{4, -4} {
			hook := kerneltest.Seeded(t, stattest.Seed(t)+uint64(side))
			hook.NoiseFactor = factor
			draw := kerneltest.DrawOf(t, kerneltest.OpenColumn(t, privacy.ReplaceOne, nil, hook, linePlan()), Closeness{Delta: testDelta, Pure: testPure})
			_, sum, release := testOf(t, h).Run(draw, at(kerneltest.Zeros(40, first)...))
			if sum != 1600 {
				t.Fatalf("sum %d", sum)
			}
			for range runs {
				if release()[0].Mean[0] > 3 {
					above[side]++
				}
			}
		}
		epsilon := kerneltest.CertifiedBy(t, above[0], above[1], runs, delta)
		t.Logf("noise x %v: %v of %d above: epsilon >= %.3f, claimed %.3f", factor, above, runs, epsilon, claim)
		if epsilon > claim != (factor < 1) || epsilon < .2*claim {
			t.Errorf("noise x %v: certified epsilon %v, claimed %v", factor, epsilon, claim)
		}
	}
}

// TestLineRefuses: what cannot be asked, before anything is spent; and each space wants a plan of
// its own.
func TestLineRefuses(t *testing.T) {
	s := kerneltest.OpenColumn(t, privacy.AddRemoveOne, kerneltest.Zeros(40), kerneltest.Seeded(t, 1), linePlan())
	with := func(change func(*Line)) Line { h := onLine; change(&h); return h }
	for _, c := range []struct {
		want    string
		count   int
		h       Line
		epsilon float64
	}{
		{"want 5 to", 4, onLine, 1},
		{"a positive Unit", 40, with(func(h *Line) { h.Unit = math.NaN() }), 1},
		{"a positive Unit", 40, with(func(h *Line) { h.Unit = -.5 }), 1},
		{"a positive Unit", 40, with(func(h *Line) { h.Unit = math.Inf(1) }), 1},
		{"a Reach of", 40, with(func(h *Line) { h.Reach = 1 }), 1},
		{"a Reach of", 40, with(func(h *Line) { h.Reach = 1 << 53 }), 1},
		{"a positive mu", 40, with(func(h *Line) { h.Mu = math.NaN() }), 1},
		{"would exceed", 40, with(func(h *Line) { h.Mu = 100 }), 1},
		{"a pure loss of 1.5", 40, onLine, 1.5},
	} {
		if _, ok, err := ReleasePopular(s.SubBudget(), "number", blocks.Blocks{OfTerms: kerneltest.Place(number()), Count: c.count}, c.h, c.epsilon); err == nil || !strings.Contains(err.Error(), c.want) || ok {
			t.Errorf("want an error with %q, got %v", c.want, err)
		}
	}
	plan := linePlan()
	plan.Steps[0].Extra, plan.Steps[1].Extra = plan.Steps[1].Extra, plan.Steps[0].Extra
	s = kerneltest.OpenColumn(t, privacy.AddRemoveOne, kerneltest.Zeros(40), kerneltest.Seeded(t, 1), plan)
	_, _, err := ReleasePopular(s.SubBudget(), "number", blocks.Blocks{OfTerms: kerneltest.Place(number()), Count: 40}, onLine, 1)
	_, _, other := ReleasePopular(s.SubBudget(), "popular", by(kerneltest.Scaled(1), 40), Popularity{fortyMask}, 1)
	for _, err := range []error{err, other} {
		if err == nil || !strings.Contains(err.Error(), "a mask that covers") {
			t.Errorf("the other space's plan: %v", err)
		}
	}
	if s.Loss().Mu != 0 || len(s.Measurements()) != 0 {
		t.Error("refusals cost something")
	}
}
