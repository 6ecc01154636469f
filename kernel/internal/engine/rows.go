package engine

import (
	"fmt"
	"io"
	"math"
	"sync"
)

const (
	// PieceRows is the number of rows that an engine's worker takes at a time: a whole number of
	// the queries' panels.
	PieceRows = 1008
	// ChunkRows is the number of rows stored together: a whole number of pieces. Chunks are
	// allocated as the table grows and never copied, so a table costs its own size as float64 and
	// at most one chunk more.
	ChunkRows = 4 * PieceRows
)

// A Source is what an engine reads: a table, or the differences of its rows' pairs.
type Source interface {
	Columns() int
	Len() int
	// Pieces returns, for one worker, a function that reads piece i: up to PieceRows rows,
	// row-major, from row i PieceRows on. A piece is valid until the next one is read.
	Pieces() func(i int) []float64
}

// Table is an append-only table of n rows of d float64 values, row-major in chunks.
//
// Invariant: a row is either finite in every column or NaN in every column (a null row). Queries
// therefore recognise a null row by its first value, and a null row contributes zero to every one
// of them.
//
// A partial row, finite in some columns only, is a null row in the chunks. Its cells are kept
// apart, NaN where they are missing, and only Seen shows them. It takes twice the memory of others.
type Table struct {
	Protected
	d, n, good int // columns, rows, and rows that are finite in every column
	room       Room
	chunks     [][]float64
	at         []int      // the numbers of the partial rows, in order
	cells      []float64  // their cells, row-major
	codes      *Table     // of the rows' categories, see NewMixed; nil for none
	texts      [][]string // for which the codes stand, see NameCodes; nil for none
	mu         sync.Mutex // guards what is remembered
	of, was    any        // see Recall; nil: nothing yet
}

// A Room stores a table's chunks outside memory: it hands out slices for n numbers, with length
// zero, and is told which chunk will not be read for a while. Chunks keep their contents, both
// those that were left and those that others still read. A table is invalid if Err is not nil.
type Room interface {
	Chunk(n int) []float64
	Leave(chunk []float64)
	Err() error
}

// NewTable returns an empty table of d columns, in memory.
func NewTable(d int) *Table { return NewTableIn(d, nil) }

// NewTableIn returns an empty table of d columns whose chunks are in a room, or in memory for nil.
func NewTableIn(d int, room Room) *Table { return &Table{d: d, room: room} }

// Err returns why the room could not store all chunks of its tables: t may then show the same chunk
// in the place of several, so that one row stands there many times, and must be discarded.
func (t *Table) Err() error {
	if t.room == nil {
		return nil
	}
	return t.room.Err()
}

// Beside returns an empty table of d columns whose chunks are stored where those of t are.
func (t *Table) Beside(d int) *Table { return NewTableIn(d, t.room) }

// Append copies one row of d values. A value that is not finite is a missing cell: a row that has
// nothing else is the null row, and so is nil. A table with codes has rows of d + c values.
func (t *Table) Append(row []float64) {
	if t.codes != nil {
		row = t.appendCodes(row)
	}
	if row != nil && len(row) != t.d {
		panic("rows: a row has the wrong length")
	}
	t.was = nil
	if t.n == math.MaxInt32 {
		panic("rows: a table has at most 2^31-1 rows")
	}
	if t.n%ChunkRows == 0 {
		t.chunks = append(t.chunks, t.newChunk())
	}
	last := &t.chunks[len(t.chunks)-1]
	if present := present(row); present == t.d {
		*last = append(*last, row...)
		t.good++
	} else {
		for range t.d {
			*last = append(*last, math.NaN())
		}
		if present > 0 {
			t.at = append(t.at, t.n)
			for _, v := range row {
				t.cells = append(t.cells, v+0*v) // NaN unless v is finite
			}
		}
	}
	t.n++
}

// newChunk keeps small tables small: the first chunk grows by append, later ones are allocated
// whole.
func (t *Table) newChunk() []float64 {
	switch n := len(t.chunks); {
	case n == 0:
		return nil
	case t.room == nil:
		return make([]float64, 0, ChunkRows*t.d)
	default:
		t.room.Leave(t.chunks[n-1])
		return t.room.Chunk(ChunkRows * t.d)
	}
}

// present returns the number of finite values.
func present(row []float64) (n int) {
	for _, v := range row {
		if v-v == 0 {
			n++
		}
	}
	return n
}

// Columns returns d, which the schema makes public.
func (t *Table) Columns() int { return t.d }

// Len returns n, null rows included.
func (t *Table) Len() int { return t.n }

// Good returns the number of rows that are finite in every column, counted as they were appended.
// It is as secret as the rows.
func (t *Table) Good() int { return t.good }

// Pieces returns a function that reads the rows piece by piece, without copying them.
func (t *Table) Pieces() func(i int) []float64 {
	last := 0
	return func(i int) []float64 {
		const of = ChunkRows / PieceRows
		if t.room != nil && i/of != last {
			t.room.Leave(t.chunks[last])
			last = i / of
		}
		c := t.chunks[i/of]
		from := i % of * PieceRows * t.d
		return c[from:min(from+PieceRows*t.d, len(c))]
	}
}

// Row returns row i of the table without copying it.
func (t *Table) Row(i int) []float64 {
	c, at := t.chunks[i/ChunkRows], i%ChunkRows*t.d
	return c[at : at+t.d : at+t.d]
}

// Pairs are the differences x - y of pairs (x, y) of a table's rows, given by their numbers.
// Between two good rows they may be infinite but never NaN; with a null row they are NaN.
type Pairs struct {
	*Table
	Of [][2]int32
}

// Len returns the number of pairs.
func (p Pairs) Len() int { return len(p.Of) }

// Pieces returns a function that computes the differences piece by piece.
func (p Pairs) Pieces() func(i int) []float64 {
	piece := make([]float64, PieceRows*p.d)
	return func(i int) []float64 {
		to, of := piece, p.Of[i*PieceRows:min((i+1)*PieceRows, len(p.Of))]
		for k, pair := range of { // touches each row first, so that memory is asked for many rows at once
			x, y := p.Row(int(pair[0])), p.Row(int(pair[1]))
			piece[k] = x[0] + x[p.d-1] + y[0] + y[p.d-1]
		}
		for _, pair := range of {
			y := p.Row(int(pair[1]))
			for j, x := range p.Row(int(pair[0])) {
				to[j] = x - y[j]
			}
			to = to[p.d:]
		}
		return piece[:len(piece)-len(to)]
	}
}

// Protected is embedded in every type that holds rows or leads to them, so that such a value always
// prints as [protected].
type Protected struct{}

const protected = "[protected]"

// Format prints [protected] for every verb of package fmt.
func (Protected) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, protected) }

// String returns [protected], for callers that do not go through fmt.
func (Protected) String() string { return protected }

// GoString returns [protected].
func (Protected) GoString() string { return protected }

// MarshalText returns [protected], for encoders.
func (Protected) MarshalText() ([]byte, error) { return []byte(protected), nil }

// MarshalJSON returns "[protected]", for encoders.
func (Protected) MarshalJSON() ([]byte, error) { return []byte(`"` + protected + `"`), nil }
