package mixture

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/model"
)

// clusteredCoreset draws n weighted points around k random centres.
func clusteredCoreset(rng *rand.Rand, n, dim, k int) *coreset {
	c := &coreset{dim: dim}
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
		c.points, c.cell, c.weight, c.total = append(c.points, point), append(c.cell, cell), append(c.weight, w), c.total+w
	}
	return c
}

// The likelihood that EM reports is that of the mixture it returns, by the package model.
func TestCoresetLikelihood(t *testing.T) {
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 1))
		dim, k := 1+int(seed)%4, 1+int(seed)%5
		c := clusteredCoreset(rng, 40+20*int(seed), dim, k)
		m := fitCoreset(c, k, 4)
		var gs []model.Gaussian
		for j := range m.w {
			cov, err := model.NewFull(m.cov[j])
			if err != nil {
				t.Fatal(err)
			}
			gs = append(gs, model.Gaussian{Mean: m.mean[j], Cov: cov})
		}
		truth, err := model.New(nil, m.w, gs)
		if err != nil {
			t.Fatal(err)
		}
		scorer, err := model.NewScorer(truth)
		if err != nil {
			t.Fatal(err)
		}
		want := 0.0
		for i, x := range c.points {
			want += c.weight[i] * scorer.LogDensity(x)
		}
		if math.Abs(m.loglik-want) > 1e-9*math.Abs(want) {
			t.Errorf("seed %d: log-likelihood %v, the model's is %v", seed, m.loglik, want)
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
	got := newCoresetEM(pointsOf(c), assign).mixture()
	pool := mat.NewSymDense(dim, nil)
	var mass [k]float64
	var scatter [k]*mat.SymDense
	for j := range k {
		mean := mat.NewVecDense(dim, nil)
		for i := j; i < n; i += k {
			mass[j] += c.weight[i]
			mean.AddScaledVec(mean, c.weight[i], mat.NewVecDense(dim, c.points[i]))
		}
		mean.ScaleVec(1/mass[j], mean)
		scatter[j] = mat.NewSymDense(dim, nil)
		for i := j; i < n; i += k {
			diff := mat.NewVecDense(dim, nil)
			diff.SubVec(mat.NewVecDense(dim, c.points[i]), mean)
			scatter[j].SymRankOne(scatter[j], c.weight[i], diff)
		}
		pool.AddSym(pool, scatter[j])
		for l := range dim {
			agree(t, "mean", got.mean[j][l], mean.AtVec(l))
		}
		agree(t, "weight", got.w[j], mass[j]/c.total)
	}
	_, all := c.moments()
	cell := c.meanCell()
	pull := poolWeight * c.total / k
	for j := range k {
		for a := range dim {
			for b := range dim {
				want := (scatter[j].At(a, b) + pull*pool.At(a, b)/c.total) / (mass[j] + pull)
				if a == b {
					want += cellFloor*cell[a] + 1e-9*all.At(a, a)
				}
				agree(t, "covariance", got.cov[j].At(a, b), want)
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
