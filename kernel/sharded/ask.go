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

// A question is what is asked of a source.
type question struct {
	task   // what workers are told of it
	scan   query.Scan
	source engine.Source
	table  *engine.Table
}

// questionOf is false for what workers are not asked.
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

// scan is what a question finds, nil if workers cannot be asked it. It panics if they do not
// answer.
func (p *pool) scan(ctx context.Context, q question) query.Accumulator {
	p.mu.Lock()
	defer p.mu.Unlock()
	l, err := p.layout(q.table)
	if err != nil {
		panic(err)
	}
	q.Table, q.Shards = l.number, l.shards
	if _, err := encode(q.task); err != nil || l.shards == 0 { // of another kind, or none of their rows
		return nil
	}
	own, read := q.here(ctx, l)
	answers, err := p.ask(ctx, q, l)
	switch {
	case ctx.Err() != nil:
		return own // thrown away
	case err != nil:
		panic(err)
	}
	if !q.merge(own, read, answers, l) {
		panic(errText)
	}
	return own
}

// here is what the question finds in the rows that no worker can read, and in their pairs, and how
// many numbers these are.
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

// merge adds the answers to what was found here, false if they are not of all that was asked.
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

// ask has a question answered part by part: the answers, one for each, whoever was asked how often.
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

// run hands work out. Whether it was done is seen by the answers: that all are there is enough, and
// nothing less.
func (p *pool) run(ctx context.Context, items []string) {
	defer func() { _ = recover() }()
	_ = p.schedule.Run(ctx, items)
}

// collect reads the answers of an attempt: nil if one is missing, and an error if two workers
// disagree or one is damaged, which no attempt will mend.
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

// forget removes what begins so, as far as it can: what is left goes with the store.
func (p *pool) forget(prefix string) {
	names, _ := p.store.Names(prefix)
	together(len(names), func(i int) { _ = p.store.Remove(names[i]) })
}

// calls of a store are made at a time. A guess: one of objects answers after tens of milliseconds,
// and answers that are as long as a shard take memory.
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
