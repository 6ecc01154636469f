// Package sharded lets workers read tables, in this process or on other machines, whatever hands
// out the work. A shard of the table is the part that one of them reads at a time.
//
// Questions and answers go through the Store, where the rows are; a Scheduler moves only names. So
// it need not be trusted with more than time: it sees neither rows nor sums, and an item that it
// hands out twice, late, or invented, changes no answer. The Store is trusted with all of it, as
// any place that stores rows.
package sharded

import (
	"context"
	"errors"
	"sync"

	"github.com/gauze-dp/gauze/kernel/internal/engine"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parallel"
)

// A Store keeps the rows, and the questions about them and their answers: for the process that fits
// and its workers alone. Writing a name again replaces all of it at once.
type Store interface {
	// Place returns where workers can read a chunk of the room that stores the table: the shard,
	// and the offset in it.
	Place(chunk []float64) (shard, at int, ok bool)
	// Rows returns n numbers of a shard, valid until leave is called.
	Rows(shard, at, n int) (numbers []float64, leave func(), err error)
	Write(name string, text []byte) error
	Read(name string) ([]byte, error)
	// Names returns all names with this prefix.
	Names(prefix string) ([]string, error)
	Remove(name string) error
	// Key returns a word drawn for the store, known to nobody who cannot read the store; it is
	// called where the fit runs.
	Key() string
}

// A Scheduler hands out work. It may do so more than once, and in any order.
type Scheduler interface {
	// Run returns when Work has been called with every item, wherever the store can be reached. The
	// store shows whether all of it was done: if not, everything is asked for again.
	Run(ctx context.Context, items []string) error
}

// attempts is the number of times that a question is asked until workers have answered. A guess.
const attempts = 3

// errWorkers is the only report of work that was not done: a worker's own report may depend on
// rows.
var errWorkers = errors.New("sharded: workers did not answer")

// An Engine reads tables in the room of a store. Workers take sums of rows, partial rows among
// them, and of pairs of rows, find each row's leaf and a column's values, and count cells of
// stability histograms. Other scans read the rows where the fit runs, such as which cells partial
// rows lack; so do the rows that no worker can read, and those paired with one.
type Engine struct{ number int }

// pools are what the numbers of engines refer to: an engine itself is a plain number, so that the
// kernel can see that it brings no code along. No pool is ever removed.
var pools struct {
	sync.Mutex
	all []*pool
}

type pool struct {
	store    Store
	schedule Scheduler
	mu       sync.Mutex // guards the fields below, and lets one question be asked at a time
	asked    int        // number of questions
	tables   map[*engine.Table]*layout
}

// New returns an engine for tables that a store keeps; the scheduler hands out its work. A store
// has one engine: two would take each other's answers, which have the same names.
func New(store Store, schedule Scheduler) Engine {
	pools.Lock()
	defer pools.Unlock()
	for i, p := range pools.all {
		if p.store == store {
			return Engine{i + 1}
		}
	}
	pools.all = append(pools.all, &pool{store: store, schedule: schedule, tables: map[*engine.Table]*layout{}})
	return Engine{len(pools.all)}
}

// Scan asks the workers if it can, and reads the rows itself otherwise.
func (e Engine) Scan(s engine.Source, q query.Scan) query.Accumulator {
	ctx, of := context.Background(), s
	if stopping, ok := s.(engine.Stopping); ok {
		ctx, of = stopping.Context, stopping.Source
	}
	if p := e.pool(); p != nil {
		if asked, ok := questionOf(of, q); ok {
			if found := p.scan(ctx, asked); found != nil {
				return found
			}
		}
	}
	return engine.Local{}.Scan(s, q)
}

// pool returns the engine's pool, nil for the zero Engine.
func (e Engine) pool() *pool {
	pools.Lock()
	defer pools.Unlock()
	if e.number < 1 || e.number > len(pools.all) {
		return nil
	}
	return pools.all[e.number-1]
}

// Here does the work on the cores of this process.
type Here struct{ Store Store }

// Run does the work on several cores.
func (h Here) Run(ctx context.Context, items []string) error {
	return parallel.Each(ctx, len(items), func(i int) { _ = Work(h.Store, items[i]) })
}
