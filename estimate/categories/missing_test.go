package categories

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/model"
)

// TestMissingShares: of two groups of which one lacks a tenth of its cells and the other four
// tenths, each component says so, and has the weight that its rows have, though rows without any
// cell show of no group whose they are, and a weight of the others was too small. An exact answer
// is off by chance alone, of less than .006 for one sd of each figure.
func TestMissingShares(t *testing.T) {
	const n = 20000
	for _, r := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		rng := rand.New(rand.NewPCG(9, 10))
		b := kernel.NewBuilder(2)
		for i := range n {
			at, lacks := 0., .1
			if i%5 < 2 {
				at, lacks = 6, .4
			}
			row := []float64{at + rng.NormFloat64(), at + rng.NormFloat64()}
			for j := range row {
				if rng.Float64() < lacks {
					row[j] = math.NaN()
				}
			}
			b.Append(row)
		}
		p := estimate.Problem{Columns: 2, Relation: r}
		if r == privacy.ReplaceOne {
			p.Rows = n
		}
		plan := kernel.Plan{Method: "test", Steps: []kernel.Step{{Name: program.StepMissing, Query: query.KindCategoryCounts, Share: 1, Most: program.MostMissing}}}
		s := kerneltest.Open(t, b.Protect(r), plan, kernel.Terms{Relation: r, Budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}}, kerneltest.Options{Exact: true, Seed: 1})
		sd, err := model.NewDiagonal([]float64{1, 1})
		if err != nil {
			t.Fatal(err)
		}
		m, err := model.New(nil, []float64{.64, .36}, []model.Gaussian{{Mean: []float64{0, 0}, Cov: sd}, {Mean: []float64{6, 6}, Cov: sd}})
		if err != nil {
			t.Fatal(err)
		}
		out := estimate.Outcome{Model: m, Missing: s.SubBudget(), Diagnostics: estimate.Diagnostics{Components: []estimate.ComponentNote{{EffectiveRows: .64 * n}, {EffectiveRows: .36 * n}}}}
		if err := Missing(p, &out); err != nil {
			t.Fatal(err)
		}
		for i, want := range []float64{.1, .4} {
			for j, got := range out.Diagnostics.Components[i].Missing {
				if math.Abs(got-want) > .025 {
					t.Errorf("%v: component %d lacks %v of column %d, want %v", r, i, got, j, want)
				}
			}
		}
		if w := m.Weights[1]; math.Abs(w-.4) > .015 {
			t.Errorf("%v: the second component has the weight %v, want .4", r, w)
		}
	}
}

// TestMissingOfOnePoint: of a model without a spread in any column nothing is asked.
func TestMissingOfOnePoint(t *testing.T) {
	none, err := model.NewDiagonal([]float64{0, 0})
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.New(nil, []float64{1}, []model.Gaussian{{Mean: []float64{3, 4}, Cov: none}})
	if err != nil {
		t.Fatal(err)
	}
	if err := Missing(estimate.Problem{Columns: 2, Rows: 100}, &estimate.Outcome{Model: m}); err != nil {
		t.Error(err)
	}
}
