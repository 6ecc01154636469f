package axisaligned

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// BenchmarkFit is a whole fit of 100,000 rows of a mixture of three in four columns, for three
// components and for a number that the fit finds.
func BenchmarkFit(b *testing.B) {
	const n, d = 100000, 4
	rng := rand.New(rand.NewPCG(1, 1))
	truth := estimatetest.Truth(b, rng, anywhere{Columns: d, Components: 3})
	table := kerneltest.Table(estimatetest.Draw(b, truth, n, rng), d, privacy.ReplaceOne)
	budget := privacy.Budget{Epsilon: 1, Delta: delta}
	for _, k := range []int{3, 0} {
		b.Run(fmt.Sprintf("components=%d", k), func(b *testing.B) {
			p := estimate.Problem{Columns: d, Rows: n, Relation: privacy.ReplaceOne, Mu: privacy.MuOf(budget.Epsilon, budget.Delta), Components: k, MaxComponents: 10}
			plan, err := tested.Plan(p)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				s := kerneltest.Open(b, table, plan, kernel.Terms{Relation: p.Relation, Budget: budget}, kerneltest.Options{Seed: 1})
				if out, err := tested.Fit(context.Background(), s, p); err != nil || out.Model == nil {
					b.Fatal("no model:", out.NoRelease, err)
				}
			}
		})
	}
}
