package blocks

import (
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/internal/agree"
	"github.com/gauze-dp/gauze/kernel/internal/core"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// The tests of this file make fewer than 40 statistical decisions at stattest.FalseAlarm = 1e-9
// each.

var twenty = Stability{Rules: Rules{Estimates: 20, Components: 1, Columns: 1, Core: 16, Pass: 18, Radius: 1}, Eta: .3}

const testMu, testDelta = 1., .02

// foreign is what a step for another mechanism brings.
type foreign struct{ Agreement }

func maskedPlan() core.Plan {
	return core.Plan{Method: "masked", Steps: []core.Step{
		{Name: "stable", Query: StableKind, Share: .5, Most: 1, Extra: Agreement{twenty.Mask(), testDelta}, Source: "PPE Section B3"},
		{Name: "popular", Query: "of blocks: popular estimate", Share: 1e-9, Most: 1, Extra: foreign{Agreement{twenty.Mask(), testDelta}}},
		{Name: "count", Query: "count", Share: 1, Most: 9},
	}}
}

// openMasked opens a session over one column, with much to spend: (20, .9).
func openMasked(t testing.TB, r privacy.Relation, values []float64, h *core.TestHook) *core.Session {
	t.Helper()
	return kerneltest.OpenColumn(t, r, values, h, maskedPlan())
}

// openOther is openMasked with a step for Stable that is another.
func openOther(t testing.TB, r privacy.Relation, values []float64, h *core.TestHook, change func(*core.Step)) *core.Session {
	t.Helper()
	p := maskedPlan()
	change(&p.Steps[0])
	return kerneltest.OpenColumn(t, r, values, h, p)
}

// more is ten times as many runs for a long test.
func more(few int) int {
	if os.Getenv("GAUZE_LONG") != "" {
		return 10 * few
	}
	return few
}

// passes is how often a test passes on the same estimates, in so many runs.
func passes(t *testing.T, test agree.Test, extra core.Extra, factor float64, estimates [][]Component, runs int) int {
	t.Helper()
	return kerneltest.Passes(t, maskedPlan(), test.Run, extra, factor, estimates, runs)
}

// TestStableDecidesByH: without noise H >= Pass decides, H being the blocks that agree, whatever
// the others are; what is released is their mean. One row, one block.
func TestStableDecidesByH(t *testing.T) {
	for _, r := range both {
		for bad := range 6 {
			others := []float64{kerneltest.Fail, 5, kerneltest.Fail, -7, math.NaN(), 1e300}[:bad]
			if bad > 4 { // a null row is no row: its block has none, and is as good as the others
				others = append([]float64{kerneltest.Fail, 5, kerneltest.Fail, -7, kerneltest.Fail}, math.NaN())[:bad]
			}
			var exact [][]int64
			s := openMasked(t, r, kerneltest.Zeros(20, others...), kerneltest.Quiet(t, uint64(bad), &exact))
			blocks := by(kerneltest.Scaled(1), 20)
			// several rows may share a block: at most bad blocks are bad
			if r == privacy.AddRemoveOne {
				blocks.Seed = 1
			}
			got, ok, err := Stable(s.SubBudget(), "stable", blocks, twenty, testMu)
			if err != nil {
				t.Fatal(err)
			}
			h := exact[0][0]
			if h < int64(20-bad) || r == privacy.ReplaceOne && h != int64(20-bad) || ok != (h >= 18) || ok != (got != nil) || len(exact) != 2 || exact[1] != nil {
				t.Errorf("%v, %d bad blocks: H = %v, %v, %v", r, bad, exact, ok, got)
			}
			if ok && (len(got) != 1 || math.Abs(got[0].Weight-1) > 1e-9 || math.Abs(got[0].Mean[0]) > 1e-9 || math.Abs(math.Abs(got[0].Root[0])-1) > 1e-9) {
				t.Errorf("%v, %d bad blocks: the mean is %+v", r, bad, got)
			}
		}
	}
}

// TestStableMean: the weighted mean of those that agree, by hand: 19 blocks at 0, one at .8, all
// friends; and two labels in any order.
func TestStableMean(t *testing.T) {
	var exact [][]int64
	s := openMasked(t, privacy.ReplaceOne, kerneltest.Zeros(20, .8), kerneltest.Quiet(t, 1, &exact))
	got, ok, err := Stable(s.SubBudget(), "stable", by(kerneltest.Scaled(1), 20), twenty, testMu)
	if err != nil || !ok || math.Abs(2*math.Log(math.Abs(got[0].Root[0]))-.8/20) > 1e-7 {
		t.Errorf("%+v, %v, %v: want a log variance of %v", got, ok, err, .8/20)
	}
	two := twenty
	two.Rules.Components = 2
	firsts := [2]int{}
	for seed := range uint64(64) {
		s := openOther(t, privacy.ReplaceOne, kerneltest.Zeros(20), kerneltest.Quiet(t, seed, &exact), func(s *core.Step) { s.Extra = Agreement{two.Mask(), testDelta} })
		got, ok, err := Stable(s.SubBudget(), "stable", by(kerneltest.Scaled(2), 20), two, testMu)
		if err != nil || !ok || len(got) != 2 || math.Abs(got[0].Mean[0]+got[1].Mean[0]-20) > 1e-6 {
			t.Fatalf("%+v, %v, %v", got, ok, err)
		}
		firsts[int(math.Round(got[0].Mean[0]/20))]++
	}
	if firsts[0] < 10 || firsts[1] < 10 { // each fails with probability 1e-9
		t.Errorf("the first component is the same in %v of 64 runs", firsts)
	}
}

// TestStableThreshold: at H = Pass the test passes with probability at most delta, exactly
// computed, and a threshold lower by one would pass with more.
func TestStableThreshold(t *testing.T) {
	tail := func(x float64) float64 { return math.Erfc(x/math.Sqrt2) / 2 }
	for _, mu := range []float64{1e-3, .05, .1209, .7, 1, 6} {
		for _, delta := range []float64{1e-12, 1e-7, 5e-7, 1e-3, .02, .3} {
			m := float64(twenty.Threshold(mu, delta) - 18)
			if p := tail(mu * (m - .5)); p > delta {
				t.Errorf("mu %v: passes with probability %v, delta %v", mu, p, delta)
			}
			if p := tail(mu * (m - 1.5)); p <= delta {
				t.Errorf("mu %v, delta %v: a threshold lower by one would do", mu, delta)
			}
		}
	}
	if twenty.Threshold(.1209, 5e-7)-18 != 41 { // z = 4.892: 40.46 + .5
		t.Errorf("got %d", twenty.Threshold(.1209, 5e-7)-18)
	}
	if got := twenty.Threshold(1, .999) - 18; got != 1 {
		t.Errorf("delta .999: %d", got)
	}
}

// TestStableTestAudit: how often the test passes on neighbours with H = 20 and 19 certifies at most
// what its mu claims, and more if the noise is half of it; at H = Pass it passes with the
// probability of the doc comment, at most delta, and with more if the threshold is half of it.
func TestStableTestAudit(t *testing.T) {
	const delta = .02
	claim := privacy.EpsilonOfMu(delta, testMu)
	runs := more(4000)
	test := twenty.test(core.Measurement{Sensitivity: 1, Noise: 1, Mu: testMu})
	passing := func(bad int, factor float64) int {
		return passes(t, test, Agreement{Delta: testDelta}, factor, kerneltest.EstimatesAt(20, []float64{kerneltest.Fail, 5, kerneltest.Fail}[:bad]...), runs)
	}
	for _, factor := range []float64{1, .5} {
		a, b := passing(0, factor), passing(1, factor) // the threshold is 21: 18 + ceil(2.05 + .5)
		epsilon := kerneltest.CertifiedBy(t, a, b, runs, delta)
		t.Logf("noise x %v: %d and %d of %d pass: epsilon >= %.3f, claimed %.3f", factor, a, b, runs, epsilon, claim)
		if epsilon > claim != (factor < 1) || epsilon < .2 {
			t.Errorf("noise x %v: certified epsilon %v, claimed %v", factor, epsilon, claim)
		}
	}
	law := math.Erfc(2.5/math.Sqrt2) / 2
	for _, factor := range []float64{1, 2} {
		passed := passing(2, factor)
		low, high := stattest.ProportionBounds(t, passed, runs, 2*stattest.FalseAlarm)
		t.Logf("H = Pass, noise x %v: %d of %d pass, law %.4f", factor, passed, runs, law)
		if factor == 1 && !(low <= law && law <= high && low <= testDelta) || factor == 2 && low <= testDelta {
			t.Errorf("H = Pass, noise x %v: %d of %d pass", factor, passed, runs)
		}
	}
}

// TestStableMaskAudit: the mask on neighbours whose means are as far apart as one block can put
// them, to a fortieth, against what its curve claims; half of its noise is caught.
func TestStableMaskAudit(t *testing.T) {
	const delta, radius = .05, 1.95
	how := Stability{Rules: Rules{Estimates: 200, Components: 1, Columns: 1, Core: 151, Pass: 199, Radius: radius}, Eta: .01}
	claim := how.Mask().Curve().Epsilon(delta)
	runs := more(6000)
	for _, factor := range []float64{1, .5} {
		var above [2]int
		for side, at := range []float64{.999 * radius, -.999 * radius} {
			h := kerneltest.Seeded(t, stattest.Seed(t)+uint64(side))
			h.NoiseFactor = factor
			draw := kerneltest.DrawOf(t, openMasked(t, privacy.ReplaceOne, nil, h), nil)
			frame, means, ok := how.Rules.compare(kerneltest.EstimatesAt(200, at)).Mean()
			if !ok {
				t.Fatal("no mean")
			}
			for range runs {
				c := Masked(frame, means, how.Eta, draw.Normal)[0]
				if moment := c.Weight * (c.Root[0]*c.Root[0] + c.Mean[0]*c.Mean[0]); math.Log(moment) > .015 {
					above[side]++
				}
			}
		}
		epsilon := kerneltest.CertifiedBy(t, above[0], above[1], runs, delta)
		t.Logf("noise x %v: %v of %d above: epsilon >= %.3f, claimed %.3f", factor, above, runs, epsilon, claim)
		if epsilon > claim != (factor < 1) || epsilon < .25*claim {
			t.Errorf("noise x %v: certified epsilon %v, claimed %v", factor, epsilon, claim)
		}
	}
}

// TestMaskedPlans: what a plan cannot hold.
func TestMaskedPlans(t *testing.T) {
	good := maskedPlan().Steps[0]
	for _, c := range []struct {
		want   string
		change func(*core.Step, *Agreement)
	}{
		{`step "stable"`, func(_ *core.Step, e *Agreement) { e.Mask = privacy.CovarianceMask{} }},
		{"delta in (0, 1)", func(_ *core.Step, e *Agreement) { e.Delta = 1 }},
		{"delta in (0, 1)", func(_ *core.Step, e *Agreement) { e.Delta = math.NaN() }},
		{"delta in (0, 1)", func(_ *core.Step, e *Agreement) { e.Delta = -1e-9 }},
		{"want one measurement", func(s *core.Step, _ *Agreement) { s.Most = 2 }},
	} {
		step, extra := good, good.Extra.(Agreement)
		c.change(&step, &extra)
		step.Extra = extra
		if err := (core.Plan{Method: "m", Steps: []core.Step{step}}).Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("want an error with %q, got %v", c.want, err)
		}
	}
	if err := maskedPlan().Validate(); err != nil {
		t.Error(err)
	}
}

// TestMaskedRefuses: what cannot be asked, before anything is spent.
func TestMaskedRefuses(t *testing.T) {
	s := openMasked(t, privacy.AddRemoveOne, kerneltest.Zeros(40), kerneltest.Seeded(t, 1))
	blocks := by(kerneltest.Scaled(1), 20)
	with := func(change func(*Stability)) Stability { h := twenty; change(&h); return h }
	in := func(change func(*Blocks)) Blocks { b := blocks; change(&b); return b }
	for _, c := range []struct {
		want string
		step string
		b    Blocks
		how  Stability
		mu   float64
	}{
		{"Core", "stable", blocks, with(func(h *Stability) { h.Rules.Core = 10 }), 1},
		{"a mask that covers", "stable", blocks, with(func(h *Stability) { h.Rules.Radius = 1.1 }), 1},
		{"a mask that covers", "stable", blocks, with(func(h *Stability) { h.Eta = .29 }), 1},
		{"Eta: wanted a number", "stable", blocks, with(func(h *Stability) { h.Eta = math.NaN() }), 1},
		{"Eta: wanted a number", "stable", blocks, with(func(h *Stability) { h.Eta = math.Inf(1) }), 1},
		{"Eta: wanted a number", "stable", blocks, with(func(h *Stability) { h.Eta = 1e7 }), 1},
		{"20 blocks of 1 components of 2 columns", "stable", blocks, with(func(h *Stability) { h.Rules.Columns = 2 }), 1},
		{"20 blocks of 2 components", "stable", blocks, with(func(h *Stability) { h.Rules.Components = 2 }), 1},
		{"got 21 of 1 of 1, 3 long", "stable", in(func(b *Blocks) { b.Count = 21 }), twenty, 1},
		{"got 20 of 1 of 1, 2 long", "stable", by(kerneltest.Own{K: 1, Width: 2, Make: nil}, 20), twenty, 1},
		{"either Learner or OfTerms", "stable", in(func(b *Blocks) { b.OfTerms = 0 }), twenty, 1},
		{"want a struct of numbers", "stable", in(func(b *Blocks) { b.OfTerms, b.Learner = 0, kerneltest.Scaled(1) }), twenty, 1},
		{"a positive mu", "stable", blocks, twenty, math.NaN()},
		{"the budget is exhausted", "stable", blocks, twenty, 0},
		{"would exceed its plan", "stable", blocks, twenty, 1e3},
		{"too small to draw", "stable", blocks, twenty, 1e-300},
		{"not in the plan", "else", blocks, twenty, 1},
		{`may ask "count"`, "count", blocks, twenty, 1},
		{`may ask "of blocks: popular estimate"`, "popular", blocks, twenty, 1},
	} {
		if _, ok, err := Stable(s.SubBudget(), c.step, c.b, c.how, c.mu); err == nil || !strings.Contains(err.Error(), c.want) || ok {
			t.Errorf("want an error with %q, got %v", c.want, err)
		}
	}
	for _, extra := range []core.Extra{Agreement{privacy.CovarianceMask{Dimension: 3, Gamma: .3, Eta: .3}, testDelta}, foreign{Agreement{twenty.Mask(), testDelta}}, nil} {
		s := openOther(t, privacy.AddRemoveOne, kerneltest.Zeros(40), kerneltest.Seeded(t, 1), func(s *core.Step) { s.Extra = extra })
		if _, _, err := Stable(s.SubBudget(), "stable", blocks, twenty, 1); err == nil || !strings.Contains(err.Error(), "a mask that covers") {
			t.Errorf("a plan with %+v: %v", extra, err)
		}
	}
	if s.Loss().Mu != 0 || len(s.Measurements()) != 0 {
		t.Error("refusals cost something")
	}
	if _, _, err := Stable(s.SubBudget(), "stable", blocks, twenty, 1); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Stable(s.SubBudget(), "stable", blocks, twenty, 1); err == nil || !strings.Contains(err.Error(), "would exceed its plan") {
		t.Errorf("a second measurement: %v", err)
	}
	derived, err := Pool(s.SubBudget(), by(kerneltest.Scaled(1), 3))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := Stable(derived, "stable", blocks, twenty, 1); err == nil || !strings.Contains(err.Error(), "block estimates") {
		t.Errorf("of block estimates: %v", err)
	}
}

// TestMaskedReplay: what was recorded is what a run on a neighbour sees, and the same seed draws
// the same mask.
func TestMaskedReplay(t *testing.T) {
	run := func(values []float64, h *core.TestHook) (out []Component, ok bool) {
		s := openMasked(t, privacy.ReplaceOne, values, h)
		out, ok, err := Stable(s.SubBudget(), "stable", by(kerneltest.Scaled(1), 20), twenty, 8e-1)
		if err != nil {
			t.Fatal(err)
		}
		return out, ok
	}
	find := func(want bool) uint64 {
		for seed := uint64(0); ; seed++ {
			if _, ok := run(kerneltest.Zeros(20), kerneltest.Seeded(t, seed)); ok == want {
				return seed
			}
		}
	}
	for _, passes := range []bool{true, false} {
		seed := find(passes)
		var answers [][]float64
		h := kerneltest.Seeded(t, seed)
		h.Record = func(_ string, _ any, _ float64, answer []float64, _ []int64) { answers = append(answers, answer) }
		first, _ := run(kerneltest.Zeros(20), h)
		again, _ := run(kerneltest.Zeros(20), kerneltest.Seeded(t, seed))
		if !reflect.DeepEqual(first, again) {
			t.Errorf("one seed, two outcomes: %v and %v", first, again)
		}
		for _, other := range [][]float64{kerneltest.Zeros(20, 3), kerneltest.Zeros(20, kerneltest.Fail, kerneltest.Fail, kerneltest.Fail, kerneltest.Fail, kerneltest.Fail)} {
			h := kerneltest.Seeded(t, 99)
			left := answers
			h.Replay = func() (answer []float64, ok bool) { answer, left = left[0], left[1:]; return answer, true }
			if replayed, ok := run(other, h); ok != passes || !reflect.DeepEqual(first, replayed) {
				t.Errorf("recorded %v, replayed %v", first, replayed)
			}
		}
	}
}
