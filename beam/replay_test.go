package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/kernel/sharded"
	"github.com/gauze-dp/gauze/source/shards"
)

// replayed fits rows, in memory or as workers see them, with the answers of another run if there
// is one.
func replayed(t *testing.T, method string, rows [][]float64, relation privacy.Relation, by func(store) sharded.Scheduler, answers *kerneltest.Transcript) (heard *kerneltest.Transcript, outcome string) {
	t.Helper()
	folder, err := shards.NewStore(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	store := &fine{Store: folder, per: 2}
	builder := kernel.NewBuilderIn(len(rows[0]), store)
	for _, row := range rows {
		builder.Append(row)
	}
	table := builder.Protect(relation)
	budget := privacy.Budget{Epsilon: 2, Delta: 1e-8}
	p := estimate.Problem{Columns: len(rows[0]), Relation: relation, Mu: privacy.MuOf(budget.Epsilon, budget.Delta), Components: 2, MaxComponents: 2, Budget: budget}
	if method == "gaussian" {
		p.Components, p.MaxComponents = 1, 1
	}
	if relation == privacy.ReplaceOne {
		p.Rows = len(rows)
	}
	estimator := gauze.Methods().All()[slices.IndexFunc(gauze.Methods().All(), func(e estimate.Estimator) bool { return e.Name() == method })]
	plan, err := estimator.Plan(p)
	if err != nil {
		t.Fatal(method, err)
	}
	terms := kernel.Terms{Relation: relation, Budget: budget}
	if by != nil {
		store.spread(t)
		terms.Engine = sharded.New(store, by(folder))
	}
	heard = &kerneltest.Transcript{}
	s := kerneltest.Open(t, table, plan, terms, kerneltest.Options{Seed: 5, Coupled: true, Record: heard, Replay: answers})
	out, err := estimator.Fit(t.Context(), s, p)
	if err != nil {
		t.Fatal(method, err)
	}
	text, err := json.Marshal(out.Model)
	return heard, fmt.Sprintf("%s %v %+v %+v", text, err, out.NoRelease, s.Loss())
}

// TestReplay: what was recorded of a fit in memory is replayed on a neighbouring table that workers
// read, in every stage the same questions at the same prices: nothing but answers decides what is
// asked, and what is released. No sum is further from the neighbour's than its sensitivity; and
// replayed on the same table, sums are the same integers.
//
// By itself a sum cannot show whose noise is too small: audit.TestWorkers bounds what whole fits
// give away, with this engine's workers in one process.
func TestReplay(t *testing.T) {
	for method, relation := range map[string]privacy.Relation{"gaussian": privacy.AddRemoveOne, "general": privacy.ReplaceOne} {
		t.Run(method, func(t *testing.T) {
			if os.Getenv(inside) != "" && method != "gaussian" {
				t.Skip("a hundred sums and more, each a job of a server")
			}
			own := people(12_000)
			other := slices.Clone(own)
			other[len(other)-1] = []float64{1e308, math.Inf(-1)}
			if relation == privacy.AddRemoveOne {
				other = other[:len(other)-1]
			}
			want, ending := replayed(t, method, own, relation, nil, nil)
			runs := 0
			counting := func(s store) sharded.Scheduler {
				return schedule(func(ctx context.Context, items []string) error { runs++; return scheduler(s).Run(ctx, items) })
			}
			for name, rows := range map[string][][]float64{"same": own, "neighbour": other} {
				runs = 0
				got, end := replayed(t, method, rows, relation, counting, want)
				if end != ending || runs == 0 {
					t.Errorf("%s: %.300s; want %.300s; workers were asked %d times", name, end, ending, runs)
				}
				if !slices.Equal(got.Steps, want.Steps) || !slices.Equal(got.Mus, want.Mus) || fmt.Sprintf("%#v", got.Queries) != fmt.Sprintf("%#v", want.Queries) {
					t.Fatalf("%s: other questions: %v, %v", name, got.Steps, want.Steps)
				}
				for i, q := range got.Queries {
					q, sum := q.(query.Sum)
					if !sum {
						continue
					}
					far := distance(q, got.Sums[i], want.Sums[i])
					if most := q.Sensitivity(relation); far > most*(1+1e-12) || name == "same" && far != 0 {
						t.Errorf("%s: %s: sums lie %v apart, sensitivity %v", name, got.Steps[i], far, most)
					}
				}
			}
		})
	}
}

// distance is that of two sums in the units of a query's sensitivity.
func distance(q query.Sum, a, b []int64) float64 {
	square := 0.0
	for i := range a {
		square += math.Pow(float64(a[i]-b[i])/q.Weight(i), 2)
	}
	return math.Sqrt(square)
}

// people are rows of two clusters.
func people(n int) [][]float64 {
	rng, rows := rand.New(rand.NewPCG(6, 20)), make([][]float64, n)
	for i := range rows {
		at := float64(8 * (i % 2))
		rows[i] = []float64{at + rng.NormFloat64(), 100*at + 30*rng.NormFloat64()}
	}
	return rows
}
