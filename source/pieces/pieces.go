// Package pieces reads a table in pieces, some of them side by side, and hands its rows over in the
// order of the pieces.
package pieces

import (
	"io"

	"github.com/gauze-dp/gauze/parallel"
	"github.com/gauze-dp/gauze/source"
)

// Rows are those of a piece.
type Rows struct {
	columns, names int // of a row
	rows           int
	values         []float64
	kinds          []source.Kind
	labels         []string
	texts          map[int]string // of cells that are no number, by their places among kinds
	err            error          // after the last of them
}

// Say notes the text of the i-th cell of the row that was added last.
func (r *Rows) Say(i int, text string) {
	if r.texts == nil {
		r.texts = map[int]string{}
	}
	r.texts[(r.rows-1)*r.columns+i] = text
}

// Add is room for one more row, until the next one is added.
func (r *Rows) Add() (values []float64, kinds []source.Kind, labels []string) {
	for range r.columns {
		r.values, r.kinds = append(r.values, 0), append(r.kinds, source.Missing)
	}
	for range r.names {
		r.labels = append(r.labels, "")
	}
	r.rows++
	return r.at(r.rows - 1)
}

func (r *Rows) at(i int) (values []float64, kinds []source.Kind, labels []string) {
	return r.values[i*r.columns:][:r.columns], r.kinds[i*r.columns:][:r.columns], r.labels[i*r.names:][:r.names]
}

// A Table is pieces that hands read: each hand one piece at a time.
type Table struct {
	hands  []func(piece int, into *Rows) error
	pieces int
	next   int // the first piece that is not read
	read   []Rows
	piece  int // of those that are read
	row    int // of this piece
}

// New returns a table of so many pieces, whose rows have so many columns and labels.
func New(pieces, columns, labels int, hands []func(piece int, into *Rows) error) *Table {
	t := &Table{hands: hands, pieces: pieces}
	for range hands {
		t.read = append(t.read, Rows{columns: columns, names: labels})
	}
	t.piece = len(hands)
	return t
}

// Next hands over a row as source.Reader does. What a hand fails with comes after the rows that it
// has read, and after those of the pieces before.
func (t *Table) Next(values []float64, kinds []source.Kind, labels []string) error {
	for {
		if t.piece < len(t.read) {
			r := &t.read[t.piece]
			if t.row < r.rows {
				v, k, l := r.at(t.row)
				copy(values, v)
				copy(kinds, k)
				copy(labels, l)
				t.row++
				return nil
			}
			if r.err != nil {
				return r.err
			}
			t.piece, t.row = t.piece+1, 0
			continue
		}
		if t.next >= t.pieces {
			return io.EOF
		}
		t.readMore()
	}
}

// Text returns what was said of the i-th cell of the row that was handed over last.
func (t *Table) Text(i int) string {
	r := &t.read[t.piece]
	return r.texts[(t.row-1)*r.columns+i]
}

// readMore has each hand read a piece.
func (t *Table) readMore() {
	parallel.Run(len(t.hands), func(i int) {
		r := &t.read[i]
		clear(r.texts)
		r.rows, r.values, r.kinds, r.labels, r.err = 0, r.values[:0], r.kinds[:0], r.labels[:0], nil
		if t.next+i < t.pieces {
			r.err = t.hands[i](t.next+i, r)
		}
	})
	t.next, t.piece, t.row = t.next+len(t.hands), 0, 0
}
