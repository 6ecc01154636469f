// Package counted reads tables as package local does, and counts how often: for tests and
// benchmarks.
package counted

import (
	"sync"

	"github.com/gauze-dp/gauze/kernel/engine"
	"github.com/gauze-dp/gauze/kernel/engine/local"
	"github.com/gauze-dp/gauze/kernel/internal/rows"
	"github.com/gauze-dp/gauze/kernel/query"
)

// An Engine counts what is read through it. Like others it is a plain number.
type Engine struct{ number int }

// counts are what the numbers of engines stand for.
var counts struct {
	sync.Mutex
	all []count
}

type count struct {
	tables []*rows.Table
	read   int // rows, of all of them
}

// New returns an engine for one table.
func New() Engine {
	counts.Lock()
	defer counts.Unlock()
	counts.all = append(counts.all, count{})
	return Engine{len(counts.all) - 1}
}

// Scan is local.Engine's.
func (e Engine) Scan(s rows.Source, q query.Scan) query.Accumulator {
	e.count(s)
	return local.Engine{}.Scan(s, q)
}

func (e Engine) count(s rows.Source) {
	if stopping, ok := s.(engine.Stopping); ok {
		s = stopping.Source
	}
	n, table := s.Len(), (*rows.Table)(nil)
	switch s := s.(type) {
	case *rows.Table:
		table = s
	case rows.Seen:
		table = s.Table
	case rows.Marks:
		table = s.Table
	case rows.Pairs:
		n, table = 2*n, s.Table
	}
	counts.Lock()
	defer counts.Unlock()
	c := &counts.all[e.number]
	c.read += n
	for _, known := range c.tables {
		if known == table {
			return
		}
	}
	c.tables = append(c.tables, table)
}

// Passes is how often all rows of the longest table were read: a pass over part of them counts as
// that part, one over pairs of rows as two rows a pair, and what was made of the table and read in
// its place counts a pass over the table, and its own rows.
func (e Engine) Passes() float64 {
	counts.Lock()
	defer counts.Unlock()
	c := counts.all[e.number]
	if len(c.tables) == 0 {
		return 0
	}
	longest := 0
	for _, t := range c.tables {
		longest = max(longest, t.Len())
	}
	return float64(c.read)/float64(longest) + float64(len(c.tables)-1)
}
