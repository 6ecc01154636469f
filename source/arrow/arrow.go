// Package arrow reads streams of Arrow record batches, the format in which programs pass tables
// through a pipe.
//
// Cells are not trusted, but the sizes that a stream states are: the library reserves that much
// memory. So a stream should come from a program of one's own, and a damaged one can end this
// process before anything is spent.
package arrow

import (
	"bytes"
	"errors"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/gauze-dp/gauze/source"
)

// reader reads one stream, a batch at a time.
type reader struct {
	name     string
	in       *tail
	stream   *ipc.Reader
	header   []string
	types    []source.Type
	selected []int
	labels   []int
	batch    arrow.RecordBatch // nil before the first
	row      int               // the next row of the batch
}

// Magic is the beginning of every stream, and of no text.
const Magic = "\xff\xff\xff\xff"

// end is the end of every stream.
const end = Magic + "\x00\x00\x00\x00"

// Of reads a stream; name is used in errors. It owns in, which is closed with the reader, or here
// if there is an error in the schema.
func Of(name string, in io.ReadCloser) (source.Reader, error) {
	r := &reader{name: name, in: &tail{ReadCloser: in}}
	if err := guarded(r.begin); err != nil {
		in.Close()
		return nil, r.fault(err)
	}
	return r, nil
}

// begin reads the schema.
func (r *reader) begin() (err error) {
	if r.stream, err = ipc.NewReader(r.in); err != nil {
		return err
	}
	for i, f := range r.stream.Schema().Fields() {
		r.header, r.types, r.selected = append(r.header, f.Name), append(r.types, typeOf(f.Type)), append(r.selected, i)
	}
	return nil
}

// guarded runs f, and returns a decoder's panic on a damaged stream as an error.
func guarded(f func() error) (err error) {
	defer func() {
		if recover() != nil {
			err = errDamaged
		}
	}()
	return f()
}

var errDamaged = errors.New("damaged data")

// fault returns an error for the custodian without the library's own text, which may hold bytes of
// a cell.
func (r *reader) fault(error) error {
	return &source.Error{Field: "input", Wanted: "a whole Arrow stream", Got: "damaged data, or a part of one", Hint: "write " + r.name + " again, to its end"}
}

// Header implements source.Reader.
func (r *reader) Header() []string { return r.header }

// Types implements source.Typed.
func (r *reader) Types() []source.Type { return r.types }

// Select implements source.Reader.
func (r *reader) Select(columns, labels []int) { r.selected, r.labels = columns, labels }

// Close implements source.Reader.
func (r *reader) Close() error { return r.in.Close() }

// Next implements source.Reader.
func (r *reader) Next(values []float64, kinds []source.Kind, labels []string) error {
	err := guarded(func() error { return r.next(values, kinds, labels) })
	if err != nil && err != io.EOF {
		return r.fault(err)
	}
	return err
}

func (r *reader) next(values []float64, kinds []source.Kind, labels []string) error {
	for r.batch == nil || r.row == int(r.batch.NumRows()) {
		if !r.stream.Next() {
			return r.over()
		}
		r.batch, r.row = r.stream.RecordBatch(), 0
	}
	for i, j := range r.selected {
		values[i], kinds[i] = cell(r.batch.Column(j), r.row)
	}
	for i, j := range r.labels {
		labels[i] = text(r.batch.Column(j), r.row)
	}
	r.row++
	return nil
}

// Text implements source.Texts.
func (r *reader) Text(i int) (cell string) {
	_ = guarded(func() error {
		cell = text(r.batch.Column(r.selected[i]), r.row-1)
		return nil
	})
	return cell
}

// over returns io.EOF if the writer ended the stream. Otherwise the writer died and rows are
// missing: the rows read must not be taken for the table.
func (r *reader) over() error {
	if err := r.stream.Err(); err != nil && err != io.EOF {
		return err
	}
	if !bytes.Equal(r.in.last, []byte(end)) {
		return errDamaged
	}
	return io.EOF
}

// tail keeps the last bytes that were read.
type tail struct {
	io.ReadCloser
	last []byte
}

// Read implements io.Reader.
func (t *tail) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	t.last = append(t.last, p[max(n-len(end), 0):n]...)
	t.last = append(t.last[:0], t.last[max(len(t.last)-len(end), 0):]...)
	return n, err
}
