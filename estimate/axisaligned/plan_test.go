package axisaligned

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

var update = flag.Bool("update", false, "rewrite the plans in testdata")

func problem(rel privacy.Relation, d, n, k int) estimate.Problem {
	p := estimate.Problem{Columns: d, Relation: rel, Mu: privacy.MuOf(1, delta), Components: k}
	if rel == privacy.ReplaceOne {
		p.Rows = n
	}
	if k == 0 {
		p.MaxComponents = 10
	}
	return p
}

// TestPlanGolden: the plans of typical problems, as text; review a change as a diff. Thresholds
// share all of delta's part for them.
func TestPlanGolden(t *testing.T) {
	var b strings.Builder
	for _, rel := range relations {
		for _, c := range []struct {
			name    string
			d, n, k int
			noDelta bool
		}{
			{"two in one column", 1, 2000, 2, false},
			{"any number in one column", 1, 2000, 0, false},
			{"three", 2, 4000, 3, false},
			{"any number", 2, 4000, 0, false},
			{"three in five columns", 5, 5000, 3, false},
			{"any number in five columns", 5, 5000, 0, false},
			{"zCDP", 2, 4000, 2, true},
			{"too few rows", 2, 40, 2, false},
			{"no rows", 2, 0, 0, false},
		} {
			if rel == privacy.AddRemoveOne && strings.HasSuffix(c.name, "rows") {
				continue
			}
			p := problem(rel, c.d, c.n, c.k)
			p.NoDelta = c.noDelta
			name := fmt.Sprintf("%v, %s", rel, c.name)
			plan, ok := estimatetest.WritePlan(t, &b, name, tested, p)
			if !ok {
				continue
			}
			fmt.Fprintln(&b, estimatetest.Plan(plan))
			slack := 0.0
			for _, s := range plan.Steps {
				slack += s.Slack
			}
			if math.Abs(slack-1) > 1e-12 {
				t.Errorf("%s: the slacks sum to %v", name, slack)
			}
		}
	}
	estimatetest.Golden(t, "testdata/plans.txt", b.String(), *update)
}

// TestRefusals: a budget without delta and rows that can never carry the components are refused,
// with advice that can be followed.
func TestRefusals(t *testing.T) {
	refusal := func(p estimate.Problem) *estimate.Refusal {
		t.Helper()
		var r *estimate.Refusal
		if _, err := tested.Plan(p); !errors.As(err, &r) {
			t.Fatalf("%+v: got %v, want a refusal", p, err)
		}
		return r
	}
	for _, rel := range relations {
		p := problem(rel, 2, 4000, 2)
		p.NoDelta = true
		if r := refusal(p); !strings.Contains(r.Advice, "epsilon and delta") {
			t.Errorf("zCDP, %v: %+v", rel, r)
		}
	}
	p := problem(privacy.ReplaceOne, 2, 60, 3)
	r := refusal(p)
	if !strings.Contains(r.Reason, "60 rows") || !strings.Contains(r.Advice, "rows at this epsilon") {
		t.Errorf("too few rows: %+v", r)
	}
	if p.Rows = int(tested.Expect(p).RowsNeeded) + 1; p.Rows < 61 {
		t.Errorf("60 rows are too few and %d are advised", p.Rows)
	}
	if _, err := tested.Plan(p); err != nil {
		t.Errorf("as many rows as advised, %d: %v", p.Rows, err)
	}
}

// TestPlanDoesNotKnowRows: under add-or-remove-one a plan is the same whatever Rows says.
func TestPlanDoesNotKnowRows(t *testing.T) {
	for _, k := range []int{0, 1, 2, 5} {
		text := ""
		for _, n := range []int{0, 3, 500, 1 << 30} {
			p := problem(privacy.AddRemoveOne, 3, 0, k)
			p.Rows = n
			plan, err := tested.Plan(p)
			if err != nil {
				t.Fatal(err)
			}
			if text != "" && estimatetest.Plan(plan) != text {
				t.Errorf("k = %d: the plan for n = %d differs", k, n)
			}
			text = estimatetest.Plan(plan)
		}
	}
}

// TestThresholdsAreCheap: paying for thresholds costs a plan little of the mu that the same budget
// buys without them.
func TestThresholdsAreCheap(t *testing.T) {
	for _, rel := range relations {
		for _, d := range []int{1, 2, 5, 20} {
			plan, err := tested.Plan(problem(rel, d, 50000, 3))
			if err != nil {
				t.Fatal(err)
			}
			total, err := kernel.Calibrate(plan, rel, privacy.Budget{Epsilon: 1, Delta: delta})
			if err != nil {
				t.Fatal(err)
			}
			if without := privacy.MuOf(1, delta); total.Mu < .97*without || total.Mu > without {
				t.Errorf("%v, d = %d: mu is %v, without thresholds %v", rel, d, total.Mu, without)
			}
		}
	}
}

// TestExpect: what a planner is told is finite for any problem, and more components or columns need
// more rows.
func TestExpect(t *testing.T) {
	for _, rel := range relations {
		for _, n := range []int{0, 1, 100, 1 << 40} {
			last := 0.0
			for _, d := range []int{1, 3, 60} {
				for _, k := range []int{1, 3, 10} { // one is told what two need
					for _, mu := range []float64{1e-6, 1e4} {
						p := problem(rel, d, n, k)
						p.Mu = mu
						if e := tested.Expect(p); !dense.Finite(e.RowsNeeded) || !dense.Finite(e.RelativeError) || e.RowsNeeded < 0 {
							t.Errorf("%+v: %+v", p, e)
						}
					}
				}
				e := tested.Expect(problem(rel, d, n, 3))
				if more := tested.Expect(problem(rel, d, n, 6)); !(e.RowsNeeded > last && more.RowsNeeded > e.RowsNeeded) {
					t.Errorf("d = %d: %v rows for three components, %v for six, %v for fewer columns", d, e.RowsNeeded, more.RowsNeeded, last)
				}
				last = e.RowsNeeded
			}
		}
	}
}

// TestUsesKnownCovariance: it is made use of, and told so: another plan, for fewer rows.
func TestUsesKnownCovariance(t *testing.T) {
	p := problem(privacy.ReplaceOne, 2, 4000, 2)
	if !tested.Uses(p).Covariance {
		t.Error("a known covariance is said to be of no use")
	}
	without, err := tested.Plan(p)
	if err != nil {
		t.Fatal(err)
	}
	p.KnownCovariance = [][]float64{{1, 0}, {0, 1}}
	with, err := tested.Plan(p)
	if err != nil {
		t.Fatal(err)
	}
	if estimatetest.Plan(with) == estimatetest.Plan(without) {
		t.Error("a known covariance does not change the plan")
	}
	if e, w := tested.Expect(p), tested.Expect(problem(privacy.ReplaceOne, 2, 4000, 2)); e.RowsNeeded >= w.RowsNeeded {
		t.Errorf("a known covariance does not spare rows: %v, without it %v", e.RowsNeeded, w.RowsNeeded)
	}
}
