package separated

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

var update = flag.Bool("update", false, "rewrite the plans in testdata")

// TestPlanGolden: the plans of typical problems, as text; review a change as a diff.
func TestPlanGolden(t *testing.T) {
	var b strings.Builder
	for _, rel := range relations {
		for _, c := range []struct {
			name    string
			d, n    int
			k, most int
			epsilon float64
		}{
			{"three components", 5, 20000, 3, 0, 1},
			{"automatic", 10, 50000, 0, 10, 1},
			{"hardly enough rows", 2, 700, 2, 0, 1},
			{"too few rows", 5, 300, 3, 0, 1},
			{"too few rows for the columns", 50, 2000, 0, 10, 1},
			{"few rows at a large epsilon", 2, 40, 2, 0, 1e6},
		} {
			p := estimate.Problem{Columns: c.d, Rows: c.n, Relation: rel, Mu: privacy.MuOf(c.epsilon, 1e-6), Components: c.k, MaxComponents: c.most}
			plan, ok := estimatetest.WritePlan(t, &b, fmt.Sprintf("%v, %s", rel, c.name), New(), p)
			if !ok {
				continue
			}
			if plan.Thresholds() {
				t.Error("the plan spends stability delta, which Problem.Mu does not provide for")
			}
			fmt.Fprintln(&b, estimatetest.Plan(plan))
		}
	}
	estimatetest.Golden(t, "testdata/plans.txt", b.String(), *update)
}

// TestPlanDoesNotKnowRows: under add-or-remove-one a plan is the same whatever Rows says.
func TestPlanDoesNotKnowRows(t *testing.T) {
	for _, k := range []int{0, 2, 5} {
		text := ""
		for _, n := range []int{0, 3, 500, 1 << 30} {
			p := estimate.Problem{Columns: 3, Rows: n, Relation: privacy.AddRemoveOne, Mu: .2, Components: k, MaxComponents: 10}
			plan, err := New().Plan(p)
			if err != nil {
				t.Fatal(err)
			}
			if text != "" && estimatetest.Plan(plan) != text {
				t.Errorf("K = %d: the plan for n = %d differs", k, n)
			}
			text = estimatetest.Plan(plan)
		}
	}
}

// TestPlanHoldsTheWorstCase, by the steps that do not explore at most.
func TestPlanHoldsTheWorstCase(t *testing.T) {
	most := map[string]float64{stepCount: 1, stepRest: 1, stepView: float64(len(viewRounds)), stepLast: float64(max(len(lastRounds), len(onlyRounds)))}
	cost := map[string]float64{stepCount: countShare, stepRest: restShare}
	for _, s := range steps(estimate.Problem{Columns: 5}) {
		if n, ok := most[s.Name]; ok && float64(s.Most) < n {
			t.Errorf("%s: the plan has %d, there may be %v", s.Name, s.Most, n)
		}
		if c, ok := cost[s.Name]; ok && s.Share < c*(1-1e-12) {
			t.Errorf("%s: the plan has %v of mu^2, it may cost %v", s.Name, s.Share, c)
		}
	}
	for _, rounds := range [][]float64{onlyRounds, append(viewRounds[:len(viewRounds):len(viewRounds)], lastRounds...)} {
		sum := 0.0
		for _, r := range rounds {
			sum += r
		}
		agree(t, "shares of the rounds", sum, 1)
	}
	// the units may cost .4, the root of what explores .355
	if before := countShare + 2*.2 + weakShare + .355; before+refineShare > 1 {
		t.Errorf("the root costs up to %v, which leaves less than %v for the rounds", before, refineShare)
	}
}

// TestExpect: more components, more columns and less budget need more rows.
func TestExpect(t *testing.T) {
	p := estimate.Problem{Columns: 4, Mu: .3, Components: 3, Relation: privacy.ReplaceOne}
	base := New().Expect(p).RowsNeeded
	more := p
	more.Components = 5
	wide := p
	wide.Columns = 9
	poor := p
	poor.Mu = .1
	for _, q := range []estimate.Problem{more, wide, poor} {
		if n := New().Expect(q).RowsNeeded; !(n > base) {
			t.Errorf("%+v needs %v rows, %+v needs %v", q, n, p, base)
		}
	}
	auto, two := p, p
	two.Components = 2
	auto.Components, auto.MaxComponents = 0, 3
	if e := New().Expect(auto); e.RowsNeeded != New().Expect(two).RowsNeeded || len(e.Notes) != 2 {
		t.Errorf("automatic: %+v", e)
	}
}
