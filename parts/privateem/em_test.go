package privateem

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts/component"
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

// TestBackgroundBounds: whatever the released count is, the background keeps its least weight and
// stays below its most, and what guards add to the variance of the whole is bounded. Where nobody
// is seen in it, it claims fewer than ten of 30,000 rows.
func TestBackgroundBounds(t *testing.T) {
	seed := stattest.Seed(t)
	rng := rand.New(rand.NewPCG(seed, seed>>32))
	for range 500 {
		b := NewBackground(component.Gaussian{Mean: []float64{0}, Cov: symmetric.Identity(1)}, query.FullForm)
		s := component.Sums{Count: 1e4 * rng.NormFloat64() * math.Pow(10, 6*rng.Float64()-3), CountSD: 1e3 * rng.Float64()}
		b.update([]component.Sums{s, s}, 1e4)
		parts := b.Parts()
		if w := parts[0].Weight; !(w >= leastWeight && w <= backgroundMost) || s.Count < backgroundSDs*s.CountSD && w != leastWeight {
			t.Fatalf("the background weighs %v on a count of %v +- %v", w, s.Count, s.CountSD)
		} else if s.Count <= 0 && w*30_000 >= 10 {
			t.Fatalf("the background claims %v of 30,000 rows, of which none was seen", w*30_000)
		}
		for _, g := range parts[len(rungs):] {
			if spread := g.Weight * g.Cov.At(0, 0); spread > guardSpread*(1+1e-9) {
				t.Fatalf("a guard adds %v to the variance", spread)
			}
		}
	}
}

// TestBackgroundShape: rows that are far in one column, on one side, make a background that is far
// there, and as narrow as the table in a column that depends on it no more than rows do.
func TestBackgroundShape(t *testing.T) {
	seed := stattest.Seed(t)
	rng := rand.New(rand.NewPCG(seed, seed>>32))
	whole := component.Gaussian{Mean: []float64{1, 2}, Cov: mat.NewSymDense(2, []float64{1, 1.2, 1.2, 4})}
	b := NewBackground(whole, query.FullForm)
	_, inv, _ := symmetric.Factor(b.near[1].Cov)
	s := component.Sums{CountSD: 10, Sum: make([]float64, 2), SumSD: 10, Second: mat.NewSymDense(2, nil), SecondSD: 10}
	for range 1000 {
		var z mat.VecDense
		z.MulVec(inv, mat.NewVecDense(2, []float64{3 + rng.NormFloat64(), 2 * rng.NormFloat64()}))
		s.Count++
		floats.Add(s.Sum, z.RawVector().Data)
		s.Second.SymRankOne(s.Second, 1, &z)
	}
	b.update([]component.Sums{{CountSD: 10}, s}, 1e5)
	g := b.Parts()[1]
	if sd := math.Sqrt(g.Cov.At(1, 1)); math.Abs(g.Mean[0]-4) > .3 || g.Mean[1] != 2 || sd > 1.2*2 || g.Cov.At(0, 0) > 2 {
		t.Errorf("mean %v, covariance %v", g.Mean, mat.Formatted(g.Cov))
	}
	if g := b.Parts()[len(rungs)]; g.Mean[0] != 1 || g.Cov.At(0, 0) != wide[0] {
		t.Errorf("the guard is %v", g)
	}
}

// TestBackgroundNoise: of few rows, whose mean is known to a third of what it is, noise does not
// make a background that is too narrow to hold them, and it does not claim more of them than there
// are, by more than a twentieth in the mean.
//
// False-alarm rate: below 1e-6; of 2,000 backgrounds 1 in 50 is too narrow.
func TestBackgroundNoise(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 3))
	const rows, at, variance, sd, all = 200, 1.5, .3, 55.0, 1e5
	narrow, seen, claimed := 0, 0, 0.0
	for range 2000 {
		b := NewBackground(component.Gaussian{Mean: []float64{0}, Cov: symmetric.Identity(1)}, query.FullForm)
		noisy := func(x float64) float64 { return x + sd*rng.NormFloat64() }
		s := component.Sums{Count: noisy(rows), CountSD: sd, Sum: []float64{noisy(rows * at)}, SumSD: sd, Second: mat.NewSymDense(1, []float64{noisy(rows * (at*at + variance))}), SecondSD: sd}
		b.update([]component.Sums{{CountSD: sd}, s}, all)
		if g := b.Parts()[1]; s.Count > backgroundSDs*sd {
			seen++
			claimed += g.Weight * all
			if g.Cov.At(0, 0) < rungs[1]*variance {
				narrow++
			}
		}
	}
	if narrow > seen/20 || claimed > 1.05*rows*float64(seen) {
		t.Errorf("of %d backgrounds %d are too narrow; they claim %.0f of %d rows in the mean", seen, narrow, claimed/float64(seen), rows)
	}
}

// Joining many components stops with the context: it is asked before every pair that is looked at,
// and from when it is done nothing is joined.
func TestJoiningStops(t *testing.T) {
	const d, k = 3, 12
	for name, join := range map[string]func(ctx context.Context, r *Rounds, random func(int, int) Random) error{
		"merge": func(ctx context.Context, r *Rounds, _ func(int, int) Random) error { return r.Merge(ctx, 1) },
		"reduce": func(ctx context.Context, r *Rounds, random func(int, int) Random) error {
			return r.MergeTo(ctx, random, 2, .1)
		},
		"simplify": func(ctx context.Context, r *Rounds, random func(int, int) Random) error {
			return r.MergeIndistinct(ctx, random, 1)
		},
	} {
		left := 0
		asks, most := stattest.StopsWhenDone(t, 23, func() (func(context.Context) error, func() int) {
			random := rand.New(rand.NewPCG(1, 2))
			r := &Rounds{Space: component.Space{Columns: make([]int, d)}, Form: query.FullForm, Rows: 20000, Factor: math.Sqrt2, Misfit: 1}
			for range k {
				g := component.Gaussian{Weight: 1. / k, Mean: make([]float64, d), Cov: symmetric.Identity(d)}
				for i := range g.Mean {
					g.Mean[i] = .1 * random.NormFloat64()
				}
				r.Components = append(r.Components, g)
			}
			return func(ctx context.Context) error {
				err := join(ctx, r, func(int, int) Random { return random })
				left = len(r.Components)
				return err
			}, func() int { return k - len(r.Components) }
		})
		pairs := 0
		for n := k; n > left; n-- {
			pairs += n * (n - 1) / 2
		}
		if asks < pairs || left > k/2 || most > 1 {
			t.Errorf("%s: asked %d times while %d components became %d, which is %d pairs; %d joined between two times", name, asks, k, left, pairs, most)
		}
	}
}
