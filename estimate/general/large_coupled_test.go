package general

import (
	"math"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// TestLargeRowMore: where a sample is asked first, a row more changes no question, and no step of a
// fit, nor all of it, loses more than it was charged, whether the row is in the sample or not, with
// thresholds and without; and steps of the sample lose all of it if it is. The row is the last, so
// that all others keep their draws; the seeds are fixed, and coins do not depend on rows.
func TestLargeRowMore(t *testing.T) {
	const n, inSample = 16000, "units: center"
	rng := newRand(t)
	near, far := twoGroups(rng, n, 1), twoGroups(rng, n, 1)
	for i := range far {
		far[i][0] += 1e7 * float64(i%2)
	}
	missed, met := 0, 0
	for _, c := range []struct {
		row  float64
		asks estimatetest.Case
	}{
		{3, estimatetest.Case{Rows: near, Mu: .5}},
		{1e308, estimatetest.Case{Rows: near, Mu: .5, Components: 2}},
		{-5e-324, estimatetest.Case{Rows: near, Mu: .5, Components: 2}},
		{3, estimatetest.Case{Rows: far, Epsilon: 1, Delta: 1e-6}},
	} {
		for _, seed := range []uint64{0, 1, 4} {
			c.asks.Columns, c.asks.Relation, c.asks.Noise = 1, privacy.AddRemoveOne, kerneltest.Options{Seed: seed, Coupled: true}
			f, loss := estimatetest.Neighbours(t, enough(10), c.asks, append(slices.Clone(c.asks.Rows), []float64{c.row}))
			charged := map[string]float64{}
			for _, m := range f.Session.Measurements() {
				charged[m.Step] += float64(m.Count) * m.Mu * m.Mu
			}
			for step, lost := range loss.ByStep {
				if lost > charged[step]*(1+1e-9) {
					t.Errorf("a row of %v more: step %q loses mu^2 = %v of %v", c.row, step, lost, charged[step])
				}
			}
			if total := math.Pow(f.Session.Mu(), 2); loss.Path > total*(1+1e-9) {
				t.Errorf("a row of %v more: a path loses mu^2 = %v of %v", c.row, loss.Path, total)
			}
			switch lost := loss.ByStep[inSample]; {
			case lost == 0:
				missed++
			case lost > .99*charged[inSample]:
				met++
			}
		}
	}
	if missed < 3 || met < 3 {
		t.Errorf("of 12 fits a sample was without the row in %d and lost all it may in %d: the test could hardly fail", missed, met)
	}
}
