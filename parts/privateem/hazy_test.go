package privateem

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts/component"
)

// Of three components whose shapes are noise those stay that rows are near, whatever their weights
// say, and a sharp one is not asked for. Wider they become by what their noise is, within bounds.
func TestAttended(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	rows := make([][]float64, 2000)
	for i := range rows {
		rows[i] = []float64{rng.NormFloat64(), float64(i%2*20) + rng.NormFloat64()}
	}
	at := func(x, y, sigma float64) component.Gaussian {
		return component.Gaussian{Weight: .25, Mean: []float64{x, y}, Cov: symmetric.Identity(2), Sigma: sigma}
	}
	r := &Rounds{Space: component.Flat(2), Form: query.FullForm, Rows: 2000, Factor: 1,
		Components: []component.Gaussian{at(0, 0, 1), at(9, 0, 1), at(0, 20, 1), at(40, 40, .1)}}
	if r.Blur(); r.Components[0].Cov.At(0, 0) != 1+.2*4 || r.Components[3].Cov.At(1, 1) > 1.01 || r.Components[3].Cov.At(1, 1) <= 1 {
		t.Errorf("covariances %v, %v", mat.Formatted(r.Components[0].Cov), mat.Formatted(r.Components[3].Cov))
	}
	plan := kernel.Plan{Method: "m", Steps: []kernel.Step{{Name: "near", Query: query.PartsOf(query.Count{}.Kind()), Share: 1, Most: 1, Source: "s"}}}
	terms := kernel.Terms{Relation: privacy.AddRemoveOne, Budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}}
	s := kerneltest.Open(t, kerneltest.Table(rows, 2, terms.Relation), plan, terms, kerneltest.Options{Seed: 1})
	if err := r.Attended(s.SubBudget(), "near", s.SubBudget().LeftMu()); err != nil {
		t.Fatal(err)
	}
	total := 0.0
	for _, c := range r.Components {
		total += c.Weight
		if c.Mean[0] == 9 {
			t.Errorf("nobody is near %v", c.Mean)
		}
	}
	if len(r.Components) != 3 || math.Abs(total-1) > 1e-12 {
		t.Errorf("%d components of weight %v", len(r.Components), total)
	}
	if !r.Hazy(1e-3) || r.Hazy(10) {
		t.Error("shapes are noise in a release that says nothing, and in no other")
	}
}
