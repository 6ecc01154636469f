package sharded

import (
	"context"
	"fmt"

	"github.com/gauze-dp/gauze/kernel/internal/engine"
	"github.com/gauze-dp/gauze/parallel"
)

// A chunk is a run of rows stored together, from row First of the table on.
type chunk struct {
	First, Rows int
	At          int // offset in the shard
	Check       uint64
}

// A shard is the part of a table that one worker reads at a time.
type shard struct {
	Number  int
	Chunks  []chunk
	Partial bool // it has partial rows, which are null rows in it: a partial is written for them
}

func (s shard) rows() (n int) {
	for _, c := range s.Chunks {
		n += c.Rows
	}
	return n
}

// A partial holds the partial rows of a shard: their numbers among its rows, in order, and their
// cells.
type partial struct {
	At    []int
	Cells []float64
}

func shardName(table, i int) string { return fmt.Sprintf("shard.%d.%d", table, i) }
func cellsName(table, i int) string { return fmt.Sprintf("cells.%d.%d", table, i) }

// A layout says which chunks of a table are in which shard.
type layout struct {
	number, shards int
	here           map[int]bool // chunks that no worker can read, by their first rows
	own            []shard
}

// layout lays a table out, once: the table is filled before anything is asked of it. Workers check
// what they read against the hashes taken here.
func (p *pool) layout(t *engine.Table) (*layout, error) {
	if l := p.tables[t]; l != nil {
		return l, nil
	}
	l := &layout{number: len(p.tables) + 1, here: map[int]bool{}}
	for first := 0; first < t.Len(); first += engine.ChunkRows {
		number, at, ok := p.store.Place(t.Row(first))
		if !ok {
			l.here[first] = true
			continue
		}
		if len(l.own) == 0 || l.own[len(l.own)-1].Number != number {
			l.own = append(l.own, shard{Number: number})
		}
		last, n := &l.own[len(l.own)-1], min(engine.ChunkRows, t.Len()-first)
		last.Chunks = append(last.Chunks, chunk{First: first, Rows: n, At: at})
	}
	faults := make([]error, len(l.own))
	err := parallel.Each(context.Background(), len(l.own), func(i int) { faults[i] = l.write(p.store, t, i) })
	for _, fault := range faults {
		if err == nil {
			err = fault
		}
	}
	if err != nil {
		return nil, err
	}
	if l.shards = len(l.own); l.shards > 0 { // a table without work for workers is not kept
		p.tables[t] = l
	}
	return l, nil
}

// write records the hash of a shard's rows, and writes its partial rows beside them.
func (l *layout) write(s Store, t *engine.Table, i int) error {
	own, cells, n := &l.own[i], partial{}, 0
	read, seen := t.Pieces(), engine.Seen{Table: t}.Pieces()
	for k := range own.Chunks {
		c, h := &own.Chunks[k], hash(0)
		for row := c.First; row < c.First+c.Rows; row += engine.PieceRows {
			piece := read(row / engine.PieceRows)
			h.numbers(piece)
			cells.note(piece, n, t.Columns(), func() []float64 { return seen(row / engine.PieceRows) })
			n += len(piece) / t.Columns()
		}
		c.Check = uint64(h)
	}
	if own.Partial = len(cells.At) > 0; own.Partial && put(s, cellsName(l.number, i), cells) != nil {
		return errWorkers
	}
	if put(s, shardName(l.number, i), *own) != nil {
		return errWorkers
	}
	return nil
}

// note keeps the partial rows of a piece, whose first row is row at of the shard.
func (p *partial) note(piece []float64, at, d int, seen func() []float64) {
	var all []float64
	for i := 0; i < len(piece); i += d {
		if piece[i] == piece[i] {
			continue
		}
		if all == nil {
			all = seen()
		}
		for _, v := range all[i : i+d] {
			if v == v {
				p.At, p.Cells = append(p.At, at+i/d), append(p.Cells, all[i:i+d]...)
				break
			}
		}
	}
}
