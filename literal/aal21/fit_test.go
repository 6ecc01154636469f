package aal21

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
)

// knowing is a mixture of unit weights' Gaussians with one covariance, and that covariance.
func knowing(t testing.TB, cov [][]float64, weights []float64, means ...[]float64) *model.Mixture {
	known, err := model.NewFull(knownCovariance(cov, len(cov)))
	if err != nil {
		t.Fatal(err)
	}
	m := &model.Mixture{Columns: model.DefaultColumns(len(cov)), Weights: weights}
	for _, mean := range means {
		m.Components = append(m.Components, model.Gaussian{Mean: mean, Cov: known})
	}
	return m
}

// Instances that can be enumerated are recovered. most is the median total variation allowed: twice
// the largest of 5 runs of each (see docs/experiments/unbounded/literal.md for more).
// Without GAUZE_LONG there is one run, of half of the relations.
//
// Shows: [AAL21] Algorithm 1; Algorithm 4; Algorithm 5; Theorem 3.2; Theorem 5.1; Theorem 1.1;
// Appendix E; Theorem 1.2.
func TestRecovery(t *testing.T) {
	t.Parallel()
	rng := newRand(t)
	constants, times := Practical(), 5
	if !estimatetest.Long() {
		constants.MostGaussians, constants.MostMixtures, constants.Refinements, times = 1500, 20000, 5, 1
	}
	for i, c := range []struct {
		name  string
		n     int
		eps   float64
		known [][]float64
		truth func() *model.Mixture
		most  float64
	}{
		{"one", 500, 20, nil, func() *model.Mixture { return randomMixture(t, rng, []float64{1}, 1, 0) }, .08},
		{"one at epsilon 1", 15000, 1, nil, func() *model.Mixture { return randomMixture(t, rng, []float64{1}, 1, 0) }, .03},
		{"two", 2500, 20, nil, func() *model.Mixture { return randomMixture(t, rng, []float64{.5, .5}, 1, 12) }, .06},
		{"two of any scale", 2500, 20, nil, func() *model.Mixture {
			return lineOf(t, [3]float64{.6, 0, 1}, [3]float64{.4, 1e6 * rng.NormFloat64(), math.Exp(5 * rng.NormFloat64())})
		}, .08},
		{"two columns", 2500, 20, nil, func() *model.Mixture { return randomMixture(t, rng, []float64{1}, 2, 0) }, .06},
		{"two in two columns", 6000, 20, nil, func() *model.Mixture { return randomMixture(t, rng, []float64{.5, .5}, 2, 20) }, .06},
		{"known variance", 1000, 20, [][]float64{{4}}, func() *model.Mixture {
			return knowing(t, [][]float64{{4}}, []float64{.7, .3}, []float64{1e5 * rng.NormFloat64()}, []float64{7})
		}, .07},
		{"known covariance", 2000, 20, [][]float64{{4, 1.5}, {1.5, 1}}, func() *model.Mixture {
			return knowing(t, [][]float64{{4, 1.5}, {1.5, 1}}, []float64{.6, .4}, []float64{1e5 * rng.NormFloat64(), 0}, []float64{7, -4})
		}, .07},
	} {
		for j, rel := range relations {
			if !estimatetest.Long() && (i%2 != j || c.name == "two columns") {
				continue // two components in two columns are harder, and as dear
			}
			var errs []float64
			for range times {
				truth := c.truth()
				x := trial{rows: sample(t, rng, truth, c.n), d: truth.Dim(), k: len(truth.Components), eps: c.eps, relation: rel, known: c.known,
					noise: kerneltest.Options{Seed: rng.Uint64()}}
				f := x.fit(t, New(constants))
				if f.Model == nil {
					t.Logf("%s, %v: %v %v", c.name, rel, f.Refused, f.NoRelease)
					errs = append(errs, 1)
					continue
				}
				errs = append(errs, variation(t, truth, f.Model))
				if len(errs) == 1 {
					t.Logf("%s, %v: %v", c.name, rel, f.Diagnostics.Flags)
				}
			}
			slices.Sort(errs)
			t.Logf("%s, %v: total variation %.3f", c.name, rel, errs)
			if !(errs[len(errs)/2] <= c.most) {
				t.Errorf("%s, %v: the median is beyond %v", c.name, rel, c.most)
			}
		}
	}
}

// What cannot be enumerated ends without a release and with numbers: lists that are longer than the
// shortest there can be, after which Plan cannot know it, at the cost of the lists only.
func TestTooMany(t *testing.T) {
	rng := newRand(t)
	constants := Practical()
	constants.MostGaussians = len(constants.shortest(1, 2, false)[0])
	rows := sample(t, rng, lineOf(t, [3]float64{.5, 0, 1}, [3]float64{.5, 1e6, 1e3}), 20000)
	for _, rel := range relations {
		c := trial{rows: rows, d: 1, k: 2, eps: 20, relation: rel, noise: kerneltest.Options{Seed: rng.Uint64()}}
		f := c.fit(t, New(constants))
		if f.NoRelease == nil || !strings.Contains(f.NoRelease.Reason, "the lists are of about") || !strings.Contains(f.NoRelease.Reason, "can be enumerated") {
			t.Fatalf("%v: %+v, %v", rel, f.Outcome, f.Refused)
		}
		declared(t, f, c, New(constants))
	}
}

// declared fails the test unless the session of a fit that failed was opened with the budget of any
// other, and made measurements of its plan only.
func declared(t *testing.T, f estimatetest.Fit, c trial, e Estimator) {
	t.Helper()
	plan, err := e.Plan(c.problem())
	if err != nil {
		t.Fatal(err)
	}
	total, err := kernel.Calibrate(plan, c.relation, privacy.Budget{Epsilon: c.eps, Delta: delta})
	if err != nil {
		t.Fatal(err)
	}
	if f.Session.Mu() != total.Mu || f.Session.Loss().Mu > total.Mu {
		t.Errorf("mu = %v of %v, declared %v", f.Session.Loss().Mu, f.Session.Mu(), total.Mu)
	}
	made := f.Session.Measurements()
	for i, m := range made {
		if m.Step != plan.Steps[i].Name || m.Count != 1 {
			t.Errorf("measurement %d: %+v, planned %+v", i, m, plan.Steps[i])
		}
	}
	if len(made) == len(plan.Steps) {
		t.Error("a fit that failed made every measurement")
	}
}

// FAIL of the decoders is an ordinary outcome of the declared budget: no spread at all, and all
// scales at once.
func TestFail(t *testing.T) {
	rng := newRand(t)
	for _, rel := range relations {
		for name, value := range map[string]func() float64{
			"constant":  func() float64 { return 7 },
			"scattered": func() float64 { return math.Exp(1000 * (rng.Float64() - .5)) },
			"nulls":     math.NaN,
		} {
			rows := make([][]float64, 3000)
			for i := range rows {
				rows[i] = []float64{value()}
			}
			c := trial{rows: rows, d: 1, k: 1, eps: 20, relation: rel}
			f := c.fit(t, New(Practical()))
			if f.NoRelease == nil || !strings.Contains(f.NoRelease.Reason, "list of Gaussians is empty") {
				t.Fatalf("%v, %s: %+v, %v", rel, name, f.Outcome, f.Refused)
			}
			declared(t, f, c, New(Practical()))
		}
	}
}

// TestHardTables: whatever the rows, a fit ends in a sound model or in a reason, within its budget.
func TestHardTables(t *testing.T) {
	t.Parallel()
	rng := newRand(t)
	released, none := 0, 0
	for _, table := range estimatetest.Hard() {
		for _, rel := range relations {
			for _, n := range []int{0, 1, 3, 800} {
				for d := 1; d <= 2; d++ {
					for _, known := range [][][]float64{nil, {{1, .2}, {.2, 3}}, {{1e-200, 0}, {0, 1e200}}} {
						if known != nil {
							known = [][]float64{known[0][:d], known[1][:d]}[:d]
						}
						if !estimatetest.Long() && rng.IntN(24) > 0 {
							continue
						}
						k, constants := 1, Practical()
						constants.MostGaussians, constants.MostMixtures, constants.Refinements = 60, 60, rng.IntN(2)
						if rng.IntN(8) == 0 { // short lists of two are refused
							k = 2
							constants.MostGaussians, constants.MostMixtures = 400, 2000
						}
						constants.TruncatedLaplace = rng.IntN(2) == 0
						f := trial{rows: table.Rows(rng, n, d), d: d, k: k, eps: 20, relation: rel, known: known,
							shape: shapes[rng.IntN(2)], noise: kerneltest.Options{Seed: rng.Uint64()}}.fit(t, New(constants))
						if t.Failed() {
							t.Fatalf("%s: n %d d %d %v known %v", table.Name, n, d, rel, known)
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
// table the same answers lead to the same ones, down to the list that one is chosen from. Known
// covariances take turns with rows, and two columns have one fit, unless GAUZE_LONG is set.
func TestReplay(t *testing.T) {
	t.Parallel()
	rng := newRand(t)
	for _, rel := range relations {
		for d := 1; d <= 2; d++ {
			constants := Practical()
			constants.MostMixtures, constants.Refinements = []int{400, 62}[d-1], 3-d // two columns take longer
			rows := sample(t, rng, randomMixture(t, rng, []float64{1}, d, 0), 2500)
			for _, known := range []bool{false, true} {
				if d == 2 && (known || rel != privacy.ReplaceOne) && !estimatetest.Long() {
					continue
				}
				var own kerneltest.Transcript
				c := trial{rows: rows, d: d, k: 1, eps: 20, relation: rel, noise: kerneltest.Options{Seed: 1, Record: &own}}
				if known {
					c.known = [][]float64{{1e6, 0}, {0, 1e6}}[:d]
					for i := range c.known {
						c.known[i] = c.known[i][:d]
					}
				}
				f := c.fit(t, New(constants))
				if !known && f.Model == nil {
					t.Errorf("%v: a fit with all steps is wanted: %v", rel, f.NoRelease)
				}
				for i, v := range []float64{1e308, math.NaN(), 0, 40}[:5-2*d] {
					if d == 1 && known == (i%2 == 0) && !estimatetest.Long() {
						continue
					}
					row := make([]float64, d)
					for j := range row {
						row[j] = v
					}
					c.rows = append(slices.Clone(rows[1:]), row)
					if rel == privacy.AddRemoveOne {
						c.rows = append(slices.Clone(rows), row)
					}
					var again kerneltest.Transcript
					c.noise = kerneltest.Options{Replay: &own, Record: &again}
					f2 := c.fit(t, New(constants))
					if (f.Model == nil) != (f2.Model == nil) || !estimatetest.SameQuestions(own, again) {
						t.Errorf("%v %v: the same released values led elsewhere: %v, %v", rel, v, f.NoRelease, f2.NoRelease)
					}
				}
			}
		}
	}
}

// Every shape that can be asked for is that of the model, and one column is the same under either
// name.
func TestShapes(t *testing.T) {
	rng := newRand(t)
	constants := Practical()
	constants.MostMixtures = 40
	constants.Refinements = 2
	rows := sample(t, rng, randomMixture(t, rng, []float64{1}, 1, 0), 2000)
	for _, shape := range shapes {
		c := trial{rows: rows, d: 1, k: 1, eps: 20, relation: privacy.ReplaceOne, shape: shape, noise: kerneltest.Options{Seed: 5}}
		f, g := c.fit(t, New(constants)), c.fit(t, NewUnivariate(constants))
		if f.Model == nil || g.Model == nil || f.Model.Components[0].Cov.TypeName() != shape.String() ||
			f.Model.Components[0].Mean[0] != g.Model.Components[0].Mean[0] {
			t.Errorf("%v: %+v and %+v", shape, f.Outcome, g.Outcome)
		}
	}
	cov := [][]float64{{4, 1.5}, {1.5, 1}}
	truth := knowing(t, cov, []float64{1}, []float64{3, 4})
	for shape, want := range map[estimate.CovarianceType]string{estimate.Full: "full", estimate.Diagonal: "full"} {
		f := trial{rows: sample(t, rng, truth, 2000), d: 2, k: 1, eps: 20, relation: privacy.ReplaceOne, shape: shape, known: cov}.fit(t, New(constants))
		if f.Model == nil || f.Model.Components[0].Cov.TypeName() != want || math.Abs(f.Model.Components[0].Cov.At(0, 1)-1.5) > 1e-9 {
			t.Errorf("known covariance, %v: %+v", shape, f.Outcome)
		}
	}
}
