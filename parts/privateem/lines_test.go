package privateem

import (
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts/component"
)

// TestLines: rows on either side of a component's mean are counted with their sign, far ones in the
// bins beyond, all of them once.
func TestLines(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	rows := make([][]float64, 1000)
	for i := range rows {
		rows[i] = []float64{10 + 2*rng.NormFloat64()}
		if i < 100 {
			rows[i][0] = 10 - 2*30 // 30 sds below
		}
	}
	plan := kernel.Plan{Method: "m", Steps: []kernel.Step{{Name: "lines", Query: query.PartsOf(query.DistanceCounts), Share: 1, Most: 1, Source: "s"}}}
	terms := kernel.Terms{Relation: privacy.AddRemoveOne, Budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}}
	s := kerneltest.Open(t, kerneltest.Table(rows, 1, terms.Relation), plan, terms, kerneltest.Options{Exact: true})
	r := &Rounds{Space: component.Flat(1), Form: query.FullForm, Rows: 1000, Factor: 1,
		Components: []component.Gaussian{{Weight: 1, Mean: []float64{10}, Cov: symmetric.Scaled(4, symmetric.Identity(1))}}}
	all, err := r.Lines(s.SubBudget(), "lines", nil, s.SubBudget().LeftMu()*(1-1e-9))
	if err != nil {
		t.Fatal(err)
	}
	l := all[0][0]
	if len(l.Counts) != len(l.Edges)+1 || floats.Sum(l.Counts) != 1000 || !slices.IsSorted(l.Edges) {
		t.Fatalf("%d counts of %v rows between %v", len(l.Counts), floats.Sum(l.Counts), l.Edges)
	}
	sign := 1.0
	if l.Axis[0] < 0 {
		sign = -1
	}
	at, _ := slices.BinarySearch(l.Edges, -30*sign)
	if l.Counts[at] != 100 {
		t.Errorf("counts %v between %v", l.Counts, l.Edges)
	}
}
