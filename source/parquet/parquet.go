// Package parquet reads Parquet files: one column chunk of each selected column at a time, a page
// of each in memory.
//
// It uses the parts of parquet-go that know the format (footer, encodings, compression) and not its
// main package, which adds six megabytes that a reader of plain columns does not need: rows by
// reflection, protocol buffers, geometry, encryption.
package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/gauze-dp/gauze/source"
)

// reader reads the columns of one file.
type reader struct {
	name     string
	file     *os.File
	groups   []format.RowGroup
	leaves   []leaf // of the header
	selected []int
	labels   []int
	columns  []*column // of the current group: the selected columns, then the labels
	rows     int64     // rows of the group not read yet
}

// Of reads a Parquet file; name is used in errors. It owns the file, which is closed with the
// reader, or here if there is an error in its footer.
func Of(name string, file *os.File) (source.Reader, error) {
	r := &reader{name: name, file: file}
	if err := guarded(r.footer); err != nil {
		file.Close()
		return nil, r.fault(err)
	}
	for i := range r.leaves {
		r.selected = append(r.selected, i)
	}
	return r, nil
}

// guarded runs f, and returns a decoder's panic on a damaged file as an error.
func guarded(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errDamaged
		}
	}()
	return f()
}

var errDamaged = fmt.Errorf("damaged data")

// fault returns an error for the custodian without the library's own text, which may hold bytes of
// a cell.
func (r *reader) fault(err error) error {
	if _, ours := err.(*source.Error); ours {
		return err
	}
	return &source.Error{Field: "input", Wanted: "a whole Parquet file", Got: "damaged data", Hint: "write or copy " + r.name + " again"}
}

const (
	magic     = "PAR1"
	encrypted = "PARE"
	tailSize  = 8 // the footer's size and the magic
)

// footer reads the file's schema and the places of its columns.
func (r *reader) footer() error {
	info, err := r.file.Stat()
	if err != nil {
		return err
	}
	var tail [tailSize]byte
	if _, err := r.file.ReadAt(tail[:], info.Size()-tailSize); err != nil {
		return err
	}
	size := int64(binary.LittleEndian.Uint32(tail[:]))
	switch mark := string(tail[4:]); {
	case mark == encrypted:
		return &source.Error{Field: "input", Wanted: "a Parquet file", Got: "an encrypted one", Hint: "decrypt it first"}
	case mark != magic || size > info.Size()-tailSize:
		return errDamaged
	}
	data := make([]byte, size)
	if _, err := r.file.ReadAt(data, info.Size()-tailSize-size); err != nil {
		return err
	}
	var meta format.FileMetaData
	if err := thrift.NewDecoder(new(thrift.CompactProtocol).NewReader(bytes.NewReader(data))).Decode(&meta); err != nil {
		return err
	}
	r.groups = meta.RowGroups
	r.leaves, err = leavesOf(meta.Schema)
	return err
}

// Header implements source.Reader.
func (r *reader) Header() []string {
	names := make([]string, len(r.leaves))
	for i, l := range r.leaves {
		names[i] = l.name
	}
	return names
}

// Types implements source.Typed.
func (r *reader) Types() []source.Type {
	types := make([]source.Type, len(r.leaves))
	for i, l := range r.leaves {
		types[i] = l.holds
	}
	return types
}

// Select implements source.Reader: only these columns are read from the file.
func (r *reader) Select(columns, labels []int) {
	if r.rows > 0 { // a group whose columns are open
		var kept []*column
		for _, j := range columns {
			kept = append(kept, r.columns[slices.Index(r.selected, j)])
		}
		for _, j := range labels {
			kept = append(kept, r.columns[len(r.selected)+slices.Index(r.labels, j)])
		}
		r.columns = kept
	}
	r.selected, r.labels = columns, labels
}

// Close implements source.Reader.
func (r *reader) Close() error { return r.file.Close() }

// Next implements source.Reader.
func (r *reader) Next(values []float64, kinds []source.Kind, labels []string) error {
	for r.rows == 0 {
		if len(r.groups) == 0 {
			return io.EOF
		}
		if err := guarded(r.nextGroup); err != nil {
			return r.fault(err)
		}
	}
	r.rows--
	for i, c := range r.columns {
		if c.at == c.n {
			if err := guarded(c.nextPage); err != nil {
				return r.fault(err)
			}
		}
		at, there := c.next()
		switch {
		case at < 0:
			return r.fault(errDamaged)
		case i < len(values) && there:
			values[i], kinds[i] = c.leaf.cell(c.from, at)
			c.last = at
		case i < len(values):
			values[i], kinds[i] = 0, source.Missing
		case there:
			labels[i-len(values)] = c.leaf.text(c.from, at)
		default:
			labels[i-len(values)] = ""
		}
	}
	return nil
}

// Text implements source.Texts.
func (r *reader) Text(i int) (text string) {
	c := r.columns[i]
	_ = guarded(func() error {
		text = c.leaf.text(c.from, c.last)
		return nil
	})
	return text
}

// nextGroup opens the selected columns of the next group of rows.
func (r *reader) nextGroup() error {
	group := r.groups[0]
	r.groups, r.rows, r.columns = r.groups[1:], group.NumRows, r.columns[:0]
	for at, list := range [][]int{r.selected, r.labels} {
		for _, j := range list {
			leaf := &r.leaves[j]
			if leaf.holds.Hint != "" && !leaf.holds.Truth && at == 0 || leaf.nested {
				return &source.Error{Field: fmt.Sprintf("column %q", leaf.name), Wanted: "plain cells", Got: leaf.holds.Name, Hint: leaf.holds.Hint}
			}
			c, err := openColumn(r.file, leaf, &group.Columns[leaf.chunk])
			if err != nil {
				return err
			}
			r.columns = append(r.columns, c)
		}
	}
	return nil
}
