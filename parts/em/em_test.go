package em

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/internal/canceltest"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/moments"
)

// TestMerge: identical components become one; distant ones never do.
func TestMerge(t *testing.T) {
	for _, form := range []query.Form{query.FullForm, query.DiagonalForm, query.SphericalForm} {
		for _, mu := range []float64{.05, 1, 1e3} {
			r := &Rounds{Space: component.Space{Columns: []int{0, 1, 2}}, Form: form, Rows: 20000, Factor: math.Sqrt2, Misfit: 1}
			g := component.Gaussian{Weight: .3, Mean: make([]float64, 3), Cov: symmetric.Identity(3)}
			far := component.Gaussian{Weight: .4, Mean: []float64{40, 0, 0}, Cov: symmetric.Identity(3)}
			r.Components = []component.Gaussian{g, far, g}
			r.Merge(t.Context(), mu)
			if len(r.Components) != 2 {
				t.Fatalf("%v mu %v: %d components of two equal and one far", form, mu, len(r.Components))
			}
			for _, c := range r.Components {
				if c.Mean[0] == 0 && math.Abs(c.Weight-.6) > 1e-12 || c.Mean[0] == 40 && c.Weight != .4 {
					t.Errorf("weights %v", c.Weight)
				}
			}
		}
	}
}

// TestBackgroundBounds: whatever the released counts are, each rung keeps its least weight, all
// together stay below their most, and what a rung without rows adds to the variance of the whole is
// bounded.
func TestBackgroundBounds(t *testing.T) {
	seed := stattest.Seed(t)
	rng := rand.New(rand.NewPCG(seed, seed>>32))
	for range 500 {
		b := NewBackground(component.Gaussian{Mean: []float64{0}, Cov: symmetric.Identity(1)}, query.FullForm)
		sums := make([]moments.Sums, len(rungs))
		for i := range sums {
			sums[i].Count = 1e4 * rng.NormFloat64() * math.Pow(10, 6*rng.Float64()-3)
			sums[i].CountSD = 1e3 * rng.Float64()
		}
		b.update(sums, 1e4)
		if total := b.Total(); !(total > 0 && total <= backgroundMost*(1+1e-12)) {
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

// Joining many components stops with the context.
func TestJoiningStops(t *testing.T) {
	const d, k = 12, 200
	random := rand.New(rand.NewPCG(1, 2))
	many := func() *Rounds {
		r := &Rounds{Space: component.Space{Columns: make([]int, d)}, Form: query.FullForm, Rows: 20000, Factor: math.Sqrt2, Misfit: 1}
		for range k {
			g := component.Gaussian{Weight: 1. / k, Mean: make([]float64, d), Cov: symmetric.Identity(d)}
			for i := range g.Mean {
				g.Mean[i] = .1 * random.NormFloat64()
			}
			r.Components = append(r.Components, g)
		}
		return r
	}
	canceltest.Stops(t, func(ctx context.Context) error { return many().Merge(ctx, 1) })
	canceltest.Stops(t, func(ctx context.Context) error { return many().Reduce(ctx, 2) })
	canceltest.Stops(t, func(ctx context.Context) error {
		return many().Simplify(ctx, func(int, int) Random { return random })
	})
}
