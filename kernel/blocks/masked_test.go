package blocks

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/blocks/mask"
	"github.com/gauze-dp/gauze/kernel/blocks/stable"
	"github.com/gauze-dp/gauze/kernel/internal/core"
	"github.com/gauze-dp/gauze/kernel/internal/hook"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// The tests of this file make fewer than 40 statistical decisions at stattest.FalseAlarm = 1e-9
// each.

// fail is the value of a row whose block learns nothing.
const fail = 1e9

// scaled is a learner of mixtures of k components of one column: component c of a block is N(20 c,
// e^v), v being the block's value of largest magnitude, 0 for no rows. In the lifted geometry k = 1
// is a point at v of a line.
func scaled(k int) core.Learner {
	return own{k, 3, func(rows [][]float64, _ uint64) (out [][]float64, _ error) {
		v := 0.0
		for _, r := range rows {
			if math.Abs(r[0]) > math.Abs(v) {
				v = r[0]
			}
		}
		if v == fail {
			return nil, errors.New("nothing learned")
		}
		for c := range k {
			out = append(out, []float64{1 / float64(k), 20 * float64(c), math.Exp(v / 2)})
		}
		return out, nil
	}}
}

// own is a learner of somebody's own.
type own struct {
	k, width int
	learn    func(rows [][]float64, seed uint64) ([][]float64, error)
}

func (l own) Estimates() int      { return l.k }
func (l own) Coordinates(int) int { return l.width }
func (l own) Learn(rows [][]float64, seed uint64) ([][]float64, error) {
	return l.learn(rows, seed)
}

var (
	twenty    = Stability{Rules: stable.Rules{Estimates: 20, Components: 1, Columns: 1, Core: 16, Pass: 18, Radius: 1}, Eta: .3}
	fortyMask = mask.Parameters{Components: 1, Dimension: 1, Gamma: .3, EtaWeight: .3, EtaMean: .3, EtaCov: .3}
)

const testMu, testDelta, testPure = 1., .02, 1.

func maskedPlan() core.Plan {
	return core.Plan{Method: "masked", Steps: []core.Step{
		{Name: "stable", Query: StableKind, Share: .5, Most: 1, Extra: Agreement{twenty.Mask(), testDelta}, Source: "PPE Section B3"},
		{Name: "popular", Query: PopularKind, Share: 1e-9, Most: 1, Extra: Closeness{fortyMask, testDelta, testPure}, Source: "PPE Section A2"},
		{Name: "count", Query: "count", Share: 1, Most: 9},
	}}
}

// openMasked opens a session over one column, with much to spend: (20, .9).
func openMasked(t testing.TB, r privacy.Relation, values []float64, h *hook.Hook) *core.Session {
	t.Helper()
	return openPlan(t, r, values, h, maskedPlan())
}

// openOther is openMasked with a step for Stable that is another.
func openOther(t testing.TB, r privacy.Relation, values []float64, h *hook.Hook, change func(*core.Step)) *core.Session {
	t.Helper()
	p := maskedPlan()
	change(&p.Steps[0])
	return openPlan(t, r, values, h, p)
}

func openPlan(t testing.TB, r privacy.Relation, values []float64, h *hook.Hook, p core.Plan) *core.Session {
	t.Helper()
	b := core.NewBuilder(1)
	for _, v := range values {
		b.Append([]float64{v})
	}
	s, err := core.OpenForTest(context.Background(), b.Protect(r), p, core.Terms{Relation: r, Budget: privacy.Budget{Epsilon: 20, Delta: .9}, Own: registered}, h)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// zeros are n values, the first of them others.
func zeros(n int, others ...float64) []float64 {
	return append(others, make([]float64, n-len(others))...)
}

// quiet is a hook for a session without noise, which appends the exact sums to into.
func quiet(seed uint64, into *[][]int64) *hook.Hook {
	h := seeded(seed)
	h.NoiseFactor = 0
	h.Record = func(_ string, _ any, _ float64, _ []float64, exact []int64) { *into = append(*into, exact) }
	return h
}

// TestStableDecidesByH: without noise H >= Pass decides, H being the blocks that agree, whatever
// the others are; what is released is their mean. One row, one block.
func TestStableDecidesByH(t *testing.T) {
	for _, r := range both {
		for bad := range 6 {
			others := []float64{fail, 5, fail, -7, math.NaN(), 1e300}[:bad]
			if bad > 4 { // a null row is no row: its block has none, and is as good as the others
				others = append([]float64{fail, 5, fail, -7, fail}, math.NaN())[:bad]
			}
			var exact [][]int64
			s := openMasked(t, r, zeros(20, others...), quiet(uint64(bad), &exact))
			blocks := by(scaled(1), 20)
			// several rows may share a block: at most bad blocks are bad
			if r == privacy.AddRemoveOne {
				blocks.Seed = 1
			}
			got, ok, err := Stable(s.Allotment(), "stable", blocks, twenty, testMu)
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
	s := openMasked(t, privacy.ReplaceOne, zeros(20, .8), quiet(1, &exact))
	got, ok, err := Stable(s.Allotment(), "stable", by(scaled(1), 20), twenty, testMu)
	if err != nil || !ok || math.Abs(2*math.Log(math.Abs(got[0].Root[0]))-.8/20) > 1e-7 {
		t.Errorf("%+v, %v, %v: want a log variance of %v", got, ok, err, .8/20)
	}
	two := twenty
	two.Rules.Components = 2
	firsts := [2]int{}
	for seed := range uint64(64) {
		s := openOther(t, privacy.ReplaceOne, zeros(20), quiet(seed, &exact), func(s *core.Step) { s.Extra = Agreement{two.Mask(), testDelta} })
		got, ok, err := Stable(s.Allotment(), "stable", by(scaled(2), 20), two, testMu)
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

// estimatesAt are the estimates of t blocks at 0 but for the first ones.
func estimatesAt(t int, others ...float64) (out [][]stable.Component) {
	for _, v := range zeros(t, others...) {
		if v == fail {
			out = append(out, nil)
			continue
		}
		out = append(out, []stable.Component{{Weight: 1, Mean: []float64{0}, Root: []float64{math.Exp(v / 2)}}})
	}
	return out
}

// more is ten times as many runs for a long test.
func more(few int) int {
	if os.Getenv("GAUZE_LONG") != "" {
		return 10 * few
	}
	return few
}

// drawOf is a draw of the session for a step of a plan with that extra loss.
func drawOf(t *testing.T, s *core.Session, extra core.Extra) (draw *core.Draw) {
	t.Helper()
	if err := core.Secretly(s.Allotment(), func(d *core.Draw) error { draw = d; return nil }); err != nil {
		t.Fatal(err)
	}
	draw.Step.Extra = extra
	return draw
}

// passes is how often a test passes on the same estimates, in so many runs.
func passes(t *testing.T, test agreementTest, extra core.Extra, factor float64, estimates [][]stable.Component, runs int) (passed int) {
	t.Helper()
	h := seeded(stattest.Seed(t) + uint64(runs))
	h.NoiseFactor = factor
	draw := drawOf(t, openMasked(t, privacy.ReplaceOne, nil, h), extra)
	for range runs {
		if ok, _, _ := test.run(draw, estimates); ok {
			passed++
		}
	}
	return passed
}

// certifiedBy is a lower bound on the epsilon of two mechanisms of which the outcomes counted had a
// and b in so many runs, given delta: of either outcome and in either direction.
func certifiedBy(t *testing.T, a, b, runs int, delta float64) float64 {
	t.Helper()
	lowA, highA := stattest.ProportionBounds(t, a, runs, 2*stattest.FalseAlarm)
	lowB, highB := stattest.ProportionBounds(t, b, runs, 2*stattest.FalseAlarm)
	best := 0.0
	for _, c := range [][2]float64{{lowA, highB}, {lowB, highA}, {1 - highA, 1 - lowB}, {1 - highB, 1 - lowA}} {
		best = math.Max(best, math.Log(math.Max(0, c[0]-delta)/c[1]))
	}
	return best
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
		return passes(t, test, Agreement{Delta: testDelta}, factor, estimatesAt(20, []float64{fail, 5, fail}[:bad]...), runs)
	}
	for _, factor := range []float64{1, .5} {
		a, b := passing(0, factor), passing(1, factor) // the threshold is 21: 18 + ceil(2.05 + .5)
		epsilon := certifiedBy(t, a, b, runs, delta)
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
	how := Stability{Rules: stable.Rules{Estimates: 200, Components: 1, Columns: 1, Core: 151, Pass: 199, Radius: radius}, Eta: .01}
	claim := how.Mask().Curve().Epsilon(delta)
	runs := more(6000)
	for _, factor := range []float64{1, .5} {
		var above [2]int
		for side, at := range []float64{.999 * radius, -.999 * radius} {
			h := seeded(stattest.Seed(t) + uint64(side))
			h.NoiseFactor = factor
			draw := drawOf(t, openMasked(t, privacy.ReplaceOne, nil, h), nil)
			frame, means, ok := how.Rules.Compare(estimatesAt(200, at)).Mean()
			if !ok {
				t.Fatal("no mean")
			}
			for range runs {
				c := stable.Masked(frame, means, how.Eta, draw.Normal)[0]
				if moment := c.Weight * (c.Root[0]*c.Root[0] + c.Mean[0]*c.Mean[0]); math.Log(moment) > .015 {
					above[side]++
				}
			}
		}
		epsilon := certifiedBy(t, above[0], above[1], runs, delta)
		t.Logf("noise x %v: %v of %d above: epsilon >= %.3f, claimed %.3f", factor, above, runs, epsilon, claim)
		if epsilon > claim != (factor < 1) || epsilon < .25*claim {
			t.Errorf("noise x %v: certified epsilon %v, claimed %v", factor, epsilon, claim)
		}
	}
}

// TestMaskedCertificate: two lines each, with the numbers that the loss follows from, whether the
// test passes or not.
func TestMaskedCertificate(t *testing.T) {
	const want = `{Step:stable Query:of blocks: stable mean Count:1 Law: Sensitivity:1 Noise:1 Mu:1 Delta:0.020000000000000004 Mask:<nil> Source:PPE Section B3}
{Step:stable Query:of blocks: stable mean Count:1 Law:masked Sensitivity:0.22222 Noise:0.3 Mu:0 Delta:0 Mask:{Dimension:2 Gamma:0.22222 Eta:0.3} Source:PPE Section B3}
{Step:popular Query:of blocks: popular estimate Count:1 Law:popularity test Sensitivity:78 Noise:78.00000000000001 Mu:0 Delta:0.020000000000000004 Mask:<nil> Source:PPE Section A2}
{Step:popular Query:of blocks: popular estimate Count:1 Law:masked Sensitivity:0.3 Noise:0.3 Mu:0 Delta:0 Mask:{Components:1 Dimension:1 Gamma:0.3 EtaWeight:0.3 EtaMean:0.3 EtaCov:0.3} Source:PPE Section A2}
`
	gamma := fmt.Sprint(twenty.Rules.Gamma())
	for _, values := range [][]float64{zeros(40), zeros(40, fail, fail, fail, fail, fail, fail, fail, fail, fail)} {
		s := openOther(t, privacy.ReplaceOne, values, seeded(3), func(s *core.Step) { s.Share = 1 })
		stable := twenty
		_, first, err := Stable(s.Allotment(), "stable", by(scaled(1), 20), stable, testMu)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = Popular(s.Allotment(), "popular", by(scaled(1), 40), Popularity{fortyMask}, testPure)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, m := range s.Measurements() {
			got += fmt.Sprintf("%+v\n", m)
		}
		if text := strings.ReplaceAll(want, "0.22222", gamma); got != text {
			t.Errorf("passed: %v; got\n%swant\n%s", first, got, text)
		}
		loss := s.Loss()
		if loss.Mu != testMu || loss.Rho != 0 || !(loss.Epsilon > 0) || loss.Delta != .9 {
			t.Errorf("loss %+v", loss)
		}
	}
}

// TestMaskedCalibration: the plan's curves, deltas and mu^2 together are the budget, to 1e-6.
func TestMaskedCalibration(t *testing.T) {
	b := privacy.Budget{Epsilon: 4, Delta: 1e-5}
	lifted := Agreement{mask.Lifted{Dimension: 3, Gamma: .03, Eta: .25}, 2e-6}
	parameters := Closeness{mask.Parameters{Components: 2, Dimension: 2, Gamma: .02, EtaWeight: .3, EtaMean: .3, EtaCov: .3}, 1e-6, .1}
	plan := core.Plan{Method: "masked", Steps: []core.Step{
		{Name: "stable", Query: StableKind, Share: .3, Most: 1, Extra: lifted},
		{Name: "other", Query: PopularKind, Share: .1, Most: 1, Extra: parameters},
		{Name: "count", Query: "count", Share: 1, Most: 1},
		{Name: "cells", Query: "boxes", Share: 1, Most: 1, Slack: 1},
	}}
	c, err := core.Calibrate(plan, privacy.ReplaceOne, b)
	if err != nil {
		t.Fatal(err)
	}
	whole := lifted.Mask.Curve().Compose(parameters.Mask.Curve(), privacy.PureCurve(.1), privacy.GaussianCurve(math.Sqrt(c.Mu2)))
	epsilon := whole.Epsilon(b.Delta - 3e-6 - privacy.ThresholdShare*b.Delta)
	if math.Abs(epsilon-b.Epsilon) > 1e-6 || c.Needs.AddedDelta < 3e-6 || c.Needs.AddedDelta > 3e-6*(1+1e-12) {
		t.Errorf("epsilon of the plan is %v, deltas %v", epsilon, c.Needs.AddedDelta)
	}
	if l := c.Loss(c.Mu2, c.ThresholdDelta); math.Abs(l.Epsilon-b.Epsilon) > 1e-6 || l.Rho != 0 {
		t.Errorf("loss %+v", l)
	}
	if inner := (core.Plan{Steps: plan.Scaled(.5)}); inner.Steps[0].Extra != lifted || inner.Steps[1].Extra != parameters || inner.Steps[0].Share != .15 {
		t.Errorf("scaled: %+v", inner.Steps)
	}
	var field *privacy.FieldError
	if _, err := core.Calibrate(plan, privacy.ReplaceOne, privacy.Budget{Rho: 1}); !errors.As(err, &field) || field.Field != "rho" {
		t.Errorf("a zCDP budget: %v", err)
	}
	if _, err := core.Calibrate(plan, privacy.ReplaceOne, privacy.Budget{Epsilon: .05, Delta: 1e-5}); !errors.As(err, &field) || field.Field != "epsilon" {
		t.Errorf("a budget that the masks exceed: %v", err)
	}
	// the precision of masks
	for epsilon, least := range map[float64]float64{1: (1 + math.E) * stable.MaskSlack, 40: math.Exp(40) * stable.MaskSlack} {
		if _, got := (Agreement{Mask: lifted.Mask}).Loss(epsilon); got < least || got > least*(1+1e-9) {
			t.Errorf("epsilon %v: a mask adds %v to delta, want %v", epsilon, got, least)
		}
	}
	if _, err := core.Calibrate(plan, privacy.ReplaceOne, privacy.Budget{Epsilon: 100, Delta: 1e-5}); !errors.As(err, &field) || field.Field != "added delta" {
		t.Errorf("an epsilon that the precision of masks does not serve: %v", err)
	}
	if _, err := core.Calibrate(plan, privacy.ReplaceOne, privacy.Budget{Epsilon: 4, Delta: 3e-6}); !errors.As(err, &field) || field.Field != "added delta" {
		t.Errorf("a budget that the deltas exceed: %v", err)
	}
}

// TestMaskedPlans: what a plan cannot hold.
func TestMaskedPlans(t *testing.T) {
	good := maskedPlan().Steps[0]
	for _, c := range []struct {
		want   string
		change func(*core.Step, *Agreement)
	}{
		{`step "stable"`, func(_ *core.Step, e *Agreement) { e.Mask = mask.Lifted{} }},
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
	for _, pure := range []float64{0, -1, math.Inf(1), math.NaN()} {
		if err := (Closeness{fortyMask, testDelta, pure}).Validate(); err == nil || !strings.Contains(err.Error(), "a pure loss in") {
			t.Errorf("a pure loss of %v: %v", pure, err)
		}
	}
	if err := maskedPlan().Validate(); err != nil {
		t.Error(err)
	}
}

// TestMaskedRefuses: what cannot be asked, before anything is spent.
func TestMaskedRefuses(t *testing.T) {
	s := openMasked(t, privacy.AddRemoveOne, zeros(40), seeded(1))
	blocks := by(scaled(1), 20)
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
		{"got 20 of 1 of 1, 2 long", "stable", by(own{1, 2, nil}, 20), twenty, 1},
		{"either Learner or OfTerms", "stable", in(func(b *Blocks) { b.OfTerms = 0 }), twenty, 1},
		{"want a struct of numbers", "stable", in(func(b *Blocks) { b.OfTerms, b.Learner = 0, scaled(1) }), twenty, 1},
		{"a positive mu", "stable", blocks, twenty, math.NaN()},
		{"the budget is exhausted", "stable", blocks, twenty, 0},
		{"would exceed its plan", "stable", blocks, twenty, 1e3},
		{"too small to draw", "stable", blocks, twenty, 1e-300},
		{"not in the plan", "else", blocks, twenty, 1},
		{`may ask "count"`, "count", blocks, twenty, 1},
		{`may ask "of blocks: popular estimate"`, "popular", blocks, twenty, 1},
	} {
		if _, ok, err := Stable(s.Allotment(), c.step, c.b, c.how, c.mu); err == nil || !strings.Contains(err.Error(), c.want) || ok {
			t.Errorf("want an error with %q, got %v", c.want, err)
		}
	}
	for _, extra := range []core.Extra{Agreement{mask.Lifted{Dimension: 3, Gamma: .3, Eta: .3}, testDelta}, Closeness{fortyMask, testDelta, testPure}, nil} {
		s := openOther(t, privacy.AddRemoveOne, zeros(40), seeded(1), func(s *core.Step) { s.Extra = extra })
		if _, _, err := Stable(s.Allotment(), "stable", blocks, twenty, 1); err == nil || !strings.Contains(err.Error(), "a mask that covers") {
			t.Errorf("a plan with %+v: %v", extra, err)
		}
	}
	other := fortyMask
	other.EtaMean = .31
	for _, c := range []struct {
		want    string
		count   int
		m       mask.Parameters
		epsilon float64
	}{
		{"want 5 to", 4, fortyMask, 1},
		{"a pure loss of 1.5", 40, fortyMask, 1.5},
		{"a mask that covers", 40, other, 1},
		{"want an epsilon", 40, fortyMask, math.NaN()},
		{"want an epsilon of at least", 40, fortyMask, 1e-6},
		{"step \"popular\"", 40, mask.Parameters{}, 1},
	} {
		if _, ok, err := Popular(s.Allotment(), "popular", by(scaled(1), c.count), Popularity{c.m}, c.epsilon); err == nil || !strings.Contains(err.Error(), c.want) || ok {
			t.Errorf("want an error with %q, got %v", c.want, err)
		}
	}
	if s.Loss().Mu != 0 || len(s.Measurements()) != 0 {
		t.Error("refusals cost something")
	}
	if _, _, err := Stable(s.Allotment(), "stable", blocks, twenty, 1); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Stable(s.Allotment(), "stable", blocks, twenty, 1); err == nil || !strings.Contains(err.Error(), "would exceed its plan") {
		t.Errorf("a second measurement: %v", err)
	}
	derived, err := Cut(s.Allotment(), by(scaled(1), 3))
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
	run := func(values []float64, h *hook.Hook) (out []stable.Component, ok bool) {
		s := openMasked(t, privacy.ReplaceOne, values, h)
		out, ok, err := Stable(s.Allotment(), "stable", by(scaled(1), 20), twenty, 8e-1)
		if err != nil {
			t.Fatal(err)
		}
		return out, ok
	}
	find := func(want bool) uint64 {
		for seed := uint64(0); ; seed++ {
			if _, ok := run(zeros(20), seeded(seed)); ok == want {
				return seed
			}
		}
	}
	for _, passes := range []bool{true, false} {
		seed := find(passes)
		var answers [][]float64
		h := seeded(seed)
		h.Record = func(_ string, _ any, _ float64, answer []float64, _ []int64) { answers = append(answers, answer) }
		first, _ := run(zeros(20), h)
		again, _ := run(zeros(20), seeded(seed))
		if !reflect.DeepEqual(first, again) {
			t.Errorf("one seed, two outcomes: %v and %v", first, again)
		}
		for _, other := range [][]float64{zeros(20, 3), zeros(20, fail, fail, fail, fail, fail)} {
			h := seeded(99)
			h.Replay = func(i int) ([]float64, bool) { return answers[i], true }
			if replayed, ok := run(other, h); ok != passes || !reflect.DeepEqual(first, replayed) {
				t.Errorf("recorded %v, replayed %v", first, replayed)
			}
		}
	}
}

// TestMaskedToldTheSame: what a program is told, but for the outcomes, is the same for tables as
// different as can be, and nothing that a learner returns makes it panic.
func TestMaskedToldTheSame(t *testing.T) {
	raw := own{1, 3, func(rows [][]float64, _ uint64) ([][]float64, error) {
		e := []float64{1, 0, 1}
		for i := range rows {
			e[i%3] = rows[i][0]
		}
		return [][]float64{e}, nil
	}}
	tables := [][]float64{nil, zeros(100), zeros(20, 1e300, -1e300, 5e-324, 1e-170, 1e170, -1), zeros(9, math.NaN(), math.Inf(1)), {1e154, 1e-154, 1, 1, 1}}
	for _, r := range both {
		want := ""
		for i, values := range tables {
			for _, l := range []core.Learner{scaled(1), raw} {
				s := openMasked(t, r, values, seeded(uint64(i)))
				b := by(l, 20)
				_, _, err := Stable(s.Allotment(), "stable", b, twenty, .5)
				_, _, again := Stable(s.Allotment(), "stable", b, twenty, .5)
				b.Count = 40
				_, _, popular := Popular(s.Allotment(), "popular", b, Popularity{fortyMask}, .7)
				got := fmt.Sprint(err, again, popular, s.Loss(), s.Measurements(), s.Allotment().Left())
				if want == "" {
					want = got
				}
				if got != want || err != nil || popular != nil {
					t.Fatalf("%v, table %d: %q, with no rows %q", r, i, got, want)
				}
			}
		}
	}
}
