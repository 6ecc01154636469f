package sharded

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gauze-dp/gauze/kernel/internal/engine"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parallel"
)

// A view is the form in which a question sees the rows of a table.
type view int

const (
	whole       view = iota
	cells            // partial rows too: see engine.Seen
	differences      // of pairs of rows
)

// A task is the question that every part is asked: each shard, or each list of pairs.
type task struct {
	Table, Shards, Columns int
	As                     view
	Fill                   []float64 // values of missing cells, or nil
	Scan                   query.Scan
	Key                    []byte // the store's
}

func askName(asked int) string { return "ask." + strconv.Itoa(asked) }

// answersName returns the prefix of the names of the answers to a question at an attempt.
func answersName(asked, attempt int) string { return fmt.Sprintf("answer.%d.%d.", asked, attempt) }

// An answer is the result of one part. Its name is a hash of its text, so that the same answer
// given twice is one, and two that differ are two. The store's key is hashed too; without it a name
// says nothing: those who may not read the store may see names, in lists and logs.
type answer struct {
	Read   int     // number of values
	Sum    []int64 // of a Summed
	Leaves []int32 // of a Placing, in the order of the shard's rows
	Values []float64
	Cells  []histogram // of a BoxKeys
}

// answerOf returns the contents of an accumulator that has read the given number of values.
func answerOf(found query.Accumulator, read int) answer {
	a := answer{Read: read}
	switch found := found.(type) {
	case *query.Total:
		a.Sum = found.Sum
	case *query.Places:
		a.Leaves, a.Values = found.Leaf, found.Value
	case *query.Boxes:
		a.Cells = histogramsOf(found.Counts)
	}
	return a
}

// answerName returns the name of an answer whose text has the given checksum, after the names of a
// question and an attempt.
func (t task) answerName(to string, part int, sum hash) string {
	named := sha256.Sum256(fmt.Appendf(nil, "%s.%s%d.%x", t.Key, to, part, uint64(sum)))
	return fmt.Sprintf("%s%d.%x", to, part, named[:8])
}

// Work does what an item of a Scheduler names: it reads a part and writes the result, both in the
// store, which must be comparable. The error is a constant, and panics become that error.
func Work(s Store, item string) (err error) {
	defer func() {
		if recover() != nil {
			err = errWorkers
		}
	}()
	parallel.Run(1, func(int) { // a lost disk is a panic there
		if work(s, item) != nil {
			err = errWorkers
		}
	})
	return err
}

func work(s Store, item string) error {
	var names [3]int // the question, the attempt, the part
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
	var asked task
	if err := get(s, askName(names[0]), &asked); err != nil {
		return err
	}
	read := asked.shard
	if asked.As == differences {
		read = asked.pairs
	}
	found, numbers, err := read(s, names[0], names[2])
	if err != nil {
		return err
	}
	text, sum, err := seal(answerOf(found, numbers))
	if err != nil {
		return err
	}
	return s.Write(asked.answerName(answersName(names[0], names[1]), names[2], sum), text)
}

// shard reads a shard's rows, and returns the number of values read.
func (t task) shard(s Store, _, part int) (found query.Accumulator, read int, err error) {
	var own shard
	var odd partial
	if err := get(s, shardName(t.Table, part), &own); err != nil {
		return nil, 0, err
	}
	if t.As != whole && own.Partial {
		if err := get(s, cellsName(t.Table, part), &odd); err != nil {
			return nil, 0, err
		}
	}
	if q, ok := t.Scan.(query.Placing); ok {
		t.Scan = placing(q, own.rows())
	}
	found = t.Scan.Start(t.Columns)
	at, room := 0, []float64(nil)
	for _, c := range own.Chunks {
		numbers, leave, err := c.open(s, t, own.Number)
		if err != nil {
			return nil, 0, err
		}
		for piece := range slices.Chunk(numbers, engine.PieceRows*t.Columns) {
			found.Add(at, t.seen(piece, at, odd, &room))
			at += len(piece) / t.Columns
		}
		leave()
	}
	return found, at * t.Columns, nil
}

// seen returns a piece, from row number at of its shard on, in the task's view: itself, or a copy
// in room.
func (t task) seen(piece []float64, at int, odd partial, room *[]float64) []float64 {
	k, _ := slices.BinarySearch(odd.At, at)
	n := len(piece) / t.Columns
	if t.As == whole || k == len(odd.At) || odd.At[k] >= at+n {
		return piece
	}
	*room = append((*room)[:0], piece...)
	own, d, few := *room, t.Columns, engine.NewTable(t.Columns)
	of := odd.At[k:]
	for len(of) > few.Len() && of[few.Len()] < at+n {
		few.Append(odd.Cells[(k+few.Len())*d : (k+few.Len()+1)*d])
	}
	images := engine.Seen{Table: few, Fill: t.Fill}.Pieces()(0)
	for i := range few.Len() {
		copy(own[(of[i]-at)*d:], images[i*d:(i+1)*d])
	}
	return own
}

// sound are the chunks that this process has checked: once is enough for a disk, and costs less
// than every time.
var sound sync.Map

type reading struct {
	Store
	table, first int
}

// Forget drops this process's hashes of the rows of a store in which it has no more work.
func Forget(s Store) {
	for _, known := range []*sync.Map{&sound, &tables} {
		known.Range(func(of, _ any) bool {
			if of.(reading).Store == s {
				known.Delete(of)
			}
			return true
		})
	}
}

// open returns the numbers of a chunk, valid until it is left.
func (c chunk) open(s Store, t task, shard int) (numbers []float64, leave func(), err error) {
	numbers, leave, err = s.Rows(shard, c.At, c.Rows*t.Columns)
	if err != nil {
		return nil, nil, err
	}
	of := reading{s, t.Table, c.First}
	if _, checked := sound.Load(of); !checked {
		var h hash
		if h.numbers(numbers); uint64(h) != c.Check || len(numbers) != c.Rows*t.Columns {
			leave()
			return nil, nil, errText
		}
		sound.Store(of, true)
	}
	return numbers, leave, nil
}
