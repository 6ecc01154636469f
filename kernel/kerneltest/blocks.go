package kerneltest

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/internal/agree"
	"github.com/gauze-dp/gauze/kernel/internal/core"
	"github.com/gauze-dp/gauze/kernel/internal/noise"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// Fail is the value of a row that makes its block's learner fail.
const Fail = 1e9

// Scaled returns a learner of mixtures of k components of one column: component c of a block is
// N(20 c, e^v), v being the block's value of largest magnitude, 0 for no rows. In the lifted
// geometry k = 1 is a point at v of a line.
func Scaled(k int) core.Learner {
	return Own{k, 3, func(rows [][]float64, _ uint64) (out [][]float64, _ error) {
		v := 0.0
		for _, r := range rows {
			if math.Abs(r[0]) > math.Abs(v) {
				v = r[0]
			}
		}
		if v == Fail {
			return nil, errors.New("nothing learned")
		}
		for c := range k {
			out = append(out, []float64{1 / float64(k), 20 * float64(c), math.Exp(v / 2)})
		}
		return out, nil
	}}
}

// Own is a learner that a test brings.
type Own struct {
	K, Width int
	Make     func(rows [][]float64, seed uint64) ([][]float64, error)
}

func (l Own) Estimates() int      { return l.K }
func (l Own) Coordinates(int) int { return l.Width }
func (l Own) Learn(rows [][]float64, seed uint64) ([][]float64, error) {
	return l.Make(rows, seed)
}

// Zeros returns n values: the others, then zeros.
func Zeros(n int, others ...float64) []float64 {
	return append(others, make([]float64, n-len(others))...)
}

// Quiet returns a hook for a session without noise that appends the exact sums to into.
func Quiet(tb testing.TB, seed uint64, into *[][]int64) *core.TestHook {
	tb.Helper()
	forTests()
	h := Seeded(tb, seed)
	h.NoiseFactor = 0
	h.Record = func(_ string, _ any, _ float64, _ []float64, exact []int64) { *into = append(*into, exact) }
	return h
}

// EstimatesAt returns the estimates of t blocks: the first at others, the rest at 0.
func EstimatesAt(t int, others ...float64) (out [][]agree.Component) {
	for _, v := range Zeros(t, others...) {
		if v == Fail {
			out = append(out, nil)
			continue
		}
		out = append(out, []agree.Component{{Weight: 1, Mean: []float64{0}, Root: []float64{math.Exp(v / 2)}}})
	}
	return out
}

// DrawOf returns a draw of the session for a step of a plan with that extra loss.
func DrawOf(t *testing.T, s *core.Session, extra core.Extra) (draw *core.Draw) {
	t.Helper()
	forTests()
	if err := core.Secretly(s.SubBudget(), func(d *core.Draw) error { draw = d; return nil }); err != nil {
		t.Fatal(err)
	}
	draw.Step.Extra = extra
	return draw
}

// A Run makes a test of agreement. It returns whether it passes, its statistic, and a function that
// makes the estimate.
type Run func(d *core.Draw, estimates [][]agree.Component) (bool, int64, func() []agree.Component)

// Passes returns how often a test passes on the same estimates, in the given number of runs.
func Passes(t *testing.T, plan core.Plan, test Run, extra core.Extra, factor float64, estimates [][]agree.Component, runs int) (passed int) {
	t.Helper()
	forTests()
	h := Seeded(t, stattest.Seed(t)+uint64(runs))
	h.NoiseFactor = factor
	draw := DrawOf(t, OpenColumn(t, privacy.ReplaceOne, nil, h, plan), extra)
	for range runs {
		if ok, _, _ := test(draw, estimates); ok {
			passed++
		}
	}
	return passed
}

// CertifiedBy returns a lower bound on the epsilon of two mechanisms, given delta. An outcome was
// counted a times for one and b times for the other, in that many runs of each; the bound uses the
// outcome and its complement, in either direction.
func CertifiedBy(t *testing.T, a, b, runs int, delta float64) float64 {
	t.Helper()
	lowA, highA := stattest.ProportionBounds(t, a, runs, 2*stattest.FalseAlarm)
	lowB, highB := stattest.ProportionBounds(t, b, runs, 2*stattest.FalseAlarm)
	best := 0.0
	for _, c := range [][2]float64{{lowA, highB}, {lowB, highA}, {1 - highA, 1 - lowB}, {1 - highB, 1 - lowA}} {
		best = math.Max(best, math.Log(math.Max(0, c[0]-delta)/c[1]))
	}
	return best
}

// OpenColumn opens a session over one column, with a large budget: (20, .9).
func OpenColumn(t testing.TB, r privacy.Relation, values []float64, h *core.TestHook, p core.Plan) *core.Session {
	t.Helper()
	forTests()
	b := core.NewBuilder(1)
	for _, v := range values {
		b.Append([]float64{v})
	}
	s, err := core.Open(context.Background(), core.Hooked(b.Protect(r), h), p, core.Terms{Relation: r, Budget: privacy.Budget{Epsilon: 20, Delta: .9}, Own: Registered})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// known are the learners of the tests' terms, of any type: see Place.
var known []core.Learner

func Registered(place int) core.Learner { return known[place-1] }

// Place adds a learner to those of the terms and returns the number to ask for it by.
func Place(l core.Learner) int {
	known = append(known, l)
	return len(known)
}

// Seeded returns a hook for the noise of a seed.
func Seeded(tb testing.TB, seed uint64) *core.TestHook {
	tb.Helper()
	forTests()
	h := core.NewTestHook()
	h.Source = noise.NewSeeded(seed)
	return h
}
