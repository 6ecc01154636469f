package amn24

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// TestPlans compares plans, refusals and expectations with testdata/plans.txt.
func TestPlans(t *testing.T) {
	var b strings.Builder
	lattice, cells := knowing(4, .7, 1.5), knowing(6, .5, 2)
	for _, rel := range relations {
		for _, c := range []struct {
			name    string
			e       estimate.Estimator
			d, n, k int
			eps     float64
			facts   estimate.Facts
		}{
			{"gaps", NewUnivariate(Practical()), 1, 3000, 2, 20, estimate.Facts{}},
			{"gaps, printed constants", NewUnivariate(Printed()), 1, 3000, 1, 20, estimate.Facts{}},
			{"gaps, few rows", NewUnivariate(Practical()), 1, 100, 1, 20, estimate.Facts{}},
			{"gaps, little budget", NewUnivariate(Practical()), 1, 3000, 1, .01, estimate.Facts{}},
			{"gaps, two columns", NewUnivariate(Practical()), 2, 3000, 1, 20, estimate.Facts{}},
			{"gaps, many components", NewUnivariate(Practical()), 1, 3000, 30, 20, estimate.Facts{}},
			{"gaps, unknown number", NewUnivariate(Practical()), 1, 3000, 0, 20, estimate.Facts{}},
			{"lattice", NewGeneral(Practical()), 1, 3000, 2, 20, lattice},
			{"cells on the line", NewGeneral(Practical()), 1, 3000, 2, 20, knowing(100, .1, 10)},
			{"cells in the plane", NewGeneral(Practical()), 2, 3000, 2, 20, cells},
			{"printed constants", NewGeneral(Printed()), 1, 3000, 1, 20, lattice},
			{"few rows", NewGeneral(Practical()), 2, 20, 2, 20, cells},
			{"epsilon 1", NewGeneral(Practical()), 1, 3000, 2, 1, lattice},
			{"little budget", NewGeneral(Practical()), 1, 3000, 2, .01, lattice},
			{"no facts", NewGeneral(Practical()), 1, 3000, 2, 20, estimate.Facts{}},
			{"no facts, few rows", NewGeneral(Practical()), 1, 500, 2, 20, estimate.Facts{}},
			{"no facts, printed constants", NewGeneral(Printed()), 1, 3000, 1, 20, estimate.Facts{}},
			{"no facts in the plane", NewGeneral(Practical()), 2, 3000, 2, 20, estimate.Facts{}},
			{"wide facts on the line", NewGeneral(Practical()), 1, 3000, 2, 20, knowing(1e6, 1, 1)},
			{"impossible facts", NewGeneral(Practical()), 1, 3000, 2, 20, estimate.Facts{KnowsMean: true, Eigenvalues: [2]float64{2, 1}}},
			{"wide facts", NewGeneral(Practical()), 2, 3000, 2, 20, knowing(1e6, 1, 1)},
			{"huge facts", NewGeneral(Practical()), 1, 3000, 2, 20, knowing(1e200, 1, 1)},
			{"three columns", NewGeneral(Practical()), 3, 3000, 2, 20, cells},
		} {
			p := estimate.Problem{Columns: c.d, Rows: c.n, Relation: rel, Mu: privacy.MuOf(c.eps, delta), Components: c.k,
				MaxComponents: 10, Facts: c.facts}
			plan, ok := estimatetest.WritePlan(t, &b, fmt.Sprintf("%s, %v, %s", c.e.Name(), rel, c.name), c.e, p)
			if !ok {
				continue
			}
			x := c.e.Expect(p)
			fmt.Fprintf(&b, "%vneeds %.2g rows; %s\n\n", estimatetest.Plan(plan), x.RowsNeeded, strings.Join(x.Notes, ";\n  "))
		}
	}
	estimatetest.Golden(t, "testdata/plans.txt", b.String(), *update)
}

// TestFewRowsAreFree: with so few rows that no fit releases anything, the plan refuses, and nothing
// is spent; with those that the fits need it does not. (1,000 rows were planned before, and 0 of 6
// fits released.)
func TestFewRowsAreFree(t *testing.T) {
	for n, refused := range map[int]bool{200: true, 400: true, 850: true, 1000: true, 1300: false, 1700: false, 3400: false} {
		p := estimate.Problem{Columns: 1, Rows: n, Relation: privacy.ReplaceOne, Mu: privacy.MuOf(10, 1e-6), Budget: privacy.Budget{Epsilon: 10, Delta: 1e-6}, Components: 2}
		var free *estimate.Refusal
		if _, err := NewUnivariate(Practical()).Plan(p); errors.As(err, &free) != refused {
			t.Errorf("%d rows: %v, want a refusal %v", n, err, refused)
		}
	}
}

// TestWantedBounds: in two columns the refusal without bounds is free and names flags and how wide
// they may be; what it says is accepted, on either constants.
func TestWantedBounds(t *testing.T) {
	for _, c := range []Constants{Practical(), Printed()} {
		p := estimate.Problem{Columns: 2, Rows: 1e6, Relation: privacy.ReplaceOne, Mu: privacy.MuOf(10, 1e-6), Components: 1}
		var free *estimate.Refusal
		if _, err := NewGeneral(c).Plan(p); !errors.As(err, &free) {
			t.Fatalf("%v", err)
		}
		var ratio, r float64
		_, after, _ := strings.Cut(free.Advice, "if the widest ")
		if n, err := fmt.Sscanf(after, "standard deviation is %g times the narrowest, R may be up to %g", &ratio, &r); n != 2 || r < 2 {
			t.Fatalf("%q, %v", free.Advice, err)
		}
		if x, err := NewGeneral(c).design(estimate.Problem{Columns: 2, Components: 1, Facts: knowing(r, 1, ratio)}); x.pairs == nil {
			t.Errorf("R = %v: %v", r, err)
		}
		if x, err := NewGeneral(c).design(estimate.Problem{Columns: 2, Components: 1, Facts: knowing(2.5*r, 1, ratio)}); r < 1e6 && x.pairs != nil {
			t.Errorf("R = %v is possible as well: %v", 2.5*r, err)
		}
	}
}
