// Package arrow reads streams of Arrow record batches, the format in which programs pass tables
// through a pipe: little-endian, of version 5, packed or not.
//
// It is written here and not taken from the format's library, which reads far more and is five
// megabytes of a program. Nothing of a stream is trusted: not its cells, and not its sizes, for
// which no more memory is taken than the stream fills. The fields of a FlatBuffer are those of the
// format's Schema.fbs and Message.fbs, in their order.
package arrow

import (
	"errors"
	"io"

	"github.com/gauze-dp/gauze/source"
)

// reader reads one stream, a batch at a time.
type reader struct {
	name         string
	in           io.ReadCloser
	metadata     []byte // of the last message
	body         []byte // of the last batch
	fields       []*field
	dictionaries map[int]*column
	header       []string
	types        []source.Type
	selected     []int
	labels       []int
	columns      []*column // of the batch; only those that were asked for have cells
	rows, row    int       // of the batch, and the next
}

// Magic is the beginning of every stream, and of no text.
const Magic = "\xff\xff\xff\xff"

// Of reads a stream; name is used in errors. It owns in, which is closed with the reader, or here
// if there is an error in the schema.
func Of(name string, in io.ReadCloser) (source.Reader, error) {
	r := &reader{name: name, in: in, dictionaries: map[int]*column{}}
	if err := guarded(r.begin); err != nil {
		in.Close()
		return nil, r.fault(err)
	}
	return r, nil
}

// begin reads the schema.
func (r *reader) begin() error {
	m, err := r.message()
	if err != nil || m.kind != isSchema || m.header.number(0, 2, 0) != 0 {
		return errDamaged // .. or big-endian
	}
	r.fields = fieldsOf(m.header.tables(1))
	for i, f := range r.fields {
		r.header, r.types, r.selected = append(r.header, f.name), append(r.types, typeOf(f)), append(r.selected, i)
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
	for r.row == r.rows {
		if err := r.advance(); err != nil {
			return err
		}
	}
	for i, j := range r.selected {
		values[i], kinds[i] = r.columns[j].cell(r.row)
	}
	for i, j := range r.labels {
		labels[i] = r.columns[j].text(r.row)
	}
	r.row++
	return nil
}

// advance reads the next batch, and the dictionaries before it.
func (r *reader) advance() error {
	m, err := r.message()
	switch {
	case err != nil:
		return err
	case m.kind == isDictionary:
		return r.keep(m)
	case m.kind != isBatch:
		return errDamaged
	}
	wanted := make([]bool, len(r.fields))
	for _, j := range r.selected {
		wanted[j] = true
	}
	for _, j := range r.labels {
		wanted[j] = true
	}
	r.columns, r.rows, r.row = r.columns[:0], int(m.header.number(0, 8, 0)), 0
	p := r.open(m.header, m.body)
	for j, f := range r.fields {
		c := p.column(f, wanted[j])
		if c.n != r.rows {
			return errDamaged
		}
		r.columns = append(r.columns, c)
	}
	return nil
}

// Text implements source.Texts.
func (r *reader) Text(i int) (cell string) {
	_ = guarded(func() error {
		cell = r.columns[r.selected[i]].text(r.row - 1)
		return nil
	})
	return cell
}
