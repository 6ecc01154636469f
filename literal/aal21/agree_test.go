package aal21

import (
	"context"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/estimate/univariate"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// Section 8 of the restatement, test 7: on instances of a few hundred rows and at large epsilon the
// literal algorithm and the practical one agree to total variation .06: the median does (measured
// .01 for one component and .03 for two).
func TestAgreesWithPractical(t *testing.T) {
	t.Parallel()
	rng, times, constants := newRand(t), 9, Practical()
	if !estimatetest.Long() {
		times, constants.MostMixtures = 3, 20000
	}
	for _, c := range []struct {
		weights []float64
		n       int
	}{{[]float64{1}, 400}, {[]float64{.5, .5}, 800}} {
		var between []float64
		for range times {
			truth := randomMixture(t, rng, c.weights, 1, 12)
			x := trial{rows: sample(t, rng, truth, c.n), d: 1, k: len(c.weights), eps: 20, relation: privacy.ReplaceOne, noise: kerneltest.Options{Seed: rng.Uint64()}}
			f := x.fit(t, NewUnivariate(constants))
			plan, err := univariate.New().Plan(x.problem())
			if err != nil {
				t.Fatal(err)
			}
			out, err := univariate.New().Fit(context.Background(), x.open(t, plan), x.problem())
			if err != nil {
				t.Fatal(err)
			}
			if f.Model == nil || out.Model == nil {
				t.Errorf("no model: %v, %v and %v", f.Refused, f.NoRelease, out.NoRelease)
				continue
			}
			between = append(between, variation(t, f.Model, out.Model))
		}
		slices.Sort(between)
		t.Logf("%v: total variation %.3f", c.weights, between)
		if len(between) < times || between[times/2] > .06 {
			t.Errorf("%v: the median is beyond .06", c.weights)
		}
	}
}
