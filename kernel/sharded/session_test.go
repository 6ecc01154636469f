package sharded

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/internal/engine"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// TestCharged: the kernel takes the engine, charges a measurement once however often workers are
// asked, and leaves it charged if they never answer; the noise does not depend on who summed.
func TestCharged(t *testing.T) {
	const n = 3 * engine.ChunkRows
	plan := kernel.Plan{Method: "test", Steps: []kernel.Step{{Name: "values", Query: query.Histogram, Most: 4, Share: 1}}}
	measure := func(e func(m *memory) Engine, times int) (answers []float64, loss float64, err error) {
		m := newMemory(1)
		b := kernel.NewBuilderIn(1, m)
		for i := range n {
			b.Append([]float64{float64(i)})
		}
		terms := kernel.Terms{Relation: privacy.ReplaceOne, Budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}}
		if e != nil {
			terms.Engine = e(m)
		}
		s := kerneltest.Open(t, b.Protect(privacy.ReplaceOne), plan, terms, kerneltest.Options{Seed: 7})
		for range times {
			a, err := s.SubBudget().Sum("values", query.Counts{Edges: [][]float64{{100}}}, s.Mu()/2)
			if err != nil {
				return nil, s.Loss().Mu, err
			}
			answers = append(answers, a.Values...)
		}
		return answers, s.Loss().Mu, nil
	}
	want, loss, err := measure(nil, 2)
	if err != nil {
		t.Fatal(err)
	}
	got, gotLoss, err := measure(func(m *memory) Engine {
		return New(m, &careless{store: m, rng: rand.New(rand.NewPCG(5, 20)), failures: attempts - 1})
	}, 2)
	if err != nil || !slices.Equal(got, want) || gotLoss != loss {
		t.Errorf("%v, %v for %v, want %v for %v", err, got, gotLoss, want, loss)
	}
	_, once, _ := measure(nil, 1)
	_, gotLoss, err = measure(func(m *memory) Engine {
		return New(m, schedule(func(context.Context, []string) error { return errors.New("no worker") }))
	}, 1)
	if err == nil || gotLoss != once {
		t.Errorf("without workers: %v, spent %v, want %v", err, gotLoss, once)
	}
}
