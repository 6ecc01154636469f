package kssu19_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/learner"
	"github.com/gauze-dp/gauze/learner/em"
	"github.com/gauze-dp/gauze/literal/kssu19"
)

func sampleProblem(n, d, k int, epsilon float64) estimate.Problem {
	return estimate.Problem{Columns: d, Rows: n, Components: k, Relation: privacy.ReplaceOne, Mu: privacy.MuOf(epsilon, .95*sampleDelta),
		Budget: privacy.Budget{Epsilon: epsilon, Delta: sampleDelta}}
}

// TestTheorem51Rate: the number of blocks is Theorem 5.1's up to its logarithms: it falls as 1/eps,
// grows with k as k^1.5, and times eps/(sqrt(kd) + k^1.5) stays below 10
// log(1/delta)^2, whatever d, k and eps are. (Blocks are rows that are needed over rows of one
// block, 20k.)
//
// Shows: [KSSU19] Theorem 5.1.
func TestTheorem51Rate(t *testing.T) {
	for name, e := range map[string]estimate.Estimator{"practical": kssu19.NewSampleAggregate(kssu19.Practical()),
		"printed": kssu19.NewSampleAggregate(kssu19.Practical()).Printed()} {
		blocks := func(d, k int, epsilon float64) float64 {
			return e.Expect(sampleProblem(0, d, k, epsilon)).RowsNeeded / math.Max(20*float64(k), 2*float64(d))
		}
		if slope := math.Log(blocks(2, 2, .5)/blocks(2, 2, 2)) / math.Log(4); slope < .85 || slope > 1.15 {
			t.Errorf("%s: blocks grow as 1/eps^%.2f", name, slope)
		}
		for _, d := range []int{2, 20} {
			if slope := math.Log(blocks(d, 4, 1)/blocks(d, 1, 1)) / math.Log(4); slope > 1.55 || slope < 1.3 {
				t.Errorf("%s: blocks grow as k^%.2f, want k^1.5", name, slope)
			}
			for _, k := range []int{1, 2, 4} {
				for _, epsilon := range []float64{1, 3} {
					got := blocks(d, k, epsilon)
					m := (math.Sqrt(float64(k*d)) + math.Pow(float64(k), 1.5)) / epsilon
					log2 := math.Pow(math.Log(1/sampleDelta), 2)
					t.Logf("%s d=%d k=%d eps=%v: %.0f blocks, %.0f times (sqrt(kd)+k^1.5)/eps; log(1/delta)^2 = %.0f", name, d, k, epsilon, got, got/m, log2)
					if !(got > 0 && got/m < 10*log2) {
						t.Errorf("%s d=%d k=%d eps=%v: %v blocks", name, d, k, epsilon, got)
					}
				}
			}
		}
	}
}

// TestTheorem52SpendsItsBudget: k calls of PGLOC and the averages are private together: what a plan
// may spend is the budget, and no fit spends more.
//
// Shows: [KSSU19] Theorem 5.2.
func TestTheorem52SpendsItsBudget(t *testing.T) {
	rows, _ := drawSample(rand.New(rand.NewPCG(4, 4)), 20000, 2, 2, 20)
	for _, relation := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		c := estimatetest.Case{Rows: rows, Columns: 2, Components: 2, Epsilon: 10, Delta: sampleDelta, Relation: relation}
		f := estimatetest.RunChecked(t, kssu19.NewSampleAggregate(kssu19.Practical()), c)
		loss := f.Session.Loss()
		if !(loss.Epsilon <= 10 && loss.Delta <= sampleDelta) || f.Model == nil {
			t.Errorf("%v: spent %+v, %+v", relation, loss, f.NoRelease)
		}
	}
}

// TestMoreBudgetNeverHurts: on one table, with any learner, the error at epsilon 10^6 is that at 10
// or less, but for what sampling leaves of any (.05 sds). Noise is seeded: no false alarms.
func TestMoreBudgetNeverHurts(t *testing.T) {
	for _, name := range []string{"", "vempala-wang"} {
		rows, truth := drawSample(rand.New(rand.NewPCG(8, 1)), 30_000, 2, 2, 300)
		last := math.Inf(1)
		for _, epsilon := range []float64{10, 1e6} {
			c := sampleCase{n: len(rows), d: 2, k: 2, epsilon: epsilon, learner: name, relation: privacy.ReplaceOne}
			out := c.on(t, rows, kerneltest.Options{Seed: 5})
			if out.NoRelease != nil {
				t.Fatalf("%s, epsilon %v: %s", name, epsilon, out.NoRelease.Reason)
			}
			mean, sd, weight := truth.errors(out)
			t.Logf("%s, epsilon %v: mean %.3f sds, ln sd %.3f, weight %.4f", name, epsilon, mean, sd, weight)
			if most := math.Max(mean, math.Max(sd, weight)); most > last+.05 {
				t.Errorf("%s, epsilon %v: error %.3f, before %.3f", name, epsilon, most, last)
			} else {
				last = math.Min(last, most)
			}
		}
	}
}

// TestMoreRowsAreNeverRefused: a plan that is accepted with so many rows is accepted with more, and
// one that is refused names rows that are accepted, or that no number would do.
func TestMoreRowsAreNeverRefused(t *testing.T) {
	for name, e := range map[string]estimate.Estimator{"practical": kssu19.NewSampleAggregate(kssu19.Practical()),
		"printed": kssu19.NewSampleAggregate(kssu19.Practical()).Printed()} {
		for _, d := range []int{1, 10} {
			for _, k := range []int{1, 3, 8} {
				for _, epsilon := range []float64{1, 20, 1e6} {
					accepted := false
					for n := 1000; n < 1e12; n *= 30 {
						_, err := e.Plan(sampleProblem(n, d, k, epsilon))
						var refused *estimate.Refusal
						switch {
						case err == nil:
							accepted = true
						case !errors.As(err, &refused):
							t.Fatal(err)
						case accepted:
							t.Fatalf("%s, d=%d k=%d eps=%v: %d rows are refused, fewer were not: %v", name, d, k, epsilon, n, err)
						}
					}
					need := e.Expect(sampleProblem(0, d, k, epsilon)).RowsNeeded
					if _, err := e.Plan(sampleProblem(int(math.Ceil(need)), d, k, epsilon)); accepted != (need > 0) || accepted && err != nil {
						t.Errorf("%s, d=%d k=%d eps=%v: accepted %v, %v rows are said to be needed: %v", name, d, k, epsilon, accepted, need, err)
					}
				}
			}
		}
	}
}

// TestPrintedConstants: with the constants that the source states it runs, from the number of rows
// that its refusal names.
//
// Shows: [KSSU19] Section 5.
func TestPrintedConstants(t *testing.T) {
	e := kssu19.NewSampleAggregate(kssu19.Practical()).Printed()
	need := int(e.Expect(sampleProblem(0, 2, 2, 20)).RowsNeeded)
	if _, err := e.Plan(sampleProblem(need/2, 2, 2, 20)); err == nil {
		t.Errorf("half of %d rows are accepted", need)
	}
	rows, truth := drawSample(rand.New(rand.NewPCG(2, 1)), need+need/10, 2, 2, 20)
	f := estimatetest.RunChecked(t, e, estimatetest.Case{Rows: rows, Columns: 2, Components: 2, Epsilon: 20, Delta: sampleDelta})
	if f.Model == nil {
		t.Fatalf("%d rows: %+v %+v", len(rows), f.NoRelease, f.Refused)
	}
	if mean, sd, weight := truth.errors(f.Outcome); mean > .2 || sd > .2 || weight > .05 {
		t.Errorf("%d rows: errors %.3f, %.3f, %.3f", len(rows), mean, sd, weight)
	}
}

// ownLearner is somebody's.
type ownLearner struct{}

func (ownLearner) LearnMixture(rows [][]float64, k int, seed uint64) ([]learner.Component, error) {
	return em.Learner{}.LearnMixture(rows, k, seed)
}

// TestOwnLearner: a learner of one's own runs through the terms of the session.
func TestOwnLearner(t *testing.T) {
	rows, truth := drawSample(rand.New(rand.NewPCG(2, 9)), 30_000, 3, 2, 17)
	f := estimatetest.RunChecked(t, kssu19.NewSampleAggregate(kssu19.Practical()),
		estimatetest.Case{Rows: rows, Columns: 3, Components: 2, Epsilon: 20, Delta: sampleDelta, Own: ownLearner{}})
	if f.Model == nil || !f.Session.OwnLearnerRan() {
		t.Fatalf("%+v %+v", f.NoRelease, f.Refused)
	}
	if mean, _, _ := truth.errors(f.Outcome); mean > .2 {
		t.Errorf("mean is off by %.3f sds", mean)
	}
}

// TestGapsAreNotUnits: two unit spheres 300 apart along one of ten axes, in columns whose units
// differ by a thousand, are found: near pairs are the unit, not the gap.
func TestGapsAreNotUnits(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	const n, d = 40_000, 10
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, d)
		for j := range d {
			rows[i][j] = math.Pow(10, float64(j%4)) * rng.NormFloat64()
		}
		if rng.Float64() < .4 {
			rows[i][3] += 300 * 1000
		}
	}
	e := kssu19.NewSampleAggregate(kssu19.Practical())
	f := estimatetest.RunChecked(t, e, estimatetest.Case{Rows: rows, Columns: d, Components: 2, Epsilon: 10, Delta: sampleDelta})
	if f.Model == nil || len(f.Model.Components) != 2 {
		t.Fatalf("%+v %+v", f.NoRelease, f.Refused)
	}
	for i, c := range f.Model.Components {
		far := 0.0
		for j := range d {
			want := map[bool]float64{true: 300 * 1000}[j == 3 && i == 1]
			far = math.Max(far, math.Abs(c.Mean[j]-want)/math.Pow(10, float64(j%4)))
		}
		t.Logf("weight %.3f, mean off by %.2f sds at most, sd %.2f and %.0f", f.Model.Weights[i], far, math.Sqrt(c.Cov.At(0, 0)), math.Sqrt(c.Cov.At(3, 3)))
		if far > 1 || math.Abs(f.Model.Weights[i]-[]float64{.6, .4}[i]) > .05 {
			t.Errorf("component %d is off by %.2f sds, weight %.3f", i, far, f.Model.Weights[i])
		}
	}
}
