package mixture

import (
	"math"
	"testing"

	"github.com/gauze-dp/gauze/blocks/component"
	"github.com/gauze-dp/gauze/blocks/linalg"
	"github.com/gauze-dp/gauze/blocks/moments"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// TestMerge: identical components become one; distant ones never do.
func TestMerge(t *testing.T) {
	for _, shape := range shapes {
		for _, mu := range []float64{.05, 1, 1e3} {
			r := &rounds{space: component.Space{Columns: []int{0, 1, 2}}, shape: shape, rows: 20000, factor: math.Sqrt2, misfit: misfit}
			g := component.Gaussian{Weight: .3, Mean: make([]float64, 3), Cov: linalg.Identity(3)}
			far := component.Gaussian{Weight: .4, Mean: []float64{40, 0, 0}, Cov: linalg.Identity(3)}
			r.components = []component.Gaussian{g, far, g}
			r.merge(mu)
			if len(r.components) != 2 {
				t.Fatalf("%v mu %v: %d components of two equal and one far", shape, mu, len(r.components))
			}
			for _, c := range r.components {
				if c.Mean[0] == 0 && math.Abs(c.Weight-.6) > 1e-12 || c.Mean[0] == 40 && c.Weight != .4 {
					t.Errorf("weights %v", c.Weight)
				}
			}
		}
	}
}

// TestBackgroundBounds: whatever the released counts are, each rung keeps its least weight, all together stay below their most, and what
// a rung without rows adds to the variance of the whole is bounded.
func TestBackgroundBounds(t *testing.T) {
	rng := newRand(t)
	for range 500 {
		b := newBackground(component.Gaussian{Mean: []float64{0}, Cov: linalg.Identity(1)}, estimate.Full)
		sums := make([]moments.Sums, len(rungs))
		for i := range sums {
			sums[i].Count = 1e4 * rng.NormFloat64() * math.Pow(10, 6*rng.Float64()-3)
			sums[i].CountSD = 1e3 * rng.Float64()
		}
		b.update(sums, 1e4)
		if total := b.total(); !(total > 0 && total <= backgroundMost*(1+1e-12)) {
			t.Fatalf("the background weighs %v", total)
		}
		for i, w := range b.weight {
			if w < least(rungs[i]) || least(rungs[i])*rungs[i] > leastSpread*(1+1e-12) {
				t.Fatalf("rung %v weighs %v, at least %v", rungs[i], w, least(rungs[i]))
			}
			if sums[i].Count < backgroundSDs*sums[i].CountSD && w != least(rungs[i]) {
				t.Fatalf("rung %v weighs %v on a count of %v +- %v", rungs[i], w, sums[i].Count, sums[i].CountSD)
			}
		}
	}
}

// TestExpectNeverFails: what a planner is told is finite for any problem.
func TestExpectNeverFails(t *testing.T) {
	for _, c := range combinations() {
		for _, n := range []int{0, 1, 100, 1 << 40} {
			for _, d := range []int{1, 3, 60} {
				for _, mu := range []float64{1e-6, muOne, 1e4} {
					p := c.Problem()
					p.Columns, p.Mu = d, mu
					if p.Relation == privacy.ReplaceOne {
						p.Rows = n
					}
					if e := New().Expect(p); !linalg.Finite(e.RowsNeeded) || !linalg.Finite(e.RelativeError) || e.RowsNeeded < 0 {
						t.Errorf("%+v: %+v", p, e)
					}
				}
			}
		}
	}
}
