package attacks_test

import (
	"context"
	"testing"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/pure"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/kernel/query/papers"
)

// spyEngine fits kernel.Engine without naming the type of what it reads.
type spyEngine[T any] struct{}

func (spyEngine[T]) Scan(T, query.Scan) query.Accumulator { panic("read rows") }

func spyFor[T any](func(kernel.LocalEngine, T, query.Scan) query.Accumulator) spyEngine[T] {
	return spyEngine[T]{}
}

// TestEngines: only engines of the kernel are handed a table.
func TestEngines(t *testing.T) {
	table := protected(5, terms.Relation)
	for _, e := range []kernel.Engine{spyFor(kernel.LocalEngine.Scan), &struct{ kernel.LocalEngine }{}, struct{ kernel.LocalEngine }{}, (*kernel.LocalEngine)(nil)} {
		forged := terms
		forged.Engine = e
		if _, err := kernel.Open(context.Background(), table, plan, forged); err == nil {
			t.Errorf("an engine of type %T was accepted", e)
		}
	}
	good := terms
	good.Engine = kernel.LocalEngine{Workers: 3}
	if _, err := kernel.Open(context.Background(), table, plan, good); err != nil {
		t.Error(err)
	}
}

// TestSimulated: only kerneltest can make what turns the noise off.
func TestSimulated(t *testing.T) {
	if session(t, terms).Simulated() {
		t.Error("an ordinary session says that it is simulated")
	}
}

type spyQuery struct{ query.Count }

func (spyQuery) Compile(int) query.RowMap { panic("read rows") }

type spyPairs struct{ query.PairOctaves }

func (spyPairs) Kind() string             { return "pair octaves" }
func (spyPairs) Validate(int) error       { return nil }
func (spyPairs) Compile(int) query.RowMap { panic("read rows") }

type spyScore struct{ papers.GoodRadius }

func (spyScore) Scores([]float64, int) []int64 { panic("read rows") }

// any type at all, and a query's own type, as a parameter
type generic[Q query.Sum] struct{ query.Count }

func (generic[Q]) Compile(int) query.RowMap { panic("read rows") }

// TestQueries: queries are the kernel's own structs, by value, all the way down.
func TestQueries(t *testing.T) {
	wide := kernel.Plan{Method: "m"}
	for _, kind := range []string{"count", "parts of: count", "pair octaves"} {
		wide.Steps = append(wide.Steps, kernel.Step{Name: kind, Query: kind, Share: 1, Most: 99})
	}
	s, err := kernel.Open(context.Background(), protected(5, terms.Relation), wide, terms)
	if err != nil {
		t.Fatal(err)
	}
	frame := query.Affine{Center: []float64{0, 0}, W: [][]float64{{1, 0}}}
	halves := query.Partition{Regions: []query.Region{{Conditions: []query.Condition{{Map: frame, Radius: 1}}}, {}}}
	var nothing query.Sum
	a := s.SubBudget()
	for _, q := range []query.Sum{
		spyQuery{}, &spyQuery{}, &query.Count{}, struct{ query.Count }{}, struct{ query.Sum }{query.Count{}}, generic[query.Count]{}, nothing,
		query.Parts{Partition: halves, Queries: []query.Sum{query.Count{}, spyQuery{}}},
		query.Parts{Partition: halves, Queries: []query.Sum{spyQuery{}, spyQuery{}}},
		query.Parts{Partition: halves, Queries: []query.Sum{query.Count{}, nil}},
		query.Parts{Partition: halves, Queries: []query.Sum{query.Parts{Partition: halves, Queries: []query.Sum{spyQuery{}, spyQuery{}}}, query.Count{}}},
	} {
		for _, step := range wide.Steps {
			if _, err := a.Sum(step.Name, q, s.Mu()/20); err == nil {
				t.Errorf("%T was accepted", q)
			}
		}
	}
	for _, q := range []query.PairSum{spyPairs{}, &query.PairOctaves{Columns: 2, High: 1}, nil} {
		if _, err := kernel.SumPairs(a, "pair octaves", query.Pairs{Queries: []query.PairSum{q}, Buckets: []int{1}}, s.Mu()/20); err == nil {
			t.Errorf("%T was accepted", q)
		}
	}
	if _, err := pure.Select(a, "count", papers.Selection{Scores: []papers.Score{spyScore{}}}, 1e-4); err == nil {
		t.Error("a score of somebody's own was accepted")
	}
	if spent := s.Loss(); spent.Mu != 0 || len(s.Measurements()) > 0 {
		t.Errorf("refusals cost %+v", spent)
	}
}

// TestChangedQueries: what is changed after it was handed over changes nothing.
func TestChangedQueries(t *testing.T) {
	edges := [][]float64{{1, 2}, {3}}
	q, err := query.Own[query.Sum](query.Counts{Edges: edges})
	edges[0][1] = -5
	edges[1] = nil
	if b := q.(query.Counts); err != nil || b.Edges[0][1] != 2 || len(b.Edges[1]) != 1 {
		t.Errorf("%v, %+v", err, b)
	}
}
