package general

import (
	"math"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/estimate/recursive"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// TestBudgetLaw: what looking and deciding cost never grows with the rows, and falls from the
// number on where counts show the lightest components; the rounds fall with it, and the last round
// has what they leave: two thirds of what is left after the first stages for long tables.
func TestBudgetLaw(t *testing.T) {
	for _, d := range []int{1, 2, 5, 10, 20} {
		p := estimate.Problem{Columns: d, Mu: muOne}
		last := schedule{tree: 1, global: 1, em: 1, lean: 1}
		for _, n := range []float64{12e3, 25e3, 50e3, 1e5, 1e6} {
			s := planned(p, d, n)
			if s.lean > last.lean || s.cost(contestPart) > last.cost(contestPart) || s.global > last.global*(1+1e-9) {
				t.Errorf("%d columns, %v rows: looking costs more than with fewer rows: %+v after %+v", d, n, s, last)
			}
			if total := countPart + s.units + s.global + s.tree + s.em + s.final + recursive.PairUnitsShare(p, n); math.Abs(total-1) > 1e-9 {
				t.Errorf("%d columns, %v rows: the parts sum to %v", d, n, total)
			}
			last = s
		}
		if s := planned(p, d, 1e5); s.final < .6 || s.tree > .08 || s.em > .27 {
			t.Errorf("%d columns: of 100,000 rows the last round has %.2f, rounds %.2f, the tree %.2f", d, s.final, s.em, s.tree)
		}
	}
}

// TestRoundsStayWithinThePlan: rounds at components' own scale take what boxes and looks have left
// of the budget, down to splitKeep, and the rounds after them their part of that; the plan has room
// for both. A fit beyond its plan fails when its budget is spent.
func TestRoundsStayWithinThePlan(t *testing.T) {
	for _, d := range []int{1, 3, 10} {
		for _, n := range []int{2000, 20000, 200000} {
			p := estimate.Problem{Columns: d, Mu: muOne, Rows: n, Relation: privacy.ReplaceOne, MaxComponents: 20}
			s, spent, left := planned(p, d, float64(n)), 0., 1-countPart
			for range (2 + mostLooks*mostSplits) * mostFrames {
				if left >= framePart+splitKeep {
					spent, left = spent+framePart, left-framePart
				}
			}
			spent += left * s.em / (s.em + s.final)
			steps := tested.steps(p)
			i := slices.IndexFunc(steps, func(step kernel.Step) bool { return step.Name == program.StepRounds })
			if i < 0 || steps[i].Share < spent {
				t.Errorf("%d columns, %d rows: rounds may cost %v, and the plan is %+v", d, n, spent, steps)
			}
		}
	}
}
