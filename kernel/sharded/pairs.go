package sharded

import (
	"fmt"
	"sync"

	"github.com/gauze-dp/gauze/kernel/internal/engine"
	"github.com/gauze-dp/gauze/kernel/query"
)

// A pairList holds the part of engine.Pairs that one worker reads: x, y, x, y, .. Pairs are drawn
// where the fit runs, once for all attempts, and stored as the rows are.
type pairList struct {
	Of []int32
}

func pairsName(asked int) string { return fmt.Sprintf("pairs.%d.", asked) }

// split separates the pairs with a row in a chunk that no worker can read from the others.
func (l *layout) split(pairs [][2]int32) (here, theirs [][2]int32) {
	own := func(row int32) bool { return l.here[int(row)/engine.ChunkRows*engine.ChunkRows] }
	for _, p := range pairs {
		if own(p[0]) || own(p[1]) {
			here = append(here, p)
		} else {
			theirs = append(theirs, p)
		}
	}
	return here, theirs
}

// writePairs writes lists of pairs, as many as there are shards: each takes about the same time to
// read.
func (p *pool) writePairs(all engine.Pairs, l *layout) (parts int, err error) {
	_, theirs := l.split(all.Of)
	for part := range l.shards {
		list := pairList{}
		for _, pair := range theirs[part*len(theirs)/l.shards : (part+1)*len(theirs)/l.shards] {
			list.Of = append(list.Of, pair[0], pair[1])
		}
		if put(p.store, fmt.Sprint(pairsName(p.asked), part), list) != nil {
			return 0, errWorkers
		}
	}
	return l.shards, nil
}

// pairs reads the rows of a list of pairs, wherever they are, adds their differences, and returns
// the number of values read.
func (t task) pairs(s Store, asked, part int) (found query.Accumulator, read int, err error) {
	var list pairList
	if err := get(s, fmt.Sprint(pairsName(asked), part), &list); err != nil {
		return nil, 0, err
	}
	of, err := tableOf(s, t)
	if err != nil {
		return nil, 0, err
	}
	r := reach{s: s, task: t, of: of, open: map[int][]float64{}}
	defer r.leave()
	found = t.Scan.Start(t.Columns)
	piece := make([]float64, 0, engine.PieceRows*t.Columns)
	for ; len(list.Of) >= 2; list.Of = list.Of[2:] {
		x, y := r.row(int(list.Of[0])), r.row(int(list.Of[1]))
		if r.err != nil {
			return nil, 0, r.err
		}
		for j, v := range x {
			piece = append(piece, v-y[j])
		}
		if len(piece) == cap(piece) || len(list.Of) == 2 {
			found.Add(0, piece)
			read += len(piece)
			piece = piece[:0]
		}
	}
	return found, read, nil
}

// A reach is the set of a table's chunks that one worker has open.
type reach struct {
	task
	s    Store
	of   map[int]located
	open map[int][]float64 // by their first rows
	left []func()
	err  error
}

// located is a chunk, and its shard.
type located struct {
	chunk
	shard int
}

// row returns one row of the table, of any shard.
func (r *reach) row(i int) []float64 {
	first, d := i/engine.ChunkRows*engine.ChunkRows, r.Columns
	numbers, ok := r.open[first]
	if !ok {
		at, known := r.of[first]
		if !known {
			r.err = errText
			return nil
		}
		var leave func()
		if numbers, leave, r.err = at.chunk.open(r.s, r.task, at.shard); r.err != nil {
			return nil
		}
		r.open[first], r.left = numbers, append(r.left, leave)
	}
	return numbers[(i-first)*d : (i-first+1)*d]
}

func (r *reach) leave() {
	for _, leave := range r.left {
		leave()
	}
	clear(r.open)
	r.left = nil
}

// tables are the chunks of tables whose pairs this process has read.
var tables sync.Map

// tableOf returns the places of a table's chunks, by their first rows.
func tableOf(s Store, t task) (map[int]located, error) {
	name := reading{s, t.Table, -1}
	if of, ok := tables.Load(name); ok {
		return of.(map[int]located), nil
	}
	of := map[int]located{}
	for i := range t.Shards {
		var own shard
		if err := get(s, shardName(t.Table, i), &own); err != nil {
			return nil, err
		}
		for _, c := range own.Chunks {
			of[c.First] = located{c, own.Number}
		}
	}
	tables.Store(name, of)
	return of, nil
}
