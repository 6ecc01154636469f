package objects

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/kernel/sharded"
)

const columns = 3

// sums are what a table of ordinary, missing and enormous rows adds up to, before noise, for
// several questions: in memory, or by workers of a store.
func sums(t *testing.T, room *Store, schedule sharded.Scheduler) [][]int64 {
	t.Helper()
	const n = 30_000
	builder := kernel.NewBuilder(columns)
	terms := kernel.Terms{Relation: privacy.ReplaceOne, Budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}}
	if room != nil {
		builder, terms.Engine = kernel.NewBuilderIn(columns, room), sharded.New(room, schedule)
	}
	rng, row := rand.New(rand.NewPCG(2, 20)), make([]float64, columns)
	for i := range n {
		for j := range row {
			row[j] = rng.NormFloat64()
		}
		switch i % 97 {
		case 3:
			row[i%columns] = math.NaN()
		case 5:
			row[i%columns] = 1e308
		case 7:
			row[i%columns] = math.Inf(-1)
		}
		builder.Append(row)
	}
	frame := query.Affine{Center: []float64{0, .1, -.1}, W: [][]float64{{1, 0, 0}, {.25, .5, 0}, {0, -.1, 2}}}
	asked := []query.Sum{query.Counts{Edges: [][]float64{{0, 1}, nil, {.5}}}, query.Counts{Map: frame, As: query.Above, Edges: [][]float64{{1, 2, 30}}},
		query.ClippedMoments{Form: query.FullForm, Lift: .7, Components: []query.Component{{Map: frame, Radius: 3}}}}
	plan := kernel.Plan{Method: "test"}
	for i, q := range asked {
		plan.Steps = append(plan.Steps, kernel.Step{Name: fmt.Sprint(i), Query: q.Kind(), Most: 1, Share: 1 / float64(len(asked))})
	}
	var heard kerneltest.Transcript
	session := kerneltest.Open(t, builder.Protect(privacy.ReplaceOne), plan, terms, kerneltest.Options{Record: &heard})
	for i, q := range asked {
		if _, err := session.SubBudget().Sum(fmt.Sprint(i), q, session.Mu()/4); err != nil {
			t.Fatal(err)
		}
	}
	return heard.Sums
}

// apart has the work of each attempt done by workers of their own, after it has drawn faults; but
// no more than two in a row, since a question is asked three times.
type apart struct {
	folder string
	faults *[]string
	rng    *rand.Rand
	row    int // attempts with a fault
	mu     sync.Mutex
	done   int
}

func (a *apart) Run(_ context.Context, items []string) error {
	if a.row++; a.faults == nil || a.row > 2 || a.rng.IntN(2) == 0 {
		a.row = 0
	} else {
		*a.faults = []string{[]string{"read", "write", "torn"}[a.rng.IntN(3)]}
	}
	var all sync.WaitGroup
	for _, item := range items {
		all.Go(func() {
			if worker, err := Open(a.folder); err == nil && sharded.Work(worker, item) == nil {
				a.mu.Lock()
				a.done++
				a.mu.Unlock()
			}
		})
	}
	all.Wait()
	if a.faults != nil {
		*a.faults = nil
	}
	return nil
}

// The same integers as in memory, whatever the number of objects, and though reads fail and
// answers are torn.
func TestSums(t *testing.T) {
	want := sums(t, nil, nil)
	check := func(t *testing.T, store *Store, by *apart) {
		if got := sums(t, store, by); !slices.EqualFunc(got, want, slices.Equal[[]int64]) {
			t.Errorf("%v, want %v", got, want)
		}
		if made := store.shelf.made; by.done < 3*made || made == 0 {
			t.Errorf("%d pieces of work of %d objects", by.done, made)
		}
	}
	for _, numbers := range []int{1, objectNumbers} {
		t.Run(fmt.Sprint(numbers), func(t *testing.T) {
			everywhere(t, func(t *testing.T, in string) {
				store, _ := begin(t, in, numbers)
				check(t, store, &apart{folder: store.Folder()})
			})
		})
	}
	for seed := range uint64(5) {
		t.Run(fmt.Sprint("faults", seed), func(t *testing.T) {
			store, _, faults := disturb(t, 1)
			check(t, store, &apart{folder: store.Folder(), faults: faults, rng: rand.New(rand.NewPCG(seed, 20))})
		})
	}
}
