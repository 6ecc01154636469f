package blackbox

import (
	"math"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// What the audit claims of the whole fit, and at which epsilon it attacks the count and the rounds,
// whose own delta there is that of their mu.
const claimedEpsilon, claimedDelta, attacked = 3, .01, 1.5

// TestAudit attacks a fit with the likelihood ratio of its count and its rounds of EM, and with
// whether it ends in a model: Clopper-Pearson bounds certify no more than the claim, and on every
// path the loss, that of the test of agreement included, is at most mu^2; a quarter of the noise is
// caught. The mask is attacked in kernel/stable.
//
// False-alarm rate: 4e-9 for each of the right mechanisms. The wrong one, which needs the long run,
// is caught with probability above 1 - 1e-3.
func TestAudit(t *testing.T) {
	runs := 5
	if estimatetest.Long() {
		runs = 500
	}
	rng := newRand(t)
	base := twoGroups(rng, 800, 1)
	more := twoGroups(rng, 2500, 1)
	with := func(v float64) [][]float64 { return append(slices.Clone(base), []float64{v}) }
	for _, c := range []struct {
		name        string
		relation    privacy.Relation
		k           int
		x, y        [][]float64
		noiseFactor float64
		path        float64 // at least this part of mu^2 is lost on some path
		caught      bool
	}{
		{"add-remove, far row", privacy.AddRemoveOne, 1, with(1e30), base, 1, .8, false},
		{"add-remove, far row, two components", privacy.AddRemoveOne, 2, append(slices.Clone(more), []float64{1e30}), more, 1, .8, false},
		// They differ by what is measured of the mean alone: 4 Lift^2/(1 + Lift^2)^2 of the rounds.
		{"replace, two far rows", privacy.ReplaceOne, 1, with(1e30), with(-1e30), 1, .15, false},
		{"replace, a far row and one in the middle", privacy.ReplaceOne, 1, with(1e30), with(0), 1, .4, false},
		{"add-remove, a quarter of the noise", privacy.AddRemoveOne, 1, with(1e30), base, .25, .8, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			runs := runs
			if c.caught && estimatetest.Long() {
				runs *= 2
			}
			var beyond, released [2]int
			far, mu := 0.0, 0.0
			for side, own := range [2][][]float64{c.x, c.y} {
				other := [2][][]float64{c.y, c.x}[side]
				for range runs {
					f, loss := estimatetest.Neighbours(t, New(), estimatetest.Case{Rows: own, Columns: 1, Relation: c.relation, Epsilon: claimedEpsilon,
						Delta: claimedDelta, Components: c.k, Own: estimatetest.Signs{}, Noise: kerneltest.Options{Seed: rng.Uint64(), NoiseFactor: c.noiseFactor}}, other)
					if mu = f.Session.Mu(); f.Model != nil {
						released[side]++
					}
					far = max(far, loss.Path/(mu*mu))
					if side == 0 && loss.Ratio > attacked || side == 1 && -loss.Ratio > attacked {
						beyond[side]++
					}
				}
			}
			// the delta that the events certify at epsilon
			gain := func(events [2]int, epsilon float64) float64 {
				low, _ := stattest.ProportionBounds(t, events[0], runs, 2*stattest.FalseAlarm)
				_, high := stattest.ProportionBounds(t, events[1], runs, 2*stattest.FalseAlarm)
				return low - math.Exp(epsilon)*high
			}
			delta := privacy.DeltaOfMu(attacked, math.Sqrt(mu*mu-math.Pow(Usual().testMu(c.k, mu*mu), 2)))
			t.Logf("released %v of %d; beyond %v: %v, delta >= %.3f, claimed %.3f; pathwise loss <= %.4f mu^2", released, runs, attacked, beyond,
				gain(beyond, attacked), delta, far)
			if released[0] < runs/2 {
				t.Errorf("only %d of %d runs released a model: the audit sees too little of the fit", released[0], runs)
			}
			if far > 1+1e-9 || far < c.path {
				t.Errorf("the pathwise loss is up to %v of mu^2", far)
			}
			if caught := gain(beyond, attacked) > delta; caught != c.caught && (caught || estimatetest.Long()) {
				t.Errorf("delta %.4f is certified, claimed %.4f", gain(beyond, attacked), delta)
			}
			if !c.caught && (gain(released, claimedEpsilon) > claimedDelta || gain([2]int{released[1], released[0]}, claimedEpsilon) > claimedDelta) {
				t.Errorf("released %v of %d: more than epsilon %v and delta %v", released, runs, claimedEpsilon, claimedDelta)
			}
		})
	}
}
