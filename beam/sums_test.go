package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/kernel/sharded"
	"github.com/gauze-dp/gauze/source/shards"
)

// A fine store has so many chunks in a shard, and so many shards of a small table. Workers see a
// shards.Store.
type fine struct {
	*shards.Store
	per    int
	chunks [][]float64
}

func (f *fine) Chunk(n int) []float64 {
	c := make([]float64, n)
	f.chunks = append(f.chunks, c)
	return c[:0]
}

func (f *fine) Leave([]float64) {}
func (f *fine) Err() error      { return nil }

func (f *fine) Place(chunk []float64) (shard, at int, ok bool) {
	i := slices.IndexFunc(f.chunks, func(c []float64) bool { return &c[0] == &chunk[0] })
	return i / f.per, i % f.per * len(f.chunks[0]), i >= 0
}

// spread writes the shards for workers.
func (f *fine) spread(t *testing.T) {
	for i := 0; i < len(f.chunks); i += f.per {
		var text []byte
		for _, c := range f.chunks[i:min(len(f.chunks), i+f.per)] {
			for _, x := range c {
				text = binary.NativeEndian.AppendUint64(text, math.Float64bits(x))
			}
		}
		if err := f.Write(fmt.Sprint("rows.", i/f.per), text); err != nil {
			t.Fatal(err)
		}
	}
}

// sums are what a table of ordinary, missing and enormous rows adds up to, before noise, for
// several questions; in memory, or by workers who find so many chunks in a shard, in a folder.
func sums(t *testing.T, in string, per int, by func(store) sharded.Scheduler) [][]int64 {
	t.Helper()
	const columns, n = 3, 30_000
	folder, err := shards.NewStore(in)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	store := &fine{Store: folder, per: per}
	builder, rng, row := kernel.NewBuilderIn(columns, store), rand.New(rand.NewPCG(2, 20)), make([]float64, columns)
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
	terms := kernel.Terms{Relation: privacy.ReplaceOne, Budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}}
	table := builder.Protect(privacy.ReplaceOne)
	if by != nil {
		store.spread(t)
		terms.Engine = sharded.New(store, by(folder))
	}
	var heard kerneltest.Transcript
	session := kerneltest.Open(t, table, plan, terms, kerneltest.Options{Record: &heard})
	for i, q := range asked {
		began := time.Now()
		if _, err := session.SubBudget().Sum(fmt.Sprint(i), q, session.Mu()/4); err != nil {
			t.Fatal(err)
		}
		t.Logf("%d: %v", i, time.Since(began).Round(time.Millisecond))
	}
	return heard.Sums
}

// TestSums: the same integers in memory, in files and by Beam, for any number and order of shards,
// with work that comes twice, and with workers that fail before and after they have answered.
func TestSums(t *testing.T) {
	want := sums(t, t.TempDir(), 1, nil)
	rng := rand.New(rand.NewPCG(4, 20))
	shuffled := func(s store) sharded.Scheduler {
		return schedule(func(ctx context.Context, items []string) error {
			items = append(slices.Clone(items), items[rng.IntN(len(items))])
			rng.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
			return beamed{s.Folder()}.Run(ctx, items)
		})
	}
	local := func(s store) sharded.Scheduler { return sharded.Here{Store: s} }
	for name, c := range map[string]struct {
		per  int
		by   func(store) sharded.Scheduler
		work func(sharded.Store, string) error
	}{
		"files, one chunk":   {1, local, sharded.Work},
		"files, many":        {3, local, sharded.Work},
		"Beam, one chunk":    {1, scheduler, sharded.Work},
		"Beam, out of order": {3, shuffled, sharded.Work},
		"Beam, faults":       {2, scheduler, (&faulty{t: t, once: map[string]bool{}}).work},
	} {
		t.Run(name, func(t *testing.T) {
			var done atomic.Int64
			defer func() { labour = do }()
			labour = func(s store, item string) error { done.Add(1); return c.work(s, item) }
			if got := sums(t, t.TempDir(), c.per, c.by); !slices.EqualFunc(got, want, slices.Equal[[]int64]) {
				t.Errorf("%v, want %v", got, want)
			}
			if strings.HasPrefix(name, "Beam") == (done.Load() == 0) {
				t.Errorf("Beam had %d pieces of work done", done.Load())
			}
		})
	}
}

// A faulty worker panics at the first shard, fails at the second after it has answered, and answers
// the third twice; but only once for each sum.
type faulty struct {
	t    *testing.T
	mu   sync.Mutex
	once map[string]bool
}

func (f *faulty) work(s sharded.Store, item string) error {
	parts := strings.Split(item, ".")
	sum, shard := parts[0], parts[2]
	f.mu.Lock()
	fails := !f.once[sum+"."+shard]
	f.once[sum+"."+shard] = true
	f.mu.Unlock()
	switch {
	case !fails:
	case shard == "0":
		panic("a row")
	case shard == "1":
		_ = sharded.Work(s, item)
		return errElement
	case shard == "2":
		_ = sharded.Work(s, item)
	}
	return sharded.Work(s, item)
}
