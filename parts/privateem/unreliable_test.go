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

// Of three components whose shapes are noise those stay that rows are counted for, and a sharp one
// stays anyway. Rows outside are counted. Noisy covariances become wider, and those that are mostly
// noise are drawn towards their diagonals, which stay.
func TestCount(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	rows := make([][]float64, 2000)
	for i := range rows {
		switch {
		case i%10 == 0:
			rows[i] = []float64{500, 500}
		case i%4 == 0:
			rows[i] = []float64{rng.NormFloat64(), rng.NormFloat64()}
		default:
			rows[i] = []float64{rng.NormFloat64(), 20 + rng.NormFloat64()}
		}
	}
	at := func(x, y, sigma float64) component.Gaussian {
		return component.Gaussian{Weight: .25, Mean: []float64{x, y}, Cov: symmetric.Of(2, func(i, j int) float64 { return 1 - .5*math.Abs(float64(i-j)) }), Sigma: sigma, CountSD: 500}
	}
	r := &Rounds{Space: component.Flat(2), Form: query.FullForm, Rows: 2000, Factor: 1,
		Components: []component.Gaussian{at(0, 0, 1.1), at(90, 0, 1), at(0, 20, 1), at(40, 40, .1)}}
	r.Shrink()
	if noisy, sharp := r.Components[0].Cov, r.Components[3].Cov; noisy.At(0, 0) != 1 || math.Abs(noisy.At(0, 1)-.5/(1+.2*4.84)) > 1e-12 || math.Abs(sharp.At(1, 1)-1.008) > 1e-12 || math.Abs(sharp.At(0, 1)-.504) > 1e-12 {
		t.Errorf("covariances %v, %v", mat.Formatted(r.Components[0].Cov), mat.Formatted(r.Components[3].Cov))
	}
	plan := kernel.Plan{Method: "m", Steps: []kernel.Step{{Name: "count", Query: query.PartsOf(query.Count{}.Kind()), Share: 1, Most: 1, Source: "s"}}}
	terms := kernel.Terms{Relation: privacy.AddRemoveOne, Budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}}
	s := kerneltest.Open(t, kerneltest.Table(rows, 2, terms.Relation), plan, terms, kerneltest.Options{Seed: 1})
	if err := r.Count(s.SubBudget(), "count", s.SubBudget().LeftMu(), true); err != nil {
		t.Fatal(err)
	}
	total := 0.0
	for _, c := range r.Components {
		if total += c.Weight; c.Mean[0] == 90 {
			t.Errorf("nobody is near %v", c.Mean)
		}
	}
	if share, noise := r.LeftOut(); math.Abs(share-.1) > 6*noise {
		t.Errorf("%v outside, give or take %v", share, noise)
	}
	if len(r.Components) != 3 || math.Abs(total-1) > 1e-12 {
		t.Errorf("%d components of weight %v", len(r.Components), total)
	}
}
