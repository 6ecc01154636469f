package gaussian

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// TestReplay: everything is a function of released values: the answers of one table, replayed on
// another (with another n where n is private), give the same queries, costs and outcome.
func TestReplay(t *testing.T) {
	for _, cov := range []estimate.CovarianceType{estimate.Full, estimate.Diagonal, estimate.Spherical} {
		for _, d := range []int{3, 9} {
			for _, rel := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
				const n = 6000
				other := n
				if rel == privacy.AddRemoveOne {
					other = 10
				}
				p := setting{d: d, n: n, rel: rel, cov: cov}.problem()
				plan, err := New().Plan(p)
				if err != nil {
					t.Fatal(err)
				}
				terms := kernel.Terms{Relation: rel, Budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}}
				var first, second kerneltest.Transcript
				a := kerneltest.Open(t, kerneltest.Table(filled(n, d, func(i, j int) float64 { return rand.NormFloat64() }), d, terms.Relation), plan, terms, kerneltest.Options{Fresh: true, Record: &first})
				outA, err := New().Fit(context.Background(), a, p)
				if err != nil {
					t.Fatal(err)
				}
				b := kerneltest.Open(t, kerneltest.Table(filled(other, d, func(i, j int) float64 { return 1e9 }), d, terms.Relation), plan, terms, kerneltest.Options{Fresh: true, Record: &second, Replay: &first})
				outB, err := New().Fit(context.Background(), b, p)
				if err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(outA, outB) || !reflect.DeepEqual(first.Mus, second.Mus) || !reflect.DeepEqual(first.Steps, second.Steps) {
					t.Errorf("%v d=%d %v: the replay differs", cov, d, rel)
				}
				if outA.Model == nil {
					t.Errorf("%v d=%d %v: %+v", cov, d, rel, outA.NoRelease)
				}
			}
		}
	}
}

// TestSpendsAll: the last release leaves nothing, and the whole never exceeds the total.
func TestSpendsAll(t *testing.T) {
	p := setting{d: 2, n: 3000, rel: privacy.ReplaceOne}.problem()
	plan, _ := New().Plan(p)
	terms := kernel.Terms{Relation: p.Relation, Budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}}
	s := kerneltest.Open(t, kerneltest.Table(filled(3000, 2, func(i, j int) float64 { return rand.NormFloat64() }), 2, terms.Relation), plan, terms, kerneltest.Options{Fresh: true})
	if _, err := New().Fit(context.Background(), s, p); err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, m := range s.Measurements() {
		sum += float64(m.Count) * m.Mu * m.Mu
	}
	if total := s.Mu() * s.Mu(); sum > total*(1+1e-12) || sum < total*(1-1e-9) {
		t.Errorf("spent mu^2 = %v of %v", sum, total)
	}
}

func TestPlanAndExpect(t *testing.T) {
	if _, err := New().Plan(estimate.Problem{Columns: 3, Rows: 1, Relation: privacy.ReplaceOne, Mu: .2}); err == nil {
		t.Error("one row: want a refusal")
	}
	for _, d := range []int{1, 2, 5, 10, 20, 50} {
		e := New().Expect(estimate.Problem{Columns: d, Rows: 2 * tableRows(d), Relation: privacy.ReplaceOne, Mu: tableMu})
		if !(e.RelativeError > 1 && e.RelativeError < 2) {
			t.Errorf("d=%v: %+v", d, e)
		}
	}
}

// TestPairsLackCells: where rows lack cells, fewer pairs show anything, and the spreads of columns
// by pairs get the budget that these few need: noise in one of 2,000 octaves would pass for them.
// Noise and rows have seeds.
func TestPairsLackCells(t *testing.T) {
	const n, d = 6000, 4
	rng := rand.New(rand.NewPCG(5, 6))
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, d)
		for j := range d {
			rows[i][j] = rng.NormFloat64()
		}
		if rng.Float64() < .45 {
			rows[i][0] = math.NaN()
		}
	}
	var asked kerneltest.Transcript
	estimatetest.Run(t, New(), estimatetest.Case{Rows: rows, Columns: d, Components: 1, Epsilon: 1, Delta: 1e-6, Noise: kerneltest.Options{Record: &asked}})
	at := slices.Index(asked.Steps, "spread")
	if at < 0 {
		t.Fatal("no spread by pairs")
	}
	pairs := int64(0)
	for _, c := range asked.Sums[at][:len(asked.Sums[at])/d] {
		pairs += c
	}
	// a Gaussian's octaves have .46 of the pairs, as one measurement
	if clear := .46 * float64(pairs) * asked.Mus[at] / math.Sqrt(2*d); clear < 6 {
		t.Errorf("a spread is expected at %.1f noise sds, want 6 and more", clear)
	}
}
