package postgres

import (
	"io"

	"github.com/gauze-dp/gauze/parallel"
	"github.com/gauze-dp/gauze/source"
)

// piece holds the rows of a piece of a table.
type piece struct {
	columns, names int // of a row
	rows           int
	values         []float64
	kinds          []source.Kind
	labels         []string
	texts          map[int]string // of cells that are no number, by their indices among kinds
	err            error          // after the last row
}

// Say records the text of the i-th cell of the last added row.
func (r *piece) Say(i int, text string) {
	if r.texts == nil {
		r.texts = map[int]string{}
	}
	r.texts[(r.rows-1)*r.columns+i] = text
}

// Add returns room for one more row, valid until the next one is added.
func (r *piece) Add() (values []float64, kinds []source.Kind, labels []string) {
	for range r.columns {
		r.values, r.kinds = append(r.values, 0), append(r.kinds, source.Missing)
	}
	for range r.names {
		r.labels = append(r.labels, "")
	}
	r.rows++
	return r.at(r.rows - 1)
}

func (r *piece) at(i int) (values []float64, kinds []source.Kind, labels []string) {
	return r.values[i*r.columns:][:r.columns], r.kinds[i*r.columns:][:r.columns], r.labels[i*r.names:][:r.names]
}

// pieceTable reads a table in pieces, some of them at the same time, each hand one piece at a time,
// and returns its rows in the order of the pieces.
type pieceTable struct {
	hands  []func(piece int, into *piece) error
	pieces int
	next   int // the first piece that is not read
	read   []piece
	piece  int // index among those that are read
	row    int // of this piece
}

// newPieces returns a table of that many pieces, whose rows have that many columns and labels.
func newPieces(pieces, columns, labels int, hands []func(piece int, into *piece) error) *pieceTable {
	t := &pieceTable{hands: hands, pieces: pieces}
	for range hands {
		t.read = append(t.read, piece{columns: columns, names: labels})
	}
	t.piece = len(hands)
	return t
}

// Next returns a row as source.Reader does. The error of a hand comes after the rows that it has
// read, and after those of the pieces before.
func (t *pieceTable) Next(values []float64, kinds []source.Kind, labels []string) error {
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

// Text returns the text of the i-th cell of the row that was returned last.
func (t *pieceTable) Text(i int) string {
	r := &t.read[t.piece]
	return r.texts[(t.row-1)*r.columns+i]
}

// readMore has each hand read a piece.
func (t *pieceTable) readMore() {
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
