package bdku20

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

var update = flag.Bool("update", false, "rewrite the plans in testdata")

var relations = []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne}

// bounds are facts: the mean within r, eigenvalues within low and high.
func bounds(r, low, high float64) estimate.Facts {
	return estimate.Facts{KnowsMean: true, MeanWithin: r, Eigenvalues: [2]float64{low, high}}
}

// TestPlanGolden: the plans of typical problems, as text; review a change as a diff.
func TestPlanGolden(t *testing.T) {
	var b strings.Builder
	for _, rel := range relations {
		for _, c := range []struct {
			name  string
			d, n  int
			facts estimate.Facts
		}{
			{"both unknown", 5, 50000, bounds(10, .1, 100)},
			{"loose bounds", 5, 50000, bounds(1e6, 1e-9, 1e6)},
			{"the mean is the origin", 10, 20000, bounds(0, .01, 4)},
			{"the covariance is known", 50, 5000, bounds(70, 1, 1)},
			{"hardly enough rows", 2, 2000, bounds(1, .5, 2)},
			{"too few rows", 2, 500, bounds(1, .5, 2)},
			{"no bound on the mean", 2, 20000, estimate.Facts{Eigenvalues: [2]float64{1, 2}}},
			{"no bound on the eigenvalues", 2, 20000, estimate.Facts{KnowsMean: true}},
			{"nothing known", 2, 20000, estimate.Facts{}},
			{"nothing to learn", 2, 20000, bounds(0, 1, 1)},
			{"too wide", 2, 20000, bounds(1, 1e-150, 1)},
		} {
			p := estimate.Problem{Columns: c.d, Rows: c.n, Relation: rel, Mu: privacy.MuOf(1, 1e-6), Components: 1, Facts: c.facts}
			plan, ok := estimatetest.WritePlan(t, &b, fmt.Sprintf("%v, %s", rel, c.name), New(Practical()), p)
			if !ok {
				continue
			}
			fmt.Fprintln(&b, estimatetest.Plan(plan))
		}
	}
	estimatetest.Golden(t, "testdata/plans.txt", b.String(), *update)
}

func TestRefusals(t *testing.T) {
	good := estimate.Problem{Columns: 2, Rows: 20000, Relation: privacy.ReplaceOne, Mu: .2, Facts: bounds(1, .1, 10)}
	if _, err := New(Practical()).Plan(good); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*estimate.Problem){
		"two components":       func(p *estimate.Problem) { p.Components = 2 },
		"no facts":             func(p *estimate.Problem) { p.Facts = estimate.Facts{} },
		"no mean":              func(p *estimate.Problem) { p.Facts.KnowsMean, p.Facts.MeanWithin = false, 0 },
		"no eigenvalues":       func(p *estimate.Problem) { p.Facts.Eigenvalues = [2]float64{} },
		"eigenvalues swapped":  func(p *estimate.Problem) { p.Facts.Eigenvalues = [2]float64{2, 1} },
		"mean not a number":    func(p *estimate.Problem) { p.Facts.MeanWithin = math.NaN() },
		"mean far beyond":      func(p *estimate.Problem) { p.Facts.MeanWithin = 1e300 },
		"eigenvalues too wide": func(p *estimate.Problem) { p.Facts.Eigenvalues = [2]float64{1e-300, 1e300} },
		"nothing to learn":     func(p *estimate.Problem) { p.Facts = bounds(0, 3, 3) },
		"a row":                func(p *estimate.Problem) { p.Rows = 1 },
		"few rows":             func(p *estimate.Problem) { p.Rows = 100 },
	} {
		p := good
		change(&p)
		var refused *estimate.Refusal
		if _, err := New(Practical()).Plan(p); !errors.As(err, &refused) || refused.Reason == "" || refused.Advice == "" {
			t.Errorf("%s: got %v, want a refusal with advice", name, err)
		}
	}
	if _, err := New(Practical()).Plan(estimate.Problem{}); err == nil {
		t.Error("no columns: want an error")
	}
}

// Every fact that the method needs it also uses; moments are none of them.
func TestUses(t *testing.T) {
	p := estimate.Problem{Columns: 2, Facts: bounds(1, .1, 10)}
	if got := estimate.Unused(New(Practical()), p); got != nil {
		t.Errorf("%v is said to be unused", got)
	}
	if p.Facts.Moments = 4; len(estimate.Unused(New(Practical()), p)) != 1 {
		t.Error("the bound on moments is not said to be unused")
	}
}

// Wider bounds never help, more rows never hurt, and what is expected at the number of rows needed
// is twice the non-private error.
func TestExpectations(t *testing.T) {
	for _, rel := range relations {
		for _, d := range []int{1, 5, 30} {
			last := 0.0
			for _, wide := range []float64{2, 1e2, 1e4, 1e8} {
				p := estimate.Problem{Columns: d, Relation: rel, Mu: .2367, Facts: bounds(wide, 1/wide, 1)}
				need := New(Practical()).Expect(p).RowsNeeded
				if !(need > last) {
					t.Errorf("%v, d = %d: %v rows for bounds %v, %v for tighter ones", rel, d, need, wide, last)
				}
				last = need
				before := math.Inf(1)
				for _, n := range []float64{need / 8, need / 2, need, 2 * need, 100 * need} {
					p.Rows = int(n)
					got := New(Practical()).Expect(p).RelativeError
					if !(got < before && got > 1) {
						t.Errorf("%v, d = %d, bounds %v: error %v at n = %v, %v at fewer", rel, d, wide, got, n, before)
					}
					if before = got; n == need && !(got > 1.7 && got < 2.02) {
						t.Errorf("%v, d = %d, bounds %v: error %v where it is to be 2", rel, d, wide, got)
					}
				}
			}
		}
	}
}

// The parts of a budget are the published ones: 3/4 for the last step, the rest in equal parts.
func TestSplit(t *testing.T) {
	for steps, want := range [][]float64{1: {1}, 2: {.25, .75}, 3: {.125, .125, .75}} {
		if steps == 0 {
			continue
		}
		got := Printed(steps).split(steps)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%d steps: got %v, want %v", steps, got, want)
		}
	}
}
