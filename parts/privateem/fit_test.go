package privateem

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts/component"
)

// A component that is one Gaussian has its rows where they should be, one that is two clusters has
// not, in few columns and in many, wherever they lie: of 20,000 rows, without noise. A Gaussian's
// misfit is what is left of 16 deviations of about one sd less 1.25: far below what is asked here.
func TestShells(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	const n = 20000
	for _, d := range []int{1, 2, 3, 8, 20} {
		rows, apart, to := make([][]float64, n), 3.0, make([]float64, d)
		for l := range to {
			to[l] = rng.NormFloat64()
		}
		norm := mat.Norm(mat.NewVecDense(d, to), 2)
		for i := range rows {
			rows[i] = make([]float64, d)
			for l := range rows[i] {
				rows[i][l] = rng.NormFloat64()
				if i%2 == 0 {
					rows[i][l] += float64(i%4-1) * apart * to[l] / norm
				} else if l == 0 {
					rows[i][l] += 100
				}
			}
		}
		two, one := symmetric.Identity(d), symmetric.Identity(d)
		two.SymRankOne(two, apart*apart/norm/norm, mat.NewVecDense(d, to))
		at := make([]float64, d)
		at[0] = 100
		r := &Rounds{Space: component.Flat(d), Form: query.FullForm, Rows: n, Factor: 1, Components: []component.Gaussian{
			{Weight: .5, Mean: make([]float64, d), Cov: two}, {Weight: .5, Mean: at, Cov: one}}}
		plan := kernel.Plan{Method: "m", Steps: []kernel.Step{{Name: "s", Query: query.PartsOf(query.DistanceCounts), Share: 1, Most: GoodnessOfFitReleases, Source: "s"}}}
		terms := kernel.Terms{Relation: privacy.AddRemoveOne, Budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}}
		s := kerneltest.Open(t, kerneltest.Table(rows, d, terms.Relation), plan, terms, kerneltest.Options{Exact: true})
		random := func(n, k int) Random { return rand.New(rand.NewPCG(uint64(n), uint64(k))) }
		if err := r.GoodnessOfFit(s.SubBudget(), "s", random, s.SubBudget().LeftMu()); err != nil {
			t.Fatal(err)
		}
		if both, alone := r.Components[0].Misfit, r.Components[1].Misfit; !(both > .1) || !(alone < .02) {
			t.Errorf("%d columns: misfit %v of two clusters, %v of one", d, both, alone)
		}
	}
}

// Axes turn a component into a sphere and back, the widest beside all of them first.
func TestAxes(t *testing.T) {
	r := &Rounds{Space: component.Flat(2), Components: []component.Gaussian{
		{Weight: .5, Mean: make([]float64, 2), Cov: mat.NewSymDense(2, []float64{100, 0, 0, 9})},
		{Weight: .5, Mean: make([]float64, 2), Cov: mat.NewSymDense(2, []float64{100, 0, 0, 1})}}}
	out, in := r.Axes(r.Components[0])
	var back mat.Dense
	if back.Mul(out, in); !mat.EqualApprox(&back, symmetric.Identity(2), 1e-12) {
		t.Errorf("out in = %v", mat.Formatted(&back))
	}
	if !mat.EqualApprox(symmetric.Congruence(in, r.Components[0].Cov), symmetric.Identity(2), 1e-12) || math.Abs(in.At(0, 0)) > 1e-12 {
		t.Errorf("in %v", mat.Formatted(in))
	}
}
