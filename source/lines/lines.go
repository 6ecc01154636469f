// Package lines splits comma-separated text without quotes into lines and cells, and reads the
// plain decimal numbers among them.
//
// It does what encoding/csv and strconv do, for the common case only and several times as fast, and
// reports where that case ends: there its user continues with those two.
package lines

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"slices"
)

const (
	// firstBuffer is a guess: large compared with a line and a pipe's piece, small compared with a
	// cache.
	firstBuffer = 128 << 10
	// slack is the number of bytes after the buffer's text: decimals loads up to 49 from where a
	// cell begins, and read eight at once.
	slack = 64
	// emptyReads is the number of times that a reader may return nothing without an error.
	emptyReads = 100
)

var (
	// ErrQuoted is returned at a line with a quote: that line and all that follows are left for
	// Rest.
	ErrQuoted = errors.New("lines: a quote")
	// ErrLong is returned for a line that is longer than allowed.
	ErrLong = errors.New("lines: a line that is too long")
)

// A Reader reads lines, which end with LF or CRLF. Blank ones are skipped.
type Reader struct {
	in    io.Reader
	err   error // of in, once it has ended or failed
	most  int
	text  []byte // is followed by slack bytes
	at    int    // the first byte of text that is in no returned line
	line  int
	cells []cell
}

// A cell is text[from:to], and its number, NaN if it was not read here.
type cell struct {
	from, to int
	value    float64
}

// New reads from in, in lines of at most most bytes each.
func New(in io.Reader, most int) *Reader {
	return &Reader{in: in, most: most, text: make([]byte, 0, firstBuffer)}
}

// Line returns the number of lines read, blank ones too.
func (r *Reader) Line() int { return r.line }

// Rest returns the input after the last line that was read.
func (r *Reader) Rest() io.Reader {
	return io.MultiReader(bytes.NewReader(r.text[r.at:]), ended{r.err}, r.in)
}

// An ended reader has failed, or is at its end.
type ended struct{ err error }

// Read implements io.Reader.
func (e ended) Read([]byte) (int, error) { return 0, cmp.Or(e.err, io.EOF) }

// Next reads one line and returns its number of cells; the first of them, as many as first says,
// can be asked for until the next call.
func (r *Reader) Next(first int) (cells int, err error) {
	for {
		end, next, err := r.end()
		if err != nil {
			return 0, err
		}
		begin, stop := r.at, end
		if stop > begin && r.text[stop-1] == '\r' {
			stop--
		}
		cells, plain := r.split(begin, stop, first)
		if !plain && bytes.IndexByte(r.text[begin:end], '"') >= 0 {
			return 0, ErrQuoted
		}
		if r.at = next; end == next && stop == begin {
			continue // at the end of the text: half a line end
		}
		if r.line++; stop > begin {
			return cells, nil
		}
	}
}

// end finds the end of the line at r.at, and the beginning of the next.
func (r *Reader) end() (end, next int, err error) {
	seen := 0 // bytes of the line that hold no line end
	for {
		if i := bytes.IndexByte(r.text[r.at+seen:], '\n'); i >= 0 && seen+i <= r.most {
			end = r.at + seen + i
			return end, end + 1, nil
		}
		seen = len(r.text) - r.at
		switch {
		case r.err == nil && seen <= r.most:
			r.fill()
		case bytes.IndexByte(r.text[r.at:], '"') >= 0:
			return 0, 0, ErrQuoted
		case seen > r.most:
			return 0, 0, ErrLong
		case r.err == io.EOF && seen > 0:
			r.text[:cap(r.text)][len(r.text)] = '\n' // the byte there may have been a digit
			return len(r.text), len(r.text), nil
		default:
			return 0, 0, r.err
		}
	}
}

// fill reads more text after the rest of the old.
func (r *Reader) fill() {
	left, size := r.text[r.at:], cap(r.text)
	switch {
	case len(left) >= size/4*3:
		r.text = append(make([]byte, 0, 2*size), left...)
	case r.at > 0:
		r.text = append(r.text[:0], left...)
	}
	r.at = 0
	for range emptyReads {
		n, err := r.in.Read(r.text[len(r.text) : cap(r.text)-slack])
		r.text = r.text[:len(r.text)+n]
		if r.err = err; n > 0 || err != nil {
			return
		}
	}
	r.err = io.ErrNoProgress
}

// split reads the first cells of a line, and counts all; a plain line has no others, and no quote.
func (r *Reader) split(from, end, first int) (cells int, plain bool) {
	text, n := r.text[:cap(r.text)], 0
	r.cells, plain = slices.Grow(r.cells[:0], first)[:first], true
	for from <= end && n < first {
		var read int
		if read, from = decimals(text, from, end, r.cells[n:]); read == 0 {
			from, read, plain = r.cells[n].read(text, from, end), 1, false
		}
		n += read
	}
	if from > end {
		return n, plain
	}
	return first + 1 + bytes.Count(text[from:end], []byte{','}), false
}

// read reads the cell that begins at from, and returns where the next one does.
func (c *cell) read(text []byte, from, end int) int {
	d, to := read(text, from)
	if to < end && text[to] != ',' { // the cell has more text
		d = none
		if i := bytes.IndexByte(text[to:end], ','); i >= 0 {
			to += i
		} else {
			to = end
		}
	}
	*c = cell{from, to, d.value()}
	return to + 1
}

// Cell returns a cell's text, which the next call of Next overwrites.
func (r *Reader) Cell(i int) []byte { return r.text[r.cells[i].from:r.cells[i].to] }

// Numbers sets values to the float64 nearest to the numbers in some cells: NaN where Decimal does
// not read the cell, which may still be a number.
func (r *Reader) Numbers(cells []int, values []float64) {
	for i, c := range cells {
		values[i] = r.cells[c].value
	}
}
