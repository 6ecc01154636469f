package kmssu22

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// Tables on which estimators trip: a sound model or a reason, with noise as it is and a thousand
// times as much.
func TestHardTables(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	released, none := 0, 0
	for _, table := range estimatetest.Hard() {
		for i, shape := range []estimate.CovarianceType{estimate.Full, estimate.Diagonal, estimate.Spherical} {
			for _, factor := range []float64{1, 1000} {
				d := 1 + i
				c := trial{rows: table.Rows(rng, 3500, d), d: d, eps: 60, shape: shape, noise: kerneltest.Options{Seed: uint64(i), NoiseFactor: factor}}
				if i == 1 {
					c.relation = privacy.AddRemoveOne
				}
				f := c.fit(t, New(Practical()))
				if f.Refused != nil {
					t.Fatalf("%s d=%d: refused (%v): the tables test nothing", table.Name, d, f.Refused)
				}
				if t.Failed() {
					t.Fatalf("%s d=%d noise x%v: %+v", table.Name, d, factor, f.Outcome)
				}
				if f.Model != nil {
					released++
				} else {
					none++
				}
			}
		}
	}
	t.Logf("%d models, %d reasons", released, none)
	if released < 10 || none < 10 {
		t.Errorf("%d models, %d reasons: the tables test little", released, none)
	}
}

// What is asked next is a function of what was released: answers recorded on one table and replayed
// on a neighbour, or on another table altogether, lead to the same questions, prices and outcome.
func TestReplay(t *testing.T) {
	both(t, func(t *testing.T, relation privacy.Relation) {
		for _, sds := range [][]float64{{1, 1}, {1000, 1, 1}, {9, 3, 1}, {1000, 1, 0}} {
			rng := rand.New(rand.NewPCG(4, 4))
			c := trial{rows: newTruth(rng, 50, sds...).draw(rng, 15000), d: len(sds), eps: 20, relation: relation, noise: kerneltest.Options{Seed: 9}}
			var own kerneltest.Transcript
			c.noise.Record = &own
			p := c.problem()
			e := New(Practical())
			plan, err := e.Plan(p)
			if err != nil {
				t.Fatal(err)
			}
			f := c.follow(t, e, plan, p)
			if f.Model == nil {
				t.Fatalf("%v: %+v: the instance tests little", sds, f.NoRelease)
			}
			neighbour := append([][]float64(nil), c.rows...)
			// all equal
			other := newTruth(rng, 9, make([]float64, len(sds))...).draw(rng, len(c.rows))
			if relation == privacy.AddRemoveOne {
				neighbour, other = neighbour[1:], other[:17]
			} else {
				neighbour[0] = append([]float64{1e200, math.Inf(-1)}, neighbour[0][2:]...)
			}
			for _, rows := range [][][]float64{neighbour, other} {
				var again kerneltest.Transcript
				c.rows, c.noise = rows, kerneltest.Options{Replay: &own, Record: &again}
				f2 := c.follow(t, e, plan, p)
				if !estimatetest.SameQuestions(own, again) {
					t.Errorf("%v: the same answers led to other questions: %d measurements and %d", sds, len(own.Steps), len(again.Steps))
				}
				if !reflect.DeepEqual(f.Outcome, f2.Outcome) {
					t.Errorf("%v: the same answers ended in another outcome", sds)
				}
			}
		}
	})
}

// An interruption is an error.
func TestInterrupted(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	c := trial{rows: newTruth(rng, 0, 1, 1).draw(rng, 10000), d: 2, eps: 10}
	e := New(Practical())
	plan, err := e.Plan(c.problem())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := e.Fit(ctx, c.open(t, plan), c.problem()); err == nil {
		t.Error("a cancelled fit went on")
	}
}
