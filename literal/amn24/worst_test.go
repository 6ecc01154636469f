package amn24

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

var shapes = []estimate.CovarianceType{estimate.Full, estimate.Diagonal, estimate.Spherical}

// quick are constants for tests in which errors do not matter.
func quick() Constants {
	c := Practical()
	c.MostHypotheses, c.MostNet, c.Refinements, c.Closer, c.Points = 1000, 40, 1, 1, 9
	return c
}

// TestEveryTable: whatever the rows and the facts, a fit ends in a sound model or in a reason,
// within its plan and its budget.
func TestEveryTable(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(9, 9))
	released, none := 0, 0
	for _, table := range estimatetest.Hard() {
		for _, n := range []int{0, 1, 40, 1500} {
			if !estimatetest.Long() && rng.IntN(5) > 0 {
				continue
			}
			rows := table.Rows(rng, n, 1)
			for _, rel := range relations {
				c := trial{rows: rows, d: 1, k: 1 + rng.IntN(2), eps: []float64{1, 20, 200}[rng.IntN(3)], relation: rel, covariance: shapes[rng.IntN(3)],
					noise: kerneltest.Options{Seed: rng.Uint64()}}
				fits := []estimatetest.Fit{c.fit(t, NewUnivariate(quick()))}
				for _, facts := range []estimate.Facts{{}, knowing(2, .7, 1.2), knowing(1e100, 1e99, 2e99), knowing(1e-90, 1e-92, 1e-90), knowing(0, 1, 1)} {
					if c.facts = facts; rng.IntN(3) == 0 {
						fits = append(fits, c.fit(t, NewGeneral(quick())))
					}
				}
				if t.Failed() {
					t.Fatalf("%s: n %d, %v, epsilon %v", table.Name, n, rel, c.eps)
				}
				for _, f := range fits {
					if f.Model != nil {
						released++
					} else {
						none++
					}
				}
			}
		}
	}
	if released < 5 || none < 10 {
		t.Errorf("%d models, %d none: the tables do not reach every end", released, none)
	}
}

// TestReplay: the questions and prices of a fit are functions of its answers: on a neighbouring
// table, and on one of quite other rows, the same answers lead to the same questions and the same
// end. Relations take turns, unless GAUZE_LONG is set.
func TestReplay(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(10, 10))
	two := estimatetest.Draw(t, line(t, [3]float64{.5, -3, 1}, [3]float64{.5, 3, .8}), 2500, rng)
	lattice := quick()
	lattice.Points = 13
	for i, c := range []struct {
		name  string
		e     estimate.Estimator
		k     int
		facts estimate.Facts
	}{
		{"gaps", NewUnivariate(quick()), 1, estimate.Facts{}},
		{"lattice", NewGeneral(lattice), 2, knowing(4, .7, 1.5)},
		{"cells", NewGeneral(quick()), 2, knowing(6, .7, 1.2)},
		{"line", NewGeneral(quick()), 2, estimate.Facts{}},
	} {
		for j, rel := range relations {
			if (i/2+j)%2 != 0 && !estimatetest.Long() {
				continue
			}
			fit := trial{rows: two, d: 1, k: c.k, eps: 20, relation: rel, facts: c.facts}
			var own, again kerneltest.Transcript
			fit.noise = kerneltest.Options{Seed: 3, Record: &own}
			f := fit.fit(t, c.e)
			if f.Model == nil || len(own.Steps) < 4 {
				t.Fatalf("%s, %v: a fit with all steps is wanted, got %v, %+v %+v", c.name, rel, own.Steps, f.Refused, f.NoRelease)
			}
			for _, v := range []float64{math.NaN(), -3} {
				fit.rows = append(slices.Clone(two[1:]), []float64{v})
				if rel == privacy.AddRemoveOne {
					fit.rows = append(slices.Clone(two), []float64{v})
				}
				if v == -3 { // not a neighbour at all
					for i := range fit.rows {
						fit.rows[i] = []float64{1e9 * float64(i%2)}
					}
				}
				again = kerneltest.Transcript{}
				fit.noise = kerneltest.Options{Replay: &own, Record: &again}
				if g := fit.fit(t, c.e); g.Model == nil || !estimatetest.SameQuestions(own, again) {
					t.Errorf("%s, %v: the same answers led to other questions, or to another end: %+v", c.name, rel, g.Outcome)
				}
			}
		}
	}
}

// TestReplayOfThree: with three components most released pairs are left out, by what explains the
// released buckets best, and nothing else: the same answers, replayed on a table of quite other
// rows with a null row among them, lead to the same questions and to the same model.
func TestReplayOfThree(t *testing.T) {
	truth := line(t, [3]float64{.5, 0, 1}, [3]float64{.3, 20, 2}, [3]float64{.2, -20, 1})
	c := Practical()
	c.Refinements, c.Points = 1, 9
	for i, rel := range relations {
		if i > 0 && !estimatetest.Long() {
			break
		}
		var own, again kerneltest.Transcript
		fit := trial{rows: estimatetest.Draw(t, truth, 5000, rand.New(rand.NewPCG(5, 4))), d: 1, k: 3, eps: 20, relation: rel,
			noise: kerneltest.Options{Seed: 3, Record: &own}}
		f := fit.fit(t, NewUnivariate(c))
		if f.Model == nil || !slices.ContainsFunc(f.Diagnostics.Flags, func(s estimate.Flag) bool { return strings.Contains(s.Text, "explain the released gaps") }) {
			t.Fatalf("%v: a fit that leaves pairs out is wanted, got %+v %+v %+v", rel, f.Refused, f.NoRelease, f.Diagnostics)
		}
		for j := range fit.rows {
			fit.rows[j] = []float64{1e9 * float64(j%2)}
		}
		fit.rows[0] = []float64{math.NaN()}
		fit.noise = kerneltest.Options{Replay: &own, Record: &again}
		if g := fit.fit(t, NewUnivariate(c)); g.Model == nil || !estimatetest.SameQuestions(own, again) || !reflect.DeepEqual(f.Model, g.Model) {
			t.Errorf("%v: the same answers led to other questions, or to another model: %+v", rel, g.Outcome)
		}
	}
}

// A fit that is interrupted ends with the context's error, and spends nothing more.
func TestInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	rows := make([][]float64, 3000)
	for i := range rows {
		rows[i] = []float64{float64(i)}
	}
	for _, e := range []estimate.Estimator{NewUnivariate(quick()), NewGeneral(quick())} {
		c := trial{rows: rows, d: 1, k: 1, eps: 20, facts: knowing(4, .7, 1.5)}
		plan, err := e.Plan(c.problem())
		if err != nil {
			t.Fatal(err)
		}
		s := c.open(t, plan)
		if _, err := e.Fit(ctx, s, c.problem()); err == nil || len(s.Measurements()) > 1 {
			t.Errorf("%s: %v, %d measurements", e.Name(), err, len(s.Measurements()))
		}
	}
}
