package km21

import (
	"math"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// TestEveryTable: whatever the rows and the facts, a fit ends in a sound model or in a reason,
// within its plan and its budget.
func TestEveryTable(t *testing.T) {
	rng := newRand(t)
	released, none := 0, 0
	for _, table := range estimatetest.Hard() {
		for _, s := range []struct{ d, n int }{{1, 15000}, {2, 5000}, {3, 40}, {2, 1}, {1, 0}} {
			rows := table.Rows(rng, s.n, s.d)
			for _, facts := range []estimate.Facts{
				knowing(1, 1, 0), knowing(10, 20, 0), knowing(3.9, 2, 3), knowing(100, 100, 8), knowing(1e10, 1e300, 0),
				knowing(2, 1e-300, 1e-152), knowing(3, 1, 1e300),
			} {
				for _, mu := range []float64{1e-3, .3, 100, 4000} {
					for _, rel := range relations {
						if rng.IntN(8) > 0 {
							continue
						}
						constants := Practical()
						constants.AsPrinted = rng.IntN(4) == 0
						c := estimatetest.Case{Rows: rows, Columns: s.d, Relation: rel, Mu: mu, Components: 1, Covariance: shapes[rng.IntN(3)],
							Facts: facts, Noise: kerneltest.Options{Seed: rng.Uint64()}}
						f := estimatetest.RunChecked(t, New(constants), c)
						if t.Failed() {
							t.Fatalf("%s: d %d n %d %v mu %v %v", table.Name, s.d, s.n, rel, mu, facts)
						}
						if f.Model != nil {
							released++
						} else {
							none++
						}
					}
				}
			}
		}
	}
	if released == 0 || none == 0 {
		t.Errorf("%d models, %d none: the tables do not reach every end", released, none)
	}
}

// TestReplay: the questions and prices of a fit are functions of its answers: on a neighbouring
// table the same answers lead to the same questions, and no path loses more than mu^2.
func TestReplay(t *testing.T) {
	rng := newRand(t)
	truth := truthOf(t, rng, 1, 10, 1, 0)
	rows := rowsOf(rng, truth, 12000, gaussian)
	for _, rel := range relations {
		for _, v := range []float64{1e308, math.NaN(), 0, 40} {
			other := append(slices.Clone(rows[1:]), []float64{v})
			if rel == privacy.AddRemoveOne {
				other = append(slices.Clone(rows), []float64{v})
			}
			c := estimatetest.Case{Rows: rows, Columns: 1, Relation: rel, Mu: 50, Components: 1, Facts: knowing(10, 1, 0),
				Noise: kerneltest.Options{Seed: rng.Uint64()}}
			f, loss := estimatetest.Neighbours(t, New(Practical()), c, other)
			if f.Model == nil || len(f.Session.Measurements()) < 3 {
				t.Fatalf("%v: a fit with steps is wanted, got %+v", rel, f.Outcome)
			}
			if limit := math.Pow(f.Session.Mu(), 2); loss.Path > limit*(1+1e-9) {
				t.Errorf("%v: a path loses mu^2 = %v of %v", rel, loss.Path, limit)
			}
		}
	}
}

// TestReplayPairs is TestReplay for a mean that is not known: answers over secret pairs, whose
// draws differ, on a table of other rows, and of another number of rows where n is private.
func TestReplayPairs(t *testing.T) {
	rng := newRand(t)
	rows := rowsOf(rng, truthOf(t, rng, 1, 10, 1, 30), 30000, gaussian)
	for _, rel := range relations {
		other := make([][]float64, len(rows))
		if rel == privacy.AddRemoveOne {
			other = other[:10]
		}
		for i := range other {
			other[i] = []float64{1e9}
		}
		var own, again kerneltest.Transcript
		c := estimatetest.Case{Rows: rows, Columns: 1, Relation: rel, Mu: 50, Components: 1, Facts: knowing(10, 1, 30),
			Noise: kerneltest.Options{Seed: 1, Record: &own}}
		f := estimatetest.RunChecked(t, New(Practical()), c)
		if f.Model == nil || len(own.Steps) < 5 {
			t.Fatalf("%v: a fit with all steps is wanted, got %v, %+v", rel, own.Steps, f.Outcome)
		}
		c.Rows, c.Noise = other, kerneltest.Options{Replay: &own, Record: &again}
		if g := estimatetest.Run(t, New(Practical()), c); g.Model == nil || !estimatetest.SameQuestions(own, again) {
			t.Errorf("%v: the same answers led to other questions, or to another end: %+v", rel, g.Outcome)
		}
	}
}
