package sharded

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/kernel/internal/engine"
	"github.com/gauze-dp/gauze/kernel/query"
)

const columns = 3

// mixed has ordinary rows, null rows, partial rows and rows of every size.
func mixed(n int) *engine.Table { return mixedIn(n, nil) }

func mixedIn(n int, room engine.Room) *engine.Table {
	rng := rand.New(rand.NewPCG(uint64(n), 20))
	t := engine.NewTableIn(columns, room)
	row := make([]float64, columns)
	for i := range n {
		for j := range row {
			row[j] = rng.NormFloat64() * math.Exp(3*rng.NormFloat64())
		}
		switch i % 97 {
		case 3:
			row[i%columns] = math.NaN()
		case 5:
			row[i%columns] = 1e308
		case 7:
			row[i%columns] = 5e-324
		case 11:
			row[0], row[1], row[2] = math.Inf(1), math.NaN(), math.Inf(-1)
		}
		t.Append(row)
	}
	return t
}

func frame(shift float64) query.Affine {
	return query.Affine{Center: []float64{shift, 0, math.Copysign(0, -1)}, W: [][]float64{{1, 0, 0}, {.25, .5, 0}, {0, -.1, 2}}}
}

// sums are one of every kind that workers are asked.
func sums() map[string]query.Sum {
	moments := func(form query.Form) query.ClippedMoments {
		return query.ClippedMoments{Form: form, Lift: .7, Components: []query.Component{
			{Map: frame(.1), Radius: 3, LogWeight: math.Copysign(0, -1)}, {Map: frame(-1), Radius: 2, LogWeight: -1, Truncate: true}, {Map: frame(5), Radius: 1, GateOnly: true}}}
	}
	cut := query.Partition{Regions: []query.Region{
		{Conditions: []query.Condition{{Map: frame(0), Radius: 1}}}, {Conditions: []query.Condition{{Map: frame(0), Radius: math.Inf(1), Outside: false}}}, {}}}
	cut.Below = []query.Partition{{}, {Components: []query.Component{{Map: frame(1), Radius: 9}, {Map: frame(-1), Radius: 9}}}, {}}
	counts := query.Counts{Edges: query.Each([]float64{0, math.NaN(), 1}), As: query.Balance, Center: []float64{0, 1, 2}, SkipZero: true}
	return map[string]query.Sum{
		"count":      query.Count{},
		"balance":    counts,
		"bins":       query.Counts{Edges: [][]float64{nil, {-1, 0, 1}, {}}},
		"tails":      query.Counts{Map: frame(0), As: query.Above, Edges: [][]float64{{1, 2, 30}}},
		"full":       moments(query.FullForm),
		"diagonal":   moments(query.DiagonalForm),
		"spherical":  moments(query.SphericalForm),
		"marginal":   query.ClippedMoments{Form: query.ColumnForm, Lift: .4, Components: []query.Component{{Map: frame(.1), Radius: 3}}},
		"completed":  query.ClippedMoments{Form: query.CompletedForm, Lift: .2, Components: []query.Component{{Map: frame(.1), Radius: 3}}},
		"directions": query.Directions{Map: frame(.1), Lift: 1},
		"cells":      query.GridCounts{Map: frame(0), HalfWidth: []float64{4, 4, 4}, Level: 2},
		"children":   query.GridCounts{Map: frame(0), HalfWidth: []float64{4, 4, 4}, Level: 2, Parents: []uint64{0, 7, 5}},
		"log ratio":  query.LogRatio{F: moments(query.FullForm).Components, G: []query.Component{{Map: frame(0)}}, Bound: 1},
		"parts":      query.Parts{Partition: cut, Queries: []query.Sum{counts, counts, counts, counts}},
	}
}

// TestTables: two tables in one store, of which one question's answer is never another's.
func TestTables(t *testing.T) {
	m := newMemory(2)
	a, b := mixed(3*engine.ChunkRows), mixed(3*engine.ChunkRows+7)
	e := New(m, Here{m})
	ta, tb := mixedIn(a.Len(), m), mixedIn(b.Len(), m)
	for range 2 {
		for table, from := range map[*engine.Table]*engine.Table{ta: a, tb: b} {
			q := sums()["full"]
			if got, want := engine.Sum(e, table, q), engine.Sum(engine.Local{}, from, q); !slices.Equal(got, want) {
				t.Fatalf("%v, want %v", got, want)
			}
		}
	}
}

// caught is the error that a sum panics with.
func caught(f func()) (err error) {
	defer func() { err, _ = recover().(error) }()
	f()
	return nil
}

type schedule func(ctx context.Context, items []string) error

func (s schedule) Run(ctx context.Context, items []string) error { return s(ctx, items) }

// TestElsewhere: a table that lies elsewhere, such as a sample of one in the room, is read on all
// cores where the fit runs: nothing is asked of workers, and the engine does not keep its rows.
func TestElsewhere(t *testing.T) {
	m, elsewhere := newMemory(2), mixed(3*engine.ChunkRows)
	e := New(m, Here{m})
	for name, q := range sums() {
		if got, want := engine.Sum(e, elsewhere, q), engine.Sum(engine.Local{}, mixed(elsewhere.Len()), q); !slices.Equal(got, want) {
			t.Errorf("%s: other sums", name)
		}
	}
	if p := e.pool(); len(m.asked) > 0 || len(m.texts) > 0 || len(p.tables) > 0 {
		t.Errorf("asked %v, %d texts, %d tables are kept", m.asked, len(m.texts), len(p.tables))
	}
	if in := mixedIn(3*engine.ChunkRows, m); !slices.Equal(engine.Sum(e, in, sums()["tails"]), engine.Sum(engine.Local{}, mixed(in.Len()), sums()["tails"])) || len(m.asked) != 1 {
		t.Errorf("of a table in the room: asked %v", m.asked)
	}
}

// TestNoAnswer: what is missing, damaged or told in two ways ends in a constant, never in a sum.
func TestNoAnswer(t *testing.T) {
	q := sums()["full"]
	for name, c := range map[string]struct {
		spoil func(m *memory, items []string)
		want  error
		runs  int
	}{
		"nothing":     {func(m *memory, items []string) {}, errWorkers, attempts},
		"one missing": {func(m *memory, items []string) { _ = Here{m}.Run(t.Context(), items[1:]) }, errWorkers, attempts},
		"panic":       {func(m *memory, items []string) { panic("rows") }, errWorkers, attempts},
		"odd items": {func(m *memory, items []string) {
			for _, item := range []string{"", "1", "1.1.x", "-1.1.1", "9.1.0", "1.1.9", items[0] + ".1"} {
				if Work(m, item) == nil {
					t.Errorf("item %q is done", item)
				}
			}
		}, errWorkers, attempts},
		"two answers": {func(m *memory, items []string) {
			_ = Here{m}.Run(t.Context(), items)
			other := answer{Sum: make([]int64, q.Size())}
			_ = put(m, other.name(m, 0), other)
		}, errText, 1},
		"of no shard": {func(m *memory, items []string) {
			_ = Here{m}.Run(t.Context(), items)
			_ = m.Write("answer.1.1.77.0", nil)
		}, errText, 1},
		"damaged": {func(m *memory, items []string) {
			_ = Here{m}.Run(t.Context(), items)
			names, _ := m.Names("answer.1.1.1.")
			text := slices.Clone(m.texts[names[0]])
			text[len(text)/2] ^= 1
			m.texts[names[0]] = text
		}, errText, 1},
		"short": {func(m *memory, items []string) {
			_ = Here{m}.Run(t.Context(), items)
			names, _ := m.Names("answer.1.1.1.")
			_ = m.Remove(names[0])
			short := answer{Sum: []int64{1}}
			_ = put(m, short.name(m, 1), short)
		}, errText, 1},
		"of fewer rows": {func(m *memory, items []string) {
			_ = Here{m}.Run(t.Context(), items)
			names, _ := m.Names("answer.1.1.1.")
			_ = m.Remove(names[0])
			fewer := answer{Sum: make([]int64, q.Size()), Read: 3}
			_ = put(m, fewer.name(m, 1), fewer)
		}, errText, 1},
		"damaged rows": {func(m *memory, items []string) {
			m.all[1][5] = math.Nextafter(m.all[1][5], 9)
			_ = Here{m}.Run(t.Context(), items)
		}, errWorkers, attempts},
		"lost rows": {func(m *memory, items []string) {
			clear(m.all[2])
			_ = Here{m}.Run(t.Context(), items)
		}, errWorkers, attempts},
	} {
		m, runs := newMemory(1), 0
		e := New(m, schedule(func(_ context.Context, items []string) error { runs++; c.spoil(m, items); return nil }))
		table := mixedIn(4*engine.ChunkRows, m)
		if err := caught(func() { engine.Sum(e, table, q) }); err != c.want || runs != c.runs {
			t.Errorf("%s: %v after %d runs, want %v after %d", name, err, runs, c.want, c.runs)
		}
		if len(m.asked) != 1 {
			t.Errorf("%s: asked %v", name, m.asked)
		}
	}
}

// TestStop: a context that is done stops a scheduler that waits, and what waits for it.
func TestStop(t *testing.T) {
	m := newMemory(1)
	ctx, cancel := context.WithCancel(t.Context())
	e := New(m, schedule(func(ctx context.Context, items []string) error { cancel(); <-ctx.Done(); return ctx.Err() }))
	table := mixedIn(3*engine.ChunkRows, m)
	engine.Sum(engine.Until(ctx, e), table, sums()["tails"])
	engine.Sum(engine.Until(ctx, e), table, sums()["tails"])
}

// TestNames: a scheduler is told numbers alone.
func TestNames(t *testing.T) {
	m := newMemory(1)
	var all []string
	e := New(m, schedule(func(ctx context.Context, items []string) error {
		all = append(all, items...)
		return Here{m}.Run(ctx, items)
	}))
	engine.Sum(e, mixedIn(3*engine.ChunkRows, m), sums()["tails"])
	if got := strings.Join(all, " "); got != "1.1.0 1.1.1" {
		t.Errorf("told %q", got)
	}
}

// TestWire: what is written comes back, bit for bit; nothing else is written, and no text makes
// reading panic or take more memory than the text.
func TestWire(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 20))
	for name, q := range sums() {
		in := task{Table: 2, Columns: columns, Scan: query.Summed{Of: q}}
		text, err := encode(in)
		if err != nil {
			t.Fatal(name, err)
		}
		var out task
		if err := decode(text, &out); err != nil {
			t.Fatal(name, err)
		}
		again, _ := encode(out)
		if !slices.Equal(text, again) || fmt.Sprintf("%#v", in) != fmt.Sprintf("%#v", out) {
			t.Errorf("%s: %#v came back as %#v", name, in, out)
		}
		for range 500 {
			bad := slices.Clone(text)
			for range 1 + rng.IntN(3) {
				bad[rng.IntN(len(bad))] = byte(rng.Uint32())
			}
			_ = decode(bad[:rng.IntN(len(bad)+1)], &task{})
		}
		if decode(text[:len(text)-1], &task{}) == nil || decode(append(text, 0), &task{}) == nil {
			t.Errorf("%s: a text of another length is read", name)
		}
	}
	for _, odd := range []any{
		task{Scan: unasked{}}, task{},
		struct{ F func() }{}, struct{ p *int }{}, struct{ S string }{"a"}, struct{ n int }{}, [1]float64{},
		task{Scan: query.Summed{Of: overridden{}}}, task{Scan: query.Summed{Of: query.Partial{Sum: overridden{}}}},
	} {
		if _, err := encode(odd); err != errKind {
			t.Errorf("%#v is written: %v", odd, err)
		}
	}
	if nan := math.Float64frombits(0x7ff8_0000_dead_beef); true {
		text, _ := encode([]float64{nan, math.Copysign(0, -1)})
		var out []float64
		if err := decode(text, &out); err != nil || math.Float64bits(out[0]) != math.Float64bits(nan) || !math.Signbit(out[1]) {
			t.Errorf("%v came back (%v)", out, err)
		}
	}
}

type unasked struct{ query.Scan }

// overridden is a query of another package's.
type overridden struct{ query.Count }

// TestAsked: all the types of the list are structs of the kernel's queries.
func TestAsked(t *testing.T) {
	folder := reflect.TypeFor[query.Count]().PkgPath()
	for _, of := range asked {
		if of.Kind() != reflect.Struct || !strings.HasPrefix(of.PkgPath(), folder) || !of.Implements(reflect.TypeFor[query.Mapped]()) && !of.Implements(reflect.TypeFor[query.Scan]()) {
			t.Errorf("%v is asked", of)
		}
	}
}
