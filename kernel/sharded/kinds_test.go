package sharded

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/kernel/internal/engine"
	"github.com/gauze-dp/gauze/kernel/query"
)

// An ask is a question of any kind, put to an engine.
type ask func(e engine.Engine, t *engine.Table) []int64

// pairings are pairs of n rows, drawn at random, some rows in several of them.
func pairings(n int) (pairs [][2]int32) {
	rng := rand.New(rand.NewPCG(uint64(n), 21))
	for range min(n, 3*engine.PieceRows/2) {
		pairs = append(pairs, [2]int32{int32(rng.IntN(n)), int32(rng.IntN(n))})
	}
	return pairs
}

// asks are what workers are asked of n rows, one of every kind.
func asks(n int) map[string]ask {
	all := map[string]ask{}
	sum := func(name string, q query.Sum) {
		all[name] = func(e engine.Engine, t *engine.Table) []int64 { return engine.Sum(e, t, q) }
	}
	for name, q := range sums() {
		sum(name, q)
		if name != "balance" && name != "bins" {
			sum("filled "+name, query.Partial{Sum: q, As: query.Filled, Fill: []float64{.5, -1, 2}})
		}
		sum("presence "+name, query.Partial{Sum: q, As: query.Presence})
	}
	sum("cells balance", query.Partial{Sum: sums()["balance"], As: query.Cells})
	sum("cells bins", query.Partial{Sum: sums()["bins"], As: query.Cells})
	cut := sums()["parts"].(query.Parts).Partition
	for name, p := range map[string]query.Partition{"cut": cut, "components": cut.Below[1], "whole": {}} {
		all["leaves "+name] = func(e engine.Engine, t *engine.Table) (out []int64) {
			for _, leaf := range engine.Leaves(e, t, p) {
				out = append(out, int64(leaf))
			}
			return out
		}
		all["column "+name] = func(e engine.Engine, t *engine.Table) []int64 {
			values := make([][]int64, p.Leaves())
			engine.EachSorted(e, t, p, 1, func(leaf int, sorted []float64) {
				for _, v := range sorted {
					values[leaf] = append(values[leaf], int64(math.Float64bits(v)))
				}
			})
			return slices.Concat(values...)
		}
	}
	grid := query.Grid{Map: frame(0), Side: []float64{1, 2, 30}, Offset: []float64{0, -1, 0}}
	for name, q := range map[string]query.BoxKeys{"joint": {Grids: []query.Grid{grid}, Joint: true}, "apart": {Grids: []query.Grid{grid}},
		"cut": {Partition: cut, Grids: []query.Grid{grid, grid, grid, grid}, Joint: true}} {
		all["cells "+name] = func(e engine.Engine, t *engine.Table) (out []int64) {
			for _, h := range histogramsOf(e.Scan(t, q).(*query.Boxes).Counts) {
				for _, key := range h.Keys {
					out = append(out, int64(math.Float64bits(key)))
				}
				out = append(out, h.Counts...)
			}
			return out
		}
	}
	octaves := query.PairOctaves{Columns: columns, Low: -3, High: 9}
	all["pairs"] = func(e engine.Engine, t *engine.Table) []int64 { return engine.SumPairs(e, t, octaves, pairings(n)) }
	return all
}

// name is what an answer to the first question in a store is written as.
func (a answer) name(m *memory, part int) string {
	var of task
	if err := get(m, askName(1), &of); err != nil {
		panic(err)
	}
	_, sum, _ := seal(a)
	return of.answerName(answersName(1, 1), part, sum)
}

// known reports a question that is answered where the fit runs: how many rows are good, and which
// cells partial rows have, the table knows.
func known(name string) bool { return name == "count" || strings.HasPrefix(name, "presence ") }

// TestKinds: the same integers as the local engine's, for any number and order of shards, whatever
// fails but the last attempt, and nothing left in the store but the layout.
func TestKinds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 20))
	for _, n := range []int{0, 1, engine.ChunkRows + 1, 2*engine.ChunkRows + 1057, 5*engine.ChunkRows + 5} {
		from := mixed(n)
		for name, ask := range asks(n) {
			want := ask(engine.Local{}, from)
			for failures := range attempts {
				m := newMemory(1 + rng.IntN(3))
				table, c := mixedIn(n, m), &careless{store: m, rng: rng, failures: failures, say: rng.IntN(8)}
				if got := ask(New(m, c), table); !slices.Equal(got, want) {
					t.Fatalf("%s, %d rows, %d failures: %v, want %v", name, n, failures, got, want)
				}
				if n > 2*engine.ChunkRows && !known(name) && c.runs != failures+1 {
					t.Errorf("%s, %d rows: %d runs, want %d", name, n, c.runs, failures+1)
				}
				for _, prefix := range []string{"ask", "pairs"} { // answers that are late stay
					if names, _ := m.Names(prefix); len(names) > 0 {
						t.Errorf("left behind: %v", names)
					}
				}
			}
			m := newMemory(2)
			e, table := New(m, Here{m}), mixedIn(n, m)
			for range 2 { // chunks are checked once
				if got := ask(e, table); !slices.Equal(got, want) {
					t.Fatalf("%s, %d rows, here: %v, want %v", name, n, got, want)
				}
			}
			if asked := len(m.asked) > 0; asked != (n > engine.ChunkRows && !known(name)) { // the first chunk lies elsewhere
				t.Errorf("%s, %d rows: workers were asked: %v", name, n, asked)
			}
		}
	}
}

// TestOddAnswers: answers of a kind that are not what was asked, and what was written and is
// damaged, end in a constant, never in an answer.
func TestOddAnswers(t *testing.T) {
	const n = 4 * engine.ChunkRows
	instead := func(say func(a *answer)) func(m *memory, items []string) {
		return func(m *memory, items []string) {
			_ = Here{m}.Run(t.Context(), items)
			names, _ := m.Names("answer.1.1.1.")
			var a answer
			if len(names) != 1 || get(m, names[0], &a) != nil {
				t.Fatalf("answers: %v", names)
			}
			_ = m.Remove(names[0])
			say(&a)
			_ = put(m, a.name(m, 1), a)
		}
	}
	damaged := func(name string) func(m *memory, items []string) {
		spoilt := false
		return func(m *memory, items []string) {
			if text, ok := m.texts[name]; ok && !spoilt {
				text[len(text)/2] ^= 1
				spoilt = true
			}
			_ = Here{m}.Run(t.Context(), items)
		}
	}
	lost := func(name string) func(m *memory, items []string) {
		return func(m *memory, items []string) {
			delete(m.texts, name)
			_ = Here{m}.Run(t.Context(), items)
		}
	}
	sum, place, pair := "filled full", "leaves cut", "pairs"
	for name, c := range map[string]struct {
		kind  string
		spoil func(m *memory, items []string)
		want  error
	}{
		"a leaf too many":     {place, instead(func(a *answer) { a.Leaves[7] = 4 }), errText},
		"a leaf below none":   {place, instead(func(a *answer) { a.Leaves[7] = -2 }), errText},
		"fewer leaves":        {place, instead(func(a *answer) { a.Leaves = a.Leaves[1:] }), errText},
		"more leaves":         {place, instead(func(a *answer) { a.Leaves = append(a.Leaves, 0) }), errText},
		"values for leaves":   {place, instead(func(a *answer) { a.Values = make([]float64, len(a.Leaves)) }), errText},
		"fewer values":        {"column cut", instead(func(a *answer) { a.Values = a.Values[1:] }), errText},
		"no values":           {"column cut", instead(func(a *answer) { a.Values = nil }), errText},
		"leaves for a sum":    {sum, instead(func(a *answer) { *a = answer{Leaves: make([]int32, n)} }), errText},
		"a sum for leaves":    {place, instead(func(a *answer) { *a = answer{Sum: make([]int64, 9), Read: 9} }), errText},
		"fewer histograms":    {"cells apart", instead(func(a *answer) { a.Cells = a.Cells[1:] }), errText},
		"a cell without rows": {"cells apart", instead(func(a *answer) { a.Cells[0].Counts = a.Cells[0].Counts[1:] }), errText},
		"cells of fewer rows": {"cells apart", instead(func(a *answer) { a.Read -= columns }), errText},
		"leaves read of more": {place, instead(func(a *answer) { a.Read += columns }), errText},
		"fewer pairs":         {pair, instead(func(a *answer) { a.Read -= columns }), errText},
		"damaged question":    {sum, damaged("ask.1"), errWorkers},
		"damaged layout":      {sum, damaged("shard.1.1"), errWorkers},
		"damaged cells":       {sum, damaged("cells.1.1"), errWorkers},
		"damaged pairs":       {pair, damaged("pairs.1.1"), errWorkers},
		"lost cells":          {sum, lost("cells.1.1"), errWorkers},
		"lost pairs":          {pair, lost("pairs.1.0"), errWorkers},
		"a shard of no pairs": {pair, lost("shard.1.2"), errWorkers},
	} {
		m := newMemory(1)
		e := New(m, schedule(func(_ context.Context, items []string) error { c.spoil(m, items); return nil }))
		table := mixedIn(n, m)
		if err := caught(func() { asks(n)[c.kind](e, table) }); err != c.want {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}
