// Package sharded has tables read by workers, in this process or on other machines, whatever hands
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
	"sync"

	"github.com/gauze-dp/gauze/kernel/internal/engine"
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
	// Key is a word drawn for the store, known to nobody who cannot read it; asked where the fit
	// runs.
	Key() string
}

// A Scheduler hands out work. It may do so more than once, and in any order.
type Scheduler interface {
	// Run returns when Work has been called with every item, wherever the store can be reached.
	// Whether it was done is seen in the store: if not all was, everything is asked for again.
	Run(ctx context.Context, items []string) error
}

// attempts is how often a question is asked until workers have answered. A guess.
const attempts = 3

// errWorkers is all that is said of work that was not done: what a worker says of itself may depend
// on rows.
var errWorkers = errors.New("sharded: workers did not answer")

// An Engine reads tables in the room of a store. Workers take sums of rows, partial rows among
// them, and of pairs of rows, say which leaf each row is in and what a column holds, and count
// cells of unbounded histograms. What else is asked is read where the fit runs, such as which cells
// partial rows lack, and so are the rows that no worker can read, and those that are paired with
// one.
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
	mu       sync.Mutex // guards what follows, and lets one question be asked at a time
	asked    int        // questions
	tables   map[*engine.Table]*layout
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
	pools.all = append(pools.all, &pool{store: store, schedule: schedule, tables: map[*engine.Table]*layout{}})
	return Engine{len(pools.all)}
}

// Scan asks the workers if it can.
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

// pool is nil for the zero Engine.
func (e Engine) pool() *pool {
	pools.Lock()
	defer pools.Unlock()
	if e.number < 1 || e.number > len(pools.all) {
		return nil
	}
	return pools.all[e.number-1]
}

// Here works on the cores of this process.
type Here struct{ Store Store }

// Run does the work side by side.
func (h Here) Run(ctx context.Context, items []string) error {
	return parallel.Each(ctx, len(items), func(i int) { _ = Work(h.Store, items[i]) })
}
