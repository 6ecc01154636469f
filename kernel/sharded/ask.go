package sharded

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/gauze-dp/gauze/kernel/internal/engine"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parallel"
)

// A question is a scan of a source.
type question struct {
	task   // the part that workers see
	scan   query.Scan
	source engine.Source
	table  *engine.Table
}

// questionOf returns the question for workers; ok is false for scans that workers are not asked.
func questionOf(s engine.Source, q query.Scan) (asked question, ok bool) {
	asked.Columns, asked.Scan, asked.scan, asked.source = s.Columns(), q, q, s
	_, ok = q.(query.Summed)
	switch s := s.(type) {
	case *engine.Table:
		asked.table = s
		switch q := q.(type) {
		case query.Placing:
			q.Leaf, q.Value = nil, nil
			asked.Scan, ok = q, true
		case query.BoxKeys:
			ok = true
		}
	case engine.Seen:
		asked.table, asked.As, asked.Fill = s.Table, cells, s.Fill
	case engine.Pairs:
		asked.table, asked.As = s.Table, differences
	default:
		ok = false
	}
	return asked, ok
}

// scan returns the answer to a question, nil if workers cannot be asked it. It panics if they do
// not answer.
func (p *pool) scan(ctx context.Context, q question) query.Accumulator {
	p.mu.Lock()
	defer p.mu.Unlock()
	l, err := p.layout(q.table)
	if err != nil {
		panic(err)
	}
	q.Table, q.Shards = l.number, l.shards
	if _, err := encode(q.task); err != nil || l.shards == 0 { // a kind that workers cannot answer, or no rows that they can read
		return nil
	}
	own, read := q.here(ctx, l)
	answers, err := p.ask(ctx, q, l)
	switch {
	case ctx.Err() != nil:
		return own // the caller discards it
	case err != nil:
		panic(err)
	}
	if !q.merge(own, read, answers, l) {
		panic(errText)
	}
	return own
}

// here returns the answer over the rows that no worker can read, and over their pairs, and the
// number of values read.
func (q question) here(ctx context.Context, l *layout) (own query.Accumulator, numbers int) {
	if p, ok := q.source.(engine.Pairs); ok {
		p.Of, _ = l.split(p.Of)
		return engine.Local{}.Scan(engine.Stopping{Source: p, Context: ctx}, q.scan), p.Len() * q.Columns
	}
	own, read := q.scan.Start(q.Columns), q.source.Pieces()
	for first := range l.here {
		for row := first; row < min(q.table.Len(), first+engine.ChunkRows) && ctx.Err() == nil; row += engine.PieceRows {
			piece := read(row / engine.PieceRows)
			own.Add(row, piece)
			numbers += len(piece)
		}
	}
	return own, numbers
}

// merge adds the workers' answers to the accumulator of the rows here. It returns false if together
// they do not cover all rows.
func (q question) merge(own query.Accumulator, read int, answers []*answer, l *layout) bool {
	for _, a := range answers {
		read += a.Read
	}
	if read != q.source.Len()*q.Columns {
		return false
	}
	switch own := own.(type) {
	case *query.Total:
		for _, a := range answers {
			if len(a.Sum) != len(own.Sum) {
				return false
			}
			own.Merge(&query.Total{Sum: a.Sum, Read: a.Read})
		}
		return true
	case *query.Places:
		return placed(own, answers, l)
	case *query.Boxes:
		return counted(own, answers)
	}
	return false
}

// ask has workers answer a question part by part. It returns one answer for each part, however
// often workers were asked.
func (p *pool) ask(ctx context.Context, q question, l *layout) (answers []*answer, err error) {
	p.asked++
	name, parts := askName(p.asked), l.shards
	defer p.forget(name)
	defer p.forget(pairsName(p.asked))
	if of, ok := q.source.(engine.Pairs); ok {
		if parts, err = p.writePairs(of, l); err != nil {
			return nil, err
		}
	}
	q.Key = []byte(p.store.Key())
	if put(p.store, name, q.task) != nil {
		return nil, errWorkers
	}
	for attempt := 1; attempt <= attempts && parts > 0 && answers == nil && err == nil && ctx.Err() == nil; attempt++ {
		key := answersName(p.asked, attempt)
		var items []string
		for part := range parts {
			items = append(items, fmt.Sprintf("%d.%d.%d", p.asked, attempt, part))
		}
		if parallel.Await(ctx, func() { p.run(ctx, items) }) != nil {
			return nil, errWorkers
		}
		answers, err = p.collect(q.task, key, parts)
		p.forget(key)
	}
	if answers == nil && parts > 0 && err == nil {
		err = errWorkers
	}
	return answers, err
}

// run hands work out. Whether it was done shows in the answers: what counts is that all of them are
// there.
func (p *pool) run(ctx context.Context, items []string) {
	defer func() { _ = recover() }()
	_ = p.schedule.Run(ctx, items)
}

// collect reads the answers of an attempt. It returns nil if one is missing, and an error if two
// workers disagree or one answer is damaged, which no further attempt will fix.
func (p *pool) collect(of task, key string, parts int) ([]*answer, error) {
	names, err := p.store.Names(key)
	if err != nil {
		return nil, nil
	}
	answers, found := make([]*answer, parts), make([]string, parts)
	for _, name := range names {
		part, err := strconv.Atoi(strings.Split(strings.TrimPrefix(name, key), ".")[0])
		if err != nil || part < 0 || part >= parts || found[part] != "" {
			return nil, errText
		}
		found[part] = name
	}
	if len(names) < parts {
		return nil, nil
	}
	var lost, damaged atomic.Bool
	together(parts, func(part int) {
		text, err := p.store.Read(found[part])
		if err != nil {
			lost.Store(true)
			return
		}
		var a answer
		if sum, err := unseal(text, &a); err != nil || found[part] != of.answerName(key, part, sum) {
			damaged.Store(true)
		}
		answers[part] = &a
	})
	switch {
	case damaged.Load():
		return nil, errText
	case lost.Load():
		return nil, nil
	}
	return answers, nil
}

// forget removes the names with this prefix, as far as it can: the rest goes with the store.
func (p *pool) forget(prefix string) {
	names, _ := p.store.Names(prefix)
	together(len(names), func(i int) { _ = p.store.Remove(names[i]) })
}

// calls is the number of concurrent calls of a store. A guess: a store of objects answers after
// tens of milliseconds, and answers as long as a shard take memory.
const calls = 16

// together calls f(0), .., f(n-1), each once, several at a time: more than there are cores, because
// they wait for the store.
func together(n int, f func(i int)) {
	parallel.Run(min(n, calls), func(first int) {
		for i := first; i < n; i += calls {
			f(i)
		}
	})
}
