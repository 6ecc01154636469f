package gaussian

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// BenchmarkGaussianFit is a whole fit of 50,000 rows of ten correlated columns, with the number of
// its scans.
func BenchmarkGaussianFit(b *testing.B) {
	const n, d = 50000, 10
	rng := rand.New(rand.NewPCG(1, 1))
	truth := estimatetest.Truth(b, rng, madeup.Moderate{Columns: d, Components: 1, Kappa: 100, Offset: 50})
	table := kerneltest.Table(estimatetest.Draw(b, truth, n, rng), d, privacy.ReplaceOne)
	budget := privacy.Budget{Epsilon: 1, Delta: 1e-6}
	p := estimate.Problem{Columns: d, Rows: n, Relation: privacy.ReplaceOne, Mu: privacy.MuOf(budget.Epsilon, budget.Delta)}
	scans := 0
	for b.Loop() {
		plan, err := New().Plan(p)
		if err != nil {
			b.Fatal(err)
		}
		s := kerneltest.Open(b, table, plan, kernel.Terms{Relation: p.Relation, Budget: budget}, kerneltest.Options{Seed: 1})
		if out, err := New().Fit(context.Background(), s, p); err != nil || out.Model == nil {
			b.Fatal("no model:", out.NoRelease, err)
		}
		scans = 0
		for _, m := range s.Measurements() {
			scans += m.Count
		}
	}
	b.ReportMetric(float64(scans), "scans")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(scans)/n, "ns/row/scan")
}
