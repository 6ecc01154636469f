package general

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// BenchmarkMixtureFit is a whole fit of 20,000 rows of a mixture of five in ten columns, for five
// components and for a number that the fit finds.
func BenchmarkMixtureFit(b *testing.B) {
	const n, d = 20000, 10
	rng := rand.New(rand.NewPCG(1, 1))
	truth := estimatetest.Truth(b, rng, madeup.Moderate{Columns: d, Components: 5, Separation: 3, Kappa: 10, LeastWeight: .1})
	table := kerneltest.Table(estimatetest.Draw(b, truth, n, rng), d, privacy.ReplaceOne)
	budget := privacy.Budget{Epsilon: 1, Delta: 1e-6}
	for _, k := range []int{5, 0} {
		b.Run(fmt.Sprintf("components=%d", k), func(b *testing.B) {
			p := estimate.Problem{Columns: d, Rows: n, Relation: privacy.ReplaceOne, Mu: privacy.MuOf(budget.Epsilon, budget.Delta),
				Components: k, MaxComponents: 10}
			for b.Loop() {
				plan, err := tested.Plan(p)
				if err != nil {
					b.Fatal(err)
				}
				s := kerneltest.Open(b, table, plan, kernel.Terms{Relation: p.Relation, Budget: budget}, kerneltest.Options{Seed: 1})
				if out, err := tested.Fit(context.Background(), s, p); err != nil || out.Model == nil {
					b.Fatal("no model:", out.NoRelease, err)
				}
			}
		})
	}
}
