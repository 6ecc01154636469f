package aal21

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

var update = flag.Bool("update", false, "rewrite the plans in testdata")

var identity = [][]float64{{1, 0}, {0, 1}}

// TestPlanGolden: the plans of typical problems, as text, and what is expected of them; review a
// change as a diff.
func TestPlanGolden(t *testing.T) {
	var b strings.Builder
	for _, rel := range relations {
		for _, c := range []struct {
			name  string
			d, n  int
			k     int
			eps   float64
			known [][]float64
			e     Estimator
		}{
			{"one component", 1, 4000, 1, 1, nil, NewUnivariate(Practical())},
			{"two components", 1, 3000, 2, 20, nil, NewUnivariate(Practical())},
			{"two columns", 2, 3000, 2, 20, nil, New(Practical())},
			{"known variance", 1, 1000, 2, 20, [][]float64{{4}}, NewUnivariate(Practical())},
			{"known covariance", 2, 2000, 2, 20, [][]float64{{4, 1}, {1, 2}}, New(Practical())},
			{"three components in two columns", 2, 1000000, 3, 20, nil, New(Practical())},
			{"two components in three columns", 3, 1000000, 2, 20, nil, New(Practical())},
			{"full covariances", 2, 3000, 1, 20, nil, NewGeneral(Practical())},
			{"as printed", 1, 100000, 1, 20, nil, NewUnivariate(Printed(.5))},
			{"as printed, known variance", 1, 100000, 1, 20, [][]float64{{4}}, NewUnivariate(Printed(.5))},
			{"as printed, known covariance", 2, 100000, 1, 20, identity, New(Printed(.5))},
			{"too few rows", 1, 300, 2, 1, nil, NewUnivariate(Practical())},
			{"too many components", 1, 100000, 9, 20, nil, NewUnivariate(Practical())},
			{"how many components is not said", 1, 100000, 0, 20, nil, NewUnivariate(Practical())},
		} {
			p := estimate.Problem{Columns: c.d, Rows: c.n, Relation: rel, Mu: privacy.MuOf(c.eps, .95*delta), Components: c.k, MaxComponents: 10,
				Covariance: estimate.Diagonal, KnownCovariance: c.known}
			if c.e.class == full {
				p.Covariance = estimate.Full
			}
			plan, ok := estimatetest.WritePlan(t, &b, fmt.Sprintf("%v, %s, epsilon %g", rel, c.name, c.eps), c.e, p)
			if !ok {
				continue
			}
			x := c.e.Expect(p)
			fmt.Fprintf(&b, "%vneeds %.2g rows; %s\n\n", estimatetest.Plan(plan), x.RowsNeeded, strings.Join(x.Notes, "; "))
		}
	}
	estimatetest.Golden(t, "testdata/plans.txt", b.String(), *update)
}

func TestRefusals(t *testing.T) {
	good := trial{rows: make([][]float64, 5000), d: 2, k: 2, eps: 20, relation: privacy.ReplaceOne, shape: estimate.Diagonal}.problem()
	if _, err := New(Practical()).Plan(good); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*estimate.Problem) Estimator{
		"two columns":          func(p *estimate.Problem) Estimator { return NewUnivariate(Practical()) },
		"ten components":       func(p *estimate.Problem) Estimator { p.Components = 10; return New(Practical()) },
		"ten columns":          func(p *estimate.Problem) Estimator { p.Columns = 10; return New(Practical()) },
		"1e9 components":       func(p *estimate.Problem) Estimator { p.Components = 1e9; return New(Practical()) },
		"up to 10":             func(p *estimate.Problem) Estimator { p.Components, p.MaxComponents = 0, 10; return New(Practical()) },
		"few rows":             func(p *estimate.Problem) Estimator { p.Rows = 50; return New(Practical()) },
		"spherical":            func(p *estimate.Problem) Estimator { p.Covariance = estimate.Spherical; return New(Practical()) },
		"three in two columns": func(p *estimate.Problem) Estimator { p.Components = 3; return New(Practical()) },
		"two in three columns": func(p *estimate.Problem) Estimator { p.Columns = 3; return New(Practical()) },
		"diagonal":             func(p *estimate.Problem) Estimator { return NewGeneral(Practical()) },
		"singular": func(p *estimate.Problem) Estimator {
			p.KnownCovariance = [][]float64{{1, 1}, {1, 1}}
			return New(Practical())
		},
		"no variance": func(p *estimate.Problem) Estimator {
			p.KnownCovariance = [][]float64{{1, 0}, {0, 0}}
			return New(Practical())
		},
		"not square": func(p *estimate.Problem) Estimator { p.KnownCovariance = [][]float64{{1}}; return New(Practical()) },
		"NaN covariances": func(p *estimate.Problem) Estimator {
			p.KnownCovariance = [][]float64{{1, 0}, {math.NaN(), 1}}
			return New(Practical())
		},
	} {
		p := good
		e := change(&p)
		var refused *estimate.Refusal
		if _, err := e.Plan(p); !errors.As(err, &refused) || refused.Reason == "" || refused.Advice == "" {
			t.Errorf("%s: got %v, want a refusal with advice", name, err)
		}
	}
	if _, err := New(Practical()).Plan(estimate.Problem{}); err == nil {
		t.Error("no columns: want an error")
	}
	good.Facts = estimate.Facts{KnowsMean: true, Eigenvalues: [2]float64{1, 2}, Moments: 4}
	good.KnownCovariance = identity
	if got := estimate.Unused(New(Practical()), good); len(got) != 3 {
		t.Errorf("it uses a known covariance and no fact, and %v are said to be unused", got)
	}
}

// Caps are those that the source prints.
func TestConstants(t *testing.T) {
	c := Printed(.5)
	if w := c.leastWeight(1); c.mostMeans(w) != int(math.Ceil(12/w)) || c.mostScales(w) != int(math.Ceil(16/w/w)) {
		t.Errorf("caps of %d bins and %d octaves, want 12/w and 16/w^2 of w = %v", c.mostMeans(w), c.mostScales(w), w)
	}
}

// More budget asks for fewer rows, more components and columns for more; and what is refused is far
// below what is wanted.
func TestExpectation(t *testing.T) {
	for _, rel := range relations {
		at := func(eps float64, d, k int) (wanted, seen float64) {
			p, e := trial{d: d, k: k, eps: eps, relation: rel}.problem(), New(Practical())
			lists, choice, _ := e.expected(p)
			if got := e.Expect(p).RowsNeeded; got != math.Max(lists, choice) || !(choice > 0) {
				t.Errorf("%v rows are expected to be needed, of %v and %v", got, lists, choice)
			}
			return lists, e.seen(p)
		}
		base, least := at(1, 1, 1)
		if !(least > 0 && least < New(Practical()).Expect(trial{d: 1, k: 1, eps: 1, relation: rel}.problem()).RowsNeeded) {
			t.Errorf("%v: refused below %v, wants %v", rel, least, base)
		}
		for name, c := range map[string][3]float64{"less budget": {.5, 1, 1}, "two columns": {1, 2, 1}, "two components": {1, 1, 2}} {
			if wanted, seen := at(c[0], int(c[1]), int(c[2])); !(wanted > base && seen > least) {
				t.Errorf("%v, %s: %v and %v rows, of %v and %v", rel, name, wanted, seen, base, least)
			}
		}
	}
	if x := New(Practical()).Expect(trial{d: 1, k: 50, eps: 1, relation: relations[0]}.problem()); x.RowsNeeded != 0 {
		t.Errorf("a problem that is refused: %+v", x)
	}
}

// What Plan takes for the shortest lists is what tables of components with one sd, far apart in one
// column, have: no less than two thirds, and no more than twice as many and a few.
func TestShortest(t *testing.T) {
	rng := newRand(t)
	for _, constants := range []Constants{Practical(), Printed(1)} {
		for k := 1; k <= 3; k++ {
			var parts [][3]float64
			for i := range k {
				parts = append(parts, [3]float64{1 / float64(k), 1e7 * float64(i*i), 1})
			}
			c := trial{rows: sample(t, rng, lineOf(t, parts...), 60000), d: 1, k: k, eps: 1e3, relation: relations[0], noise: kerneltest.Options{Seed: rng.Uint64()}}
			r, mu2 := c.alone(t, constants)
			l, err := axisAligned{constants}.decode(c.sample(r, mu2))
			if err != nil {
				t.Fatal(err)
			}
			shortest, got := len(constants.shortest(1, k, false)[0]), len(l.coordinates[0])
			t.Logf("k = %d: %d rough Gaussians, at least about %d", k, got, shortest)
			if 3*got < 2*shortest || got > 2*shortest+8 {
				t.Errorf("k = %d: %d rough Gaussians, at least about %d are expected", k, got, shortest)
			}
		}
	}
}
