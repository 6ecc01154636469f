// Package sharded has sums taken by workers, in this process or on other machines, whatever hands
// out the work: a shard of the table is what one of them reads at a time.
//
// What is asked and what is answered goes by the Store, where the rows lie as well; a Scheduler
// moves names alone. So it need not be trusted with more than time: it sees neither rows nor sums,
// and what it hands out twice, late, or made up, changes no answer. The Store is trusted with all
// of it, as any place where rows lie.
package sharded

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/gauze-dp/gauze/kernel/engine"
	"github.com/gauze-dp/gauze/kernel/engine/local"
	"github.com/gauze-dp/gauze/kernel/internal/rows"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parallel"
)

// A Store is where rows lie, and what is asked and answered of them: for the one that fits and its
// workers alone. Writing a name again replaces all of it at once.
type Store interface {
	// Place says where a chunk of the room that the table lies in can be read by workers: in a
	// shard, from a number on.
	Place(chunk []float64) (shard, at int, ok bool)
	// Rows are n numbers of a shard, good until they are left.
	Rows(shard, at, n int) (numbers []float64, leave func(), err error)
	Write(name string, text []byte) error
	Read(name string) ([]byte, error)
	// Names are all that begin so.
	Names(prefix string) ([]string, error)
	Remove(name string) error
}

// A Scheduler hands out work. It may do so more than once, and in any order.
type Scheduler interface {
	// Run returns when Work has been called with every item, wherever the store can be reached.
	// Whether it was done is seen in the store: if not all was, everything is asked for again.
	Run(ctx context.Context, items []string) error
}

// attempts is how often a sum is asked for until workers have answered. A guess.
const attempts = 3

// errWorkers is all that is said of work that was not done: what a worker says of itself may depend
// on rows.
var errWorkers = errors.New("sharded: workers did not answer")

// An Engine reads tables in the room of a store. Sums of whole rows are taken by workers; what
// pairs of rows say, which leaf each is in, cells of unbounded histograms, and rows some of whose
// cells are missing are read where the fit runs.
type Engine struct{ number int }

// pools are what the numbers of engines stand for: an engine itself is a plain number, so that the
// kernel can tell that it brings no code along. None is ever taken back.
var pools struct {
	sync.Mutex
	all []*pool
}

type pool struct {
	store    Store
	schedule Scheduler
	mu       sync.Mutex // guards what follows, and lets one sum be asked for at a time
	asked    int        // sums
	tables   map[*rows.Table]*layout
}

// New returns an engine for tables that lie in a store, whose work a scheduler hands out. A store
// has one engine: two would take each other's answers, which stand under the same names.
func New(store Store, schedule Scheduler) Engine {
	pools.Lock()
	defer pools.Unlock()
	for i, p := range pools.all {
		if p.store == store {
			return Engine{i + 1}
		}
	}
	pools.all = append(pools.all, &pool{store: store, schedule: schedule, tables: map[*rows.Table]*layout{}})
	return Engine{len(pools.all)}
}

// Scan asks the workers if it can.
func (e Engine) Scan(s rows.Source, q query.Scan) query.Accumulator {
	ctx, of := context.Background(), s
	if stopping, ok := s.(engine.Stopping); ok {
		ctx, of = stopping.Context, stopping.Source
	}
	table, whole := of.(*rows.Table)
	sum, sums := q.(query.Summed)
	if p := e.pool(); p != nil && whole && sums {
		if total := p.sum(ctx, table, sum); total != nil {
			return total
		}
	}
	return local.Engine{}.Scan(s, q)
}

// pool is nil for the zero Engine.
func (e Engine) pool() *pool {
	pools.Lock()
	defer pools.Unlock()
	if e.number < 1 || e.number > len(pools.all) {
		return nil
	}
	return pools.all[e.number-1]
}

// sum is what a question adds up to over a whole table, nil if workers cannot be asked it. It
// panics if they do not answer.
func (p *pool) sum(ctx context.Context, table *rows.Table, q query.Summed) *query.Total {
	p.mu.Lock()
	defer p.mu.Unlock()
	l, err := p.layout(table)
	if err != nil {
		panic(err)
	}
	question, err := encode(task{l.number, table.Columns(), q})
	if err != nil { // of another kind
		return nil
	}
	total := q.Start(table.Columns()).(*query.Total)
	l.addHere(ctx, table, total)
	answers, err := p.ask(ctx, question, l)
	switch {
	case ctx.Err() != nil: // thrown away
	case err != nil:
		panic(err)
	}
	for _, a := range answers {
		if len(a.Sum) != len(total.Sum) {
			panic(errText)
		}
		total.Merge(&query.Total{Sum: a.Sum, Read: a.Read})
	}
	if ctx.Err() == nil && total.Read != table.Len()*table.Columns() {
		panic(errText)
	}
	return total
}

// ask has a question answered for every shard: the sums, one for each, whoever was asked how often.
func (p *pool) ask(ctx context.Context, question []byte, l *layout) (answers []answer, err error) {
	p.asked++
	name := "ask." + strconv.Itoa(p.asked)
	if err := p.store.Write(name, question); err != nil {
		return nil, errWorkers
	}
	defer p.forget(name)
	for attempt := 1; attempt <= attempts && l.shards > 0 && answers == nil && err == nil && ctx.Err() == nil; attempt++ {
		key := fmt.Sprintf("answer.%d.%d.", p.asked, attempt)
		var items []string
		for shard := range l.shards {
			items = append(items, fmt.Sprintf("%d.%d.%d", p.asked, attempt, shard))
		}
		if parallel.Await(ctx, func() { p.run(ctx, items) }) != nil {
			return nil, errWorkers
		}
		answers, err = p.collect(key, l.shards)
		p.forget(key)
	}
	if answers == nil && l.shards > 0 && err == nil {
		err = errWorkers
	}
	return answers, err
}

// run hands work out. Whether it was done is seen by the answers: that all are there is enough, and
// nothing less.
func (p *pool) run(ctx context.Context, items []string) {
	defer func() { _ = recover() }()
	_ = p.schedule.Run(ctx, items)
}

// collect reads the answers of an attempt: nil if one is missing, and an error if two workers
// disagree or one is damaged, which no attempt will mend.
func (p *pool) collect(key string, shards int) ([]answer, error) {
	names, err := p.store.Names(key)
	if err != nil {
		return nil, nil
	}
	answers, got := make([]answer, shards), 0
	for _, name := range names {
		shard, err := strconv.Atoi(strings.Split(strings.TrimPrefix(name, key), ".")[0])
		if err != nil || shard < 0 || shard >= shards || answers[shard].Sum != nil {
			return nil, errText
		}
		text, err := p.store.Read(name)
		if err != nil {
			return nil, nil
		}
		var a answer
		if err := decode(text, &a); err != nil || name != key+a.name(shard) || a.Sum == nil {
			return nil, errText
		}
		answers[shard] = a
		got++
	}
	if got < shards {
		return nil, nil
	}
	return answers, nil
}

// forget removes what begins so, as far as it can: what is left goes with the store.
func (p *pool) forget(prefix string) {
	names, _ := p.store.Names(prefix)
	for _, name := range names {
		_ = p.store.Remove(name)
	}
}

// Here works on the cores of this process.
type Here struct{ Store Store }

// Run does the work side by side.
func (h Here) Run(ctx context.Context, items []string) error {
	return parallel.Each(ctx, len(items), func(i int) { _ = Work(h.Store, items[i]) })
}
