package coreset

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/model"
)

// clusteredCoreset draws n weighted points around k random centres.
func clusteredCoreset(rng *rand.Rand, n, dim, k int) *Coreset {
	c := &Coreset{Dim: dim}
	centers := make([][]float64, k)
	for j := range centers {
		for range dim {
			centers[j] = append(centers[j], 3*rng.NormFloat64())
		}
	}
	for range n {
		var point, cell []float64
		for _, m := range centers[rng.IntN(k)] {
			point, cell = append(point, m+.6*rng.NormFloat64()), append(cell, .05*rng.Float64())
		}
		w := 100 * rng.ExpFloat64()
		c.Points, c.Cells, c.Weights, c.Total = append(c.Points, point), append(c.Cells, cell), append(c.Weights, w), c.Total+w
	}
	return c
}

// uniform are the generators of the starts.
func uniform(start int) func() float64 { return rand.New(rand.NewPCG(uint64(start), 0)).Float64 }

// The likelihood that EM reports is that of the mixture it returns, by the package model.
func TestCoresetLikelihood(t *testing.T) {
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 1))
		dim, k := 1+int(seed)%4, 1+int(seed)%5
		c := clusteredCoreset(rng, 40+20*int(seed), dim, k)
		m, _ := Fit(t.Context(), c, k, 4, uniform)
		var gs []model.Gaussian
		for j := range m.Weights {
			cov, err := model.NewFull(m.Covs[j])
			if err != nil {
				t.Fatal(err)
			}
			gs = append(gs, model.Gaussian{Mean: m.Means[j], Cov: cov})
		}
		truth, err := model.New(nil, m.Weights, gs)
		if err != nil {
			t.Fatal(err)
		}
		scorer, err := model.NewScorer(truth)
		if err != nil {
			t.Fatal(err)
		}
		want := 0.0
		for i, x := range c.Points {
			want += c.Weights[i] * scorer.LogDensity(x)
		}
		if math.Abs(m.LogLik-want) > 1e-9*math.Abs(want) {
			t.Errorf("seed %d: log-likelihood %v, the model's is %v", seed, m.LogLik, want)
		}
	}
}

// One M-step from a hard assignment against the formulas of maximise, written out with matrices.
func TestCoresetMaximise(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n, dim, k = 50, 3, 4
	c := clusteredCoreset(rng, n, dim, k)
	assign := make([]int, n)
	for i := range assign {
		assign[i] = i % k
	}
	got := newEM(pointsOf(c), assign).mixture()
	pool := mat.NewSymDense(dim, nil)
	var mass [k]float64
	var scatter [k]*mat.SymDense
	for j := range k {
		mean := mat.NewVecDense(dim, nil)
		for i := j; i < n; i += k {
			mass[j] += c.Weights[i]
			mean.AddScaledVec(mean, c.Weights[i], mat.NewVecDense(dim, c.Points[i]))
		}
		mean.ScaleVec(1/mass[j], mean)
		scatter[j] = mat.NewSymDense(dim, nil)
		for i := j; i < n; i += k {
			diff := mat.NewVecDense(dim, nil)
			diff.SubVec(mat.NewVecDense(dim, c.Points[i]), mean)
			scatter[j].SymRankOne(scatter[j], c.Weights[i], diff)
		}
		pool.AddSym(pool, scatter[j])
		for l := range dim {
			agree(t, "mean", got.Means[j][l], mean.AtVec(l))
		}
		agree(t, "weight", got.Weights[j], mass[j]/c.Total)
	}
	_, all := c.moments()
	cell := c.meanCell()
	pull := poolWeight * c.Total / k
	for j := range k {
		for a := range dim {
			for b := range dim {
				want := (scatter[j].At(a, b) + pull*pool.At(a, b)/c.Total) / (mass[j] + pull)
				if a == b {
					want += PooledFloor*cell[a] + 1e-9*all.At(a, a)
				}
				agree(t, "covariance", got.Covs[j].At(a, b), want)
			}
		}
	}
}

func agree(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// TestNearest: a fit without steps is the M-step from the nearest means, without those that no
// point is nearest to; more steps never lower the likelihood by more than the regularisation costs.
func TestNearest(t *testing.T) {
	rng := newRand(t)
	for range 20 {
		dim := 1 + rng.IntN(3)
		c := clusteredCoreset(rng, 120, dim, 1+rng.IntN(4))
		far := make([]float64, dim)
		far[0] = 1e6
		means := [][]float64{far, c.Points[0], far, c.Points[1], c.Points[2]}
		got := FitAll(t.Context(), c, [][]int{c.Nearest(means)}, 0)[0]
		if len(got.Weights) != 3 {
			t.Fatalf("%d components from means of which 3 have points", len(got.Weights))
		}
		for j, at := range []int{1, 3, 4} {
			mass := 0.0
			sum := make([]float64, dim)
			for i, x := range c.Points {
				if closest(x, means) == at {
					mass += c.Weights[i]
					for l, v := range x {
						sum[l] += c.Weights[i] * v
					}
				}
			}
			agree(t, "weight", got.Weights[j], mass/c.Total)
			for l := range sum {
				agree(t, "mean", got.Means[j][l], sum[l]/mass)
			}
		}
		if more := FitAll(t.Context(), c, [][]int{c.Nearest(means)}, 30)[0]; more.LogLik < got.LogLik-.05*c.Total {
			t.Errorf("30 steps lower the log-likelihood from %v to %v", got.LogLik, more.LogLik)
		}
	}
}

// TestFitIsAFunction: the same coreset and the same generators give the same fit, whatever the
// goroutines do.
func TestFitIsAFunction(t *testing.T) {
	c := clusteredCoreset(newRand(t), 200, 2, 4)
	first, _ := Fit(t.Context(), c, 4, 6, uniform)
	for range 5 {
		if again, _ := Fit(t.Context(), c, 4, 6, uniform); !reflect.DeepEqual(again, first) {
			t.Fatal("two fits of one coreset differ")
		}
	}
}

// BenchmarkFit is EM on 1000 points: all that a fit of a mixture does between its scans.
func BenchmarkFit(b *testing.B) {
	c := clusteredCoreset(rand.New(rand.NewPCG(1, 1)), 1000, 4, 6)
	for b.Loop() {
		Fit(b.Context(), c, 8, 7, uniform)
	}
}

// Fits that would take long stop with their context.
func TestFitsStop(t *testing.T) {
	c := clusteredCoreset(newRand(t), 4000, mostCoordinates, 5)
	means := c.Points[:60]
	assign := make([]int, len(c.Points))
	for i := range assign {
		assign[i] = i % 60
	}
	all := func(ctx context.Context, start []int) error {
		if fits := FitAll(ctx, c, [][]int{start}, 10000); len(fits) > 0 {
			t.Errorf("%d fits, though the context is done", len(fits))
		}
		return ctx.Err()
	}
	for _, fit := range []func(ctx context.Context) (*Mixture, error){
		func(ctx context.Context) (*Mixture, error) { return Fit(ctx, c, 60, 200, uniform) },
		func(ctx context.Context) (*Mixture, error) { return nil, all(ctx, c.Nearest(means)) },
		func(ctx context.Context) (*Mixture, error) { return nil, all(ctx, assign) },
	} {
		stattest.Stops(t, func(ctx context.Context) error {
			_, err := fit(ctx)
			return err
		})
	}
}

// closest is the first of the nearest centres.
func closest(x []float64, centers [][]float64) int {
	at := 0
	for j, c := range centers {
		if floats.Distance(x, c, 2) < floats.Distance(x, centers[at], 2) {
			at = j
		}
	}
	return at
}
