package kerneltest

import (
	"sync"

	"github.com/gauze-dp/gauze/kernel/internal/engine"
	"github.com/gauze-dp/gauze/kernel/query"
)

// A CountingEngine counts the rows that are read through it. Like other engines it is a plain
// number.
type CountingEngine struct{ number int }

// counts hold what the numbers of engines refer to.
var counts struct {
	sync.Mutex
	all []count
}

type count struct {
	tables []*engine.Table
	read   int // rows, over all tables
}

// NewCountingEngine returns an engine for one table.
func NewCountingEngine() CountingEngine {
	counts.Lock()
	defer counts.Unlock()
	counts.all = append(counts.all, count{})
	return CountingEngine{len(counts.all) - 1}
}

// Scan counts the rows and returns engine.Local's answer.
func (e CountingEngine) Scan(s engine.Source, q query.Scan) query.Accumulator {
	e.count(s)
	return engine.Local{}.Scan(s, q)
}

func (e CountingEngine) count(s engine.Source) {
	if stopping, ok := s.(engine.Stopping); ok {
		s = stopping.Source
	}
	n, table := s.Len(), (*engine.Table)(nil)
	switch s := s.(type) {
	case *engine.Table:
		table = s
	case engine.Seen:
		table = s.Table
	case engine.Marks:
		table = s.Table
	case engine.Pairs:
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

// Passes returns how often all rows of the longest table were read. A pass over part of them counts
// as that part, one over pairs of rows as two rows a pair. A table that was made of the rows, and
// read in their place, counts a pass over the table and its own rows.
func (e CountingEngine) Passes() float64 {
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
