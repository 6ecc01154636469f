package knowncov

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

var update = flag.Bool("update", false, "rewrite the plans in testdata")

func identity(d int) [][]float64 {
	m := make([][]float64, d)
	for i := range m {
		m[i] = make([]float64, d)
		m[i][i] = 1
	}
	return m
}

// TestPlanGolden: the plans of typical problems, as text; review a change as a diff.
func TestPlanGolden(t *testing.T) {
	var b strings.Builder
	for _, rel := range relations {
		for _, c := range [][3]int{{1, 0, 50}, {1, 2, 1000}, {4, 3, 5000}, {8, 0, 20000}, {20, 5, 50000}} {
			p := trial{rows: make([][]float64, c[2]), known: identity(c[0]), eps: 1, relation: rel, components: c[1]}.problem()
			name := fmt.Sprintf("%v, k = %d", rel, c[1])
			plan, ok := estimatetest.WritePlan(t, &b, name, New(), p)
			if !ok {
				continue
			}
			slack := 0.0
			for _, s := range plan.Steps {
				slack += s.Slack
			}
			if math.Abs(slack-1) > 1e-12 {
				t.Errorf("%s: the slacks sum to %v", name, slack)
			}
			e := New().Expect(p)
			fmt.Fprintf(&b, "%vneeds about %.2g rows, relative error %.3g (0: unknown); %s\n\n", estimatetest.Plan(plan), e.RowsNeeded, e.RelativeError, strings.Join(e.Notes, "; "))
		}
	}
	estimatetest.Golden(t, "testdata/plans.txt", b.String(), *update)
}

// TestRefusal: rows of which no box can hold enough are refused where n is public, and only there.
func TestRefusal(t *testing.T) {
	var refused *estimate.Refusal
	p := trial{rows: make([][]float64, 40), known: identity(2), eps: 1, relation: privacy.ReplaceOne}.problem()
	if _, err := New().Plan(p); !errors.As(err, &refused) || !strings.Contains(refused.Advice, "rows at this epsilon") {
		t.Errorf("got %v, want a refusal", err)
	}
	p.Relation, p.Rows = privacy.AddRemoveOne, 0
	if _, err := New().Plan(p); err != nil {
		t.Errorf("n private: %v", err)
	}
}

// TestThresholdIsWhatTheKernelHas: the rows that a box must hold, as plans and refusals say it, are
// those of the kernel within a tenth.
func TestThresholdIsWhatTheKernelHas(t *testing.T) {
	for _, rel := range relations {
		for _, d := range []int{1, 8, 20} {
			p := trial{rows: make([][]float64, 9000), known: identity(d), eps: 1, relation: rel}.problem()
			plan, err := New().Plan(p)
			if err != nil {
				t.Fatal(err)
			}
			total, err := kernel.Calibrate(plan, rel, privacy.Budget{Epsilon: 1, Delta: delta})
			if err != nil {
				t.Fatal(err)
			}
			blocks := float64(len(blocksOf(d)))
			sd := program.Factor(p.Relation) / (total.Mu * math.Sqrt(Usual().boxPart(d)/blocks))
			// -ln of the tail that a cell's noise may have
			q := -privacy.LogSlackOf(1, total.ThresholdDelta/blocks)
			want := 2 + sd*(math.Sqrt(2*q)-math.Log(q*4*math.Pi)/(2*math.Sqrt(2*q)))
			if got := Usual().threshold(p); math.Abs(got/want-1) > .1 {
				t.Errorf("%v, d = %d: threshold %.1f, want about %.1f", rel, d, got, want)
			}
		}
	}
}

// TestExpect: more components need more rows, and more rows leave less error.
func TestExpect(t *testing.T) {
	for _, rel := range relations {
		p := trial{rows: make([][]float64, 3000), known: identity(3), eps: 1, relation: rel, components: 1}.problem()
		p.Rows = 3000
		last := New().Expect(p)
		for k := 2; k < 5; k++ {
			p.Components = k
			e := New().Expect(p)
			if !(e.RowsNeeded > last.RowsNeeded && e.RelativeError > last.RelativeError && e.RelativeError > 1) {
				t.Errorf("k = %d: %+v after %+v", k, e, last)
			}
			last = e
		}
		p.Rows *= 10
		if e := New().Expect(p); !(e.RelativeError < last.RelativeError) {
			t.Errorf("%+v with ten times the rows of %+v", e, last)
		}
	}
}
