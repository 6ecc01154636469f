package aal21

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/literal/paper"
	"github.com/gauze-dp/gauze/model"
)

// The roots are of correlation matrices, each once, and of two columns one is within half a step of
// any correlation that is allowed, on the scale where steps are equal.
func TestCorrelationNet(t *testing.T) {
	l := correlated{decoded{coordinates: make([][]rough, 3)}, .95}
	turns := l.turns(.5)
	seen := map[[3]float64]bool{}
	for i := range len(turns) * len(turns) * len(turns) {
		root := correlationRoot(3, turns, i)
		var r mat.Dense
		r.Mul(root, root.T())
		seen[[3]float64{r.At(0, 1), r.At(0, 2), r.At(1, 2)}] = true
		for j := range 3 {
			if math.Abs(r.At(j, j)-1) > 1e-12 || !(root.At(j, j) > 0) {
				t.Fatalf("no correlation matrix: %v", mat.Formatted(&r))
			}
		}
	}
	if len(seen) != len(turns)*len(turns)*len(turns) {
		t.Errorf("%d correlation matrices of %d", len(seen), len(turns)*len(turns)*len(turns))
	}
	for rho := -.9; rho <= .9; rho += .01 {
		if !slices.ContainsFunc(turns, func(v float64) bool { return math.Abs(math.Atanh(v)-math.Atanh(rho)) <= .25+1e-9 }) {
			t.Errorf("no correlation near %v in %v", rho, turns)
		}
	}
}

// The list of a correlated Gaussian has a member near it, and the reduction with it learns the
// Gaussian: fits of 3000 and 4000 rows ended at .012 to .022.
//
// Shows: [AAL21] Theorem 3.2; Theorem 1.4.
func TestGeneral(t *testing.T) {
	t.Parallel()
	rng := newRand(t)
	for _, rel := range relations {
		rho := .9 * (2*rng.Float64() - 1)
		scale := math.Exp(5 * rng.NormFloat64())
		cov, err := model.NewFull(mat.NewSymDense(2, []float64{4, 2 * rho * scale, 2 * rho * scale, scale * scale}))
		if err != nil {
			t.Fatal(err)
		}
		truth := &model.Mixture{Columns: model.DefaultColumns(2), Weights: []float64{1}, Components: []model.Gaussian{{Mean: []float64{1e4 * rng.NormFloat64(), 7}, Cov: cov}}}
		c := trial{rows: sample(t, rng, truth, 4000), d: 2, k: 1, eps: 20, relation: rel, shape: estimate.Full, noise: kerneltest.Options{Seed: rng.Uint64()}}
		r, mu2 := c.alone(t, Practical())
		l, err := general{axisAligned{Practical()}}.Decode(c.sample(r, mu2))
		if err != nil {
			t.Fatal(err)
		}
		nearest := 1.0
		for _, g := range l.Net(1. / 2) {
			nearest = math.Min(nearest, model.GaussianHellinger(asModel(t, g), truth.Components[0]))
		}
		if !(nearest < .3) {
			t.Errorf("%v: the nearest of the list is %v away", rel, nearest)
		}
		if !estimatetest.Long() && rel != relations[0] {
			continue
		}
		constants := Practical()
		if !estimatetest.Long() {
			constants.Refinements = 3 // for time
		}
		f := c.fit(t, NewGeneral(constants))
		if f.Model == nil {
			t.Fatalf("%v: %v %v", rel, f.Refused, f.NoRelease)
		}
		tv := variation(t, truth, f.Model)
		t.Logf("%v: correlation %.2f, nearest %.3f, total variation %.3f", rel, rho, nearest, tv)
		if tv > .06 || f.Model.Components[0].Cov.TypeName() != "full" {
			t.Errorf("%v: total variation %v", rel, tv)
		}
	}
}

func asModel(t *testing.T, g paper.Gaussian) model.Gaussian {
	cov, err := model.FullFromFactor(g.L)
	if err != nil {
		t.Fatal(err)
	}
	return model.Gaussian{Mean: g.Mean, Cov: cov}
}
