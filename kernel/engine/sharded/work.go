package sharded

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/gauze-dp/gauze/kernel/internal/rows"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parallel"
)

// A task is what is asked of every shard.
type task struct {
	Table, Columns int
	query.Summed
}

// A chunk is rows that lie together, from number First of the table on.
type chunk struct {
	First, Rows int
	At          int // in the shard
	Check       uint64
}

// A shard is what one worker reads at a time.
type shard struct {
	Number int
	Chunks []chunk
}

// An answer is a shard's sum. It is named by what it says, so that the same answer given twice is
// one, and two that differ are two.
type answer struct {
	Sum  []int64
	Read int // numbers
}

func (a answer) name(shard int) string {
	text, _ := encode(a)
	var h hash
	h.text(text)
	return fmt.Sprintf("%d.%016x", shard, uint64(h))
}

func shardName(table, i int) string { return fmt.Sprintf("shard.%d.%d", table, i) }

// A layout says which chunks of a table are in which shard.
type layout struct {
	number, shards int
	here           []int // chunks that no worker can read
}

// layout lays a table out, once: it is filled before it is asked anything. What workers read of it
// they check against what was read here.
func (p *pool) layout(t *rows.Table) (*layout, error) {
	if l := p.tables[t]; l != nil {
		return l, nil
	}
	l := &layout{number: len(p.tables) + 1}
	var own []shard
	for first := 0; first < t.Len(); first += rows.ChunkRows {
		number, at, ok := p.store.Place(t.Row(first))
		if !ok {
			l.here = append(l.here, first)
			continue
		}
		if len(own) == 0 || own[len(own)-1].Number != number {
			own = append(own, shard{Number: number})
		}
		last, n := &own[len(own)-1], min(rows.ChunkRows, t.Len()-first)
		last.Chunks = append(last.Chunks, chunk{First: first, Rows: n, At: at})
	}
	if err := l.check(t, own); err != nil {
		return nil, err
	}
	for i, s := range own {
		text, err := encode(s)
		if err != nil || p.store.Write(shardName(l.number, i), text) != nil {
			return nil, errWorkers
		}
	}
	l.shards = len(own)
	p.tables[t] = l
	return l, nil
}

// check notes what the rows of shards hash to.
func (l *layout) check(t *rows.Table, own []shard) error {
	return parallel.Each(context.Background(), len(own), func(i int) {
		read := t.Pieces()
		for k := range own[i].Chunks {
			c, h := &own[i].Chunks[k], hash(0)
			for row := c.First; row < c.First+c.Rows; row += rows.PieceRows {
				h.numbers(read(row / rows.PieceRows))
			}
			c.Check = uint64(h)
		}
	})
}

// addHere adds the rows that no worker can read.
func (l *layout) addHere(ctx context.Context, t *rows.Table, total *query.Total) {
	read := t.Pieces()
	for _, first := range l.here {
		for row := first; row < min(t.Len(), first+rows.ChunkRows) && ctx.Err() == nil; row += rows.PieceRows {
			total.Add(row, read(row/rows.PieceRows))
		}
	}
}

// Work does what an item of a Scheduler names: it reads a shard and writes what it adds up to, both
// in the store, which must be comparable. The error is a constant, and panics are one.
func Work(s Store, item string) (err error) {
	defer func() {
		if recover() != nil {
			err = errWorkers
		}
	}()
	parallel.Run(1, func(int) { // where a disk that is lost is a panic
		if work(s, item) != nil {
			err = errWorkers
		}
	})
	return err
}

func work(s Store, item string) error {
	var names [3]int // what is asked, the attempt, the shard
	parts := strings.Split(item, ".")
	if len(parts) != len(names) {
		return errText
	}
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil {
			return err
		}
		names[i] = n
	}
	var question task
	var own shard
	if err := readInto(s, "ask."+strconv.Itoa(names[0]), &question); err != nil {
		return err
	}
	layout := shardName(question.Table, names[2])
	if err := readInto(s, layout, &own); err != nil {
		return err
	}
	total := question.Start(question.Columns)
	_, checked := sound.Load(reading{s, layout})
	for _, c := range own.Chunks {
		if err := c.add(s, own.Number, question.Columns, total, !checked); err != nil {
			return err
		}
	}
	sound.Store(reading{s, layout}, true)
	a := answer{total.(*query.Total).Sum, total.(*query.Total).Read}
	text, err := encode(a)
	if err != nil {
		return err
	}
	return s.Write(fmt.Sprintf("answer.%d.%d.%s", names[0], names[1], a.name(names[2])), text)
}

// sound are the shards that this process has checked: once is enough for a disk, and costs less
// than every time.
var sound sync.Map

type reading struct {
	Store
	name string
}

func readInto(s Store, name string, into any) error {
	text, err := s.Read(name)
	if err != nil {
		return err
	}
	return decode(text, into)
}

// add reads a chunk.
func (c chunk) add(s Store, shard, d int, total query.Accumulator, check bool) error {
	numbers, leave, err := s.Rows(shard, c.At, c.Rows*d)
	if err != nil {
		return err
	}
	defer leave()
	if check {
		var h hash
		if h.numbers(numbers); uint64(h) != c.Check || len(numbers) != c.Rows*d {
			return errText
		}
	}
	for at := 0; at < c.Rows; at += rows.PieceRows {
		total.Add(c.First+at, numbers[at*d:min(at+rows.PieceRows, c.Rows)*d])
	}
	return nil
}
