package blackbox

import (
	"flag"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/estimate/learners"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/blocks"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

var update = flag.Bool("update", false, "rewrite the plans in testdata")

// TestPlanGolden: the plans of typical problems, as text, and what is expected of them; review a
// change as a diff.
func TestPlanGolden(t *testing.T) {
	var b strings.Builder
	for _, rel := range relations {
		for _, eps := range []float64{1, 4} {
			for _, k := range []int{1, 2, 5} {
				for _, d := range []int{1, 2, 5} {
					p := problem(rel, k, d, 10000*k*d, eps)
					plan, ok := estimatetest.WritePlan(t, &b, fmt.Sprintf("%v, epsilon %g, k = %d", rel, eps, k), New(), p)
					if !ok {
						continue
					}
					extra, x := plan.Steps[1].Extra.(blocks.Agreement), New().Expect(p)
					fmt.Fprintf(&b, "%vmask: gamma %.3g, eta %.3g; test: delta %.3g\nneeds %.2g rows; %s\n\n", estimatetest.Plan(plan), extra.Mask.Gamma, extra.Mask.Eta, extra.Delta,
						x.RowsNeeded, strings.Join(x.Notes, ";\n  "))
				}
			}
		}
	}
	for _, p := range []estimate.Problem{problem(privacy.ReplaceOne, 2, 2, 700, 1), problem(privacy.ReplaceOne, 0, 2, 40000, 1),
		problem(privacy.AddRemoveOne, 2, 2, 0, 1e-4)} {
		estimatetest.WritePlan(t, &b, "refused", New(), p)
	}
	estimatetest.Golden(t, "testdata/plans.txt", b.String(), *update)
}

// advised is the number of rows that an advice names.
var advised = regexp.MustCompile(`needs about (\d+) rows`)

// TestRefusals: what is hopeless or ill-posed on public facts is refused, and doing what the advice
// says fixes it.
func TestRefusals(t *testing.T) {
	for _, rel := range relations {
		p := problem(rel, 2, 2, 40000, 1)
		p.NoDelta, p.Budget, p.Mu = true, privacy.Budget{Rho: .02}, privacy.MuOfRho(.02)
		if r := refusal(t, p); !strings.Contains(r.Advice, "epsilon and delta instead of rho") {
			t.Errorf("zCDP, %v: %+v", rel, r)
		}
		if r := refusal(t, problem(rel, 0, 2, 40000, 1)); !strings.Contains(r.Advice, "--components K") {
			t.Errorf("no number of components, %v: %+v", rel, r)
		}
		if r := refusal(t, problem(rel, 2, 2, 40000, 1e-5)); !strings.Contains(r.Advice, "raise epsilon or delta") || !strings.Contains(r.Reason, "mask") {
			t.Errorf("epsilon 1e-5, %v: %+v", rel, r)
		}
		if r := refusal(t, problem(rel, 2, 2, 40000, .02)); !strings.Contains(r.Advice, "raise epsilon or delta") || !strings.Contains(r.Reason, "test") {
			t.Errorf("epsilon .02, %v: %+v", rel, r)
		}
		p = problem(rel, 0, 2, 40000, 1)
		if p.MaxComponents = 1; !planned(p) {
			t.Errorf("at most one component, %v: refused", rel)
		}
	}
	for _, eps := range []float64{.1, 1, 4, 20} {
		for _, c := range []struct{ k, d int }{{1, 1}, {1, 5}, {2, 2}, {3, 1}, {5, 5}} {
			p := problem(privacy.ReplaceOne, c.k, c.d, leastBlocks*c.k*c.d, eps)
			r := refusal(t, p)
			n := advised.FindStringSubmatch(r.Advice)
			if n == nil || !strings.Contains(r.Reason, fmt.Sprintf("%d rows", p.Rows)) {
				t.Errorf("epsilon %v, %+v, %d rows: %+v", eps, c, p.Rows, r)
				continue
			}
			if p.Rows, _ = strconv.Atoi(n[1]); !planned(p) {
				t.Errorf("epsilon %v, %+v: %d rows are advised and refused", eps, c, p.Rows)
			}
		}
	}
}

func planned(p estimate.Problem) bool {
	_, err := New().Plan(p)
	return err == nil
}

// TestSizes: what the rules of agreement cannot hold is refused, not found out after something is
// spent; every plan that is made can be calibrated.
func TestSizes(t *testing.T) {
	for _, rel := range relations {
		for _, eps := range []float64{1, 20, 40, 100, 1e4} {
			for _, c := range []struct{ k, d int }{{1, 1}, {2, 20}, {2, 21}, {64, 1}, {65, 1}, {1, 100}} {
				p := problem(rel, c.k, c.d, 1<<30, eps)
				plan, err := New().Plan(p)
				if err != nil {
					refusal(t, p)
					continue
				}
				if _, err := kernel.Calibrate(plan, rel, p.Budget); err != nil {
					t.Errorf("%v, epsilon %v, %+v: a plan that cannot be calibrated: %v", rel, eps, c, err)
				}
				if x := Usual().newCutter(p).cut(1 << 30); x.margin >= hopeless && x.rules.Validate() != nil {
					t.Errorf("%v, epsilon %v, %+v: a plan for rules that cannot be: %v", rel, eps, c, x.rules.Validate())
				}
			}
		}
	}
}

// TestPlanDoesNotKnowRows: under add-or-remove-one a plan is the same whatever Rows says.
func TestPlanDoesNotKnowRows(t *testing.T) {
	for _, k := range []int{1, 2, 5} {
		text := ""
		for _, n := range []int{0, 3, 5000, 1 << 30} {
			p := problem(privacy.AddRemoveOne, k, 3, 0, 1)
			p.Rows = n
			plan, err := New().Plan(p)
			if err != nil {
				t.Fatal(err)
			}
			if text != "" && fmt.Sprintf("%+v", plan) != text {
				t.Errorf("k = %d: the plan for n = %d differs", k, n)
			}
			text = fmt.Sprintf("%+v", plan)
		}
	}
}

// TestCalibration: the Gaussian steps get what gaussianMu2 says, up to what it leaves for the
// precision of the mask, and together with the mask they cost the whole budget.
func TestCalibration(t *testing.T) {
	for _, rel := range relations {
		for _, eps := range []float64{.1, 1, 4, 20} {
			for _, k := range []int{1, 2, 5} {
				for _, d := range []int{1, 5, 15} {
					p := problem(rel, k, d, 1<<30, eps)
					plan, err := New().Plan(p)
					if err != nil {
						t.Fatal(err)
					}
					got, err := kernel.Calibrate(plan, rel, p.Budget)
					if err != nil {
						t.Fatal(err)
					}
					extra := plan.Steps[1].Extra.(blocks.Agreement)
					mask := extra.Mask
					if want := gaussianMu2(p, mask); !(want <= float64(got.Cap)) || want < float64(got.Cap)*(1-1e-6) {
						t.Errorf("%v, epsilon %v, k = %d, d = %d: mu^2 = %v, gaussianMu2 says %v", rel, eps, k, d, got.Cap, want)
					}
					paid := mask.Curve().Compose(privacy.GaussianCurve(got.Mu)).Epsilon(delta - extra.Delta)
					if paid > eps*(1+1e-5) || paid < eps*(1-1e-5) {
						t.Errorf("%v, epsilon %v, k = %d, d = %d: all steps cost epsilon %v", rel, eps, k, d, paid)
					}
				}
			}
		}
	}
}

// eachProblem calls with every k = 1..5 and d = 1..15 (a part of them unless the run is long) and
// epsilons from .1 to 50.
func eachProblem(with func(what string, p estimate.Problem)) {
	for i, eps := range []float64{.1, .3, 1, 2.5, 8, 20, 50} {
		for k := 1; k <= 5; k++ {
			for d := 1; d <= 15; d++ {
				if (i+2*k+d)%19 == 0 || estimatetest.Long() {
					with(fmt.Sprintf("epsilon %v, k = %d, d = %d", eps, k, d), problem(privacy.ReplaceOne, k, d, 1, eps))
				}
			}
		}
	}
}

// TestChoice: whatever the number of rows, what is chosen are rules whose mean moves by no more
// than the mask hides, with a margin that grows with the number of rows. Where it is ample, more
// rows make larger blocks, not more of them.
func TestChoice(t *testing.T) {
	eachProblem(func(what string, p estimate.Problem) {
		mask, last := Usual().maskOf(p), choice{}
		for _, n := range []float64{math.NaN(), math.Inf(-1), -5, 0, 1, 100, 1e3, 3e3, 1e4, 3e4, 1e5, 1e6, 1e7, 1e9, 1e15} {
			c := Usual().newCutter(p).cut(n)
			if c.margin == 0 {
				if last.margin > 0 || n >= 1e9 {
					t.Errorf("%s: no choice for %v rows", what, n)
				}
				continue
			}
			if err := c.rules.Validate(); err != nil || !(c.rules.Gamma() <= mask.Gamma) || c.rules.Components != p.Components || c.rules.Columns != p.Columns {
				t.Errorf("%s, %v rows: %+v, Gamma %v of %v: %v", what, n, c.rules, c.rules.Gamma(), mask.Gamma, err)
			}
			if n/float64(c.rules.Estimates) < Usual().leastRows(p.Components, p.Columns) {
				t.Errorf("%s, %v rows: blocks of %v", what, n, n/float64(c.rules.Estimates))
			}
			if c.margin < last.margin*(1-1e-12) {
				t.Errorf("%s: a margin of %v with %v rows, %v with fewer", what, c.margin, n, last.margin)
			}
			if last.margin >= Usual().Ample && c.rules.Estimates > last.rules.Estimates {
				t.Errorf("%s: %d blocks of %v rows, %d are ample of fewer", what, c.rules.Estimates, n, last.rules.Estimates)
			}
			last = c
		}
	})
}

// TestChoiceAndBudget: a larger epsilon needs fewer blocks and fewer rows; so do fewer components
// and fewer columns.
func TestChoiceAndBudget(t *testing.T) {
	for _, k := range []int{1, 3} {
		for _, d := range []int{1, 4, 15} {
			blocks, rows := math.Inf(1), math.Inf(1)
			for _, eps := range []float64{.1, 1, 20} {
				p := problem(privacy.ReplaceOne, k, d, 1, eps)
				n := Usual().rowsFor(p)
				t := Usual().newCutter(p).cut(n).rules.Estimates
				if float64(t) > blocks || n > rows {
					blocks = math.NaN()
				}
				blocks, rows = min(blocks, float64(t)), n
			}
			if math.IsNaN(blocks) {
				t.Errorf("k = %d, d = %d: a larger epsilon needs more blocks or rows", k, d)
			}
			at := Usual().rowsFor(problem(privacy.ReplaceOne, k, d, 1, 1))
			if more := Usual().rowsFor(problem(privacy.ReplaceOne, k+1, d, 1, 1)); more <= at {
				t.Errorf("d = %d: %v rows for %d components, %v for one more", d, at, k, more)
			}
			if more := Usual().rowsFor(problem(privacy.ReplaceOne, k, d+1, 1, 1)); more <= at {
				t.Errorf("k = %d: %v rows in %d columns, %v in one more", k, at, d, more)
			}
		}
	}
}

// TestRowsFor: so many rows are enough, and with 5 % fewer they are not, or blocks would be too
// small.
func TestRowsFor(t *testing.T) {
	eachProblem(func(what string, p estimate.Problem) {
		n := Usual().rowsFor(p)
		if c := Usual().newCutter(p).cut(n); c.margin < enough {
			t.Errorf("%s: a margin of %v with the %v rows that are needed", what, c.margin, n)
		}
		if c := Usual().newCutter(p).cut(n / 1.05); c.margin >= enough {
			t.Errorf("%s: %v rows are needed, and a margin of %v with fewer", what, n, c.margin)
		}
	})
}

// TestExpect: what a planner is told is finite and says how the table is cut; of what is refused
// nothing is expected.
func TestExpect(t *testing.T) {
	for _, rel := range relations {
		for _, n := range []int{0, 1, 100, 40000, 1 << 40} {
			for _, eps := range []float64{1e-6, 1, 1e4} {
				x := New().Expect(problem(rel, 2, 2, n, eps))
				if !(x.RowsNeeded >= 0) || math.IsInf(x.RowsNeeded, 0) || x.RelativeError != 0 {
					t.Errorf("%v, epsilon %v, %d rows: %+v", rel, eps, n, x)
				}
			}
		}
	}
	p := problem(privacy.ReplaceOne, 2, 2, 40000, 1)
	c, x := Usual().newCutter(p).cut(40000), New().Expect(p)
	want := fmt.Sprintf("%d blocks of about %d rows, of which %d have to agree", c.rules.Estimates, 40000/c.rules.Estimates, c.rules.Pass)
	if len(x.Notes) != 2 || x.Notes[0] != want || !strings.Contains(x.Notes[1], "the closer they are, the more rows") {
		t.Errorf("notes %q, want %q first", x.Notes, want)
	}
	if x := New().Expect(problem(privacy.AddRemoveOne, 2, 2, 0, 1)); len(x.Notes) != 1 || x.RowsNeeded != Usual().rowsFor(p) {
		t.Errorf("a private number of rows: %+v", x)
	}
	if x := New().Expect(problem(privacy.ReplaceOne, 0, 2, 40000, 1)); x.RowsNeeded != 0 || x.Notes != nil {
		t.Errorf("what is refused: %+v", x)
	}
}

// TestLearners: the default is the first of the names, each runs another learner, and only em
// leaves rows out.
func TestLearners(t *testing.T) {
	seen := map[string]bool{}
	for i, l := range append(everyLearner.Learners(), "") {
		p := problem(privacy.ReplaceOne, 2, 2, 40000, 1)
		p.Learner = l
		b := everyLearner.Blocks(p, 2, 99)
		if b.Count != 99 || b.OfTerms != 0 || b.Learner == nil || b.Learner.Estimates() != 2 || b.Learner.Coordinates(2) != 7 {
			t.Errorf("%q: %+v", l, b)
		}
		kind := fmt.Sprintf("%#v", b.Learner)
		if seen[kind] != (l == "") {
			t.Errorf("learner %d, %q, is a %s", i, l, kind)
		}
		seen[kind] = true
		if everyLearner.Trims(l) != (l == learners.EM || l == "") {
			t.Errorf("%q: trims %v", l, everyLearner.Trims(l))
		}
	}
	p := problem(privacy.ReplaceOne, 2, 2, 40000, 1)
	if p.Own = "signs"; everyLearner.Blocks(p, 2, 99).OfTerms != 2 || everyLearner.Blocks(p, 2, 99).Learner != nil {
		t.Errorf("one's own: %+v", everyLearner.Blocks(p, 2, 99))
	}
}

// TestRather: where blocks do not agree on the estimates of a learner that needs more rows than
// others, the advice names those.
func TestRather(t *testing.T) {
	e := Estimator{tuning: Usual(), List: append(learners.Ours(), learners.Learner{Name: "slow", Rather: ", or --learner em"})}
	p := problem(privacy.ReplaceOne, 2, 2, 4_000_000, 1)
	for name, want := range map[string]bool{"": false, learners.EM: false, "slow": true} {
		if p.Learner = name; strings.Contains(e.advice(p), "or --learner em") != want {
			t.Errorf("%q: %s", name, e.advice(p))
		}
	}
	if p.Own = "signs"; strings.Contains(e.advice(p), "--learner") {
		t.Errorf("one's own: %s", e.advice(p))
	}
}
