// Package piped reads the rows that a program of ours, the one in Python, hands over through a
// pipe: columns of numbers and of text, batch by batch.
//
// A stream begins with Magic. Then come, all numbers little-endian, the size of the header (uint32)
// and the header, a JSON list of columns, each [name, "float64" | "float32" | "text"]; and batches:
// the number of their rows (uint32, 0 ends the stream), and the cells of every column, one column
// after another. Numbers are as their kind says, NaN where one is missing; of text the sizes of the
// cells (int32, -1 where one is missing), and then their UTF-8.
//
// Nothing of a stream is trusted: not its cells, and not its sizes, for which no more memory is
// taken than the stream fills.
package piped

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/gauze-dp/gauze/source"
)

// Magic is the beginning of every stream, and of no text.
const Magic = "\xffGAUZE\x00\x01"

// reader reads one stream, a batch at a time.
type reader struct {
	name             string
	in               io.ReadCloser
	header           []string
	types            []source.Type
	columns          []column
	selected, labels []int
	rows, row        int // of the batch, and the next
}

// A column is the cells of one column in one batch.
type column struct {
	size int    // bytes of a number; 0 for text
	data []byte // of numbers, or text
	cuts []byte // the sizes of texts
	ends []int  // where texts end; a missing one ends before it begins
}

// Of reads a stream; name is used in errors. It owns in, which is closed with the reader, or here
// if there is an error in the header.
func Of(name string, in io.ReadCloser) (source.Reader, error) {
	r := &reader{name: name, in: in}
	if err := r.begin(); err != nil {
		in.Close()
		return nil, r.fault()
	}
	return r, nil
}

var errDamaged = errors.New("damaged data")

// begin reads the header.
func (r *reader) begin() error {
	begin, err := fill(r.in, nil, len(Magic))
	if err != nil || string(begin) != Magic {
		return errDamaged
	}
	size, err := r.number()
	if err != nil {
		return err
	}
	text, err := fill(r.in, nil, size)
	if err != nil {
		return err
	}
	var columns [][2]string
	if err := json.Unmarshal(text, &columns); err != nil || len(columns) == 0 {
		return errDamaged
	}
	for i, c := range columns {
		kind := source.Type{Numbers: true, Name: "floating-point numbers"}
		size := map[string]int{"float64": 8, "float32": 4}[c[1]]
		if c[1] == "text" {
			kind = source.Type{Name: "text"}
		} else if size == 0 {
			return errDamaged
		}
		r.header, r.types, r.selected = append(r.header, c[0]), append(r.types, kind), append(r.selected, i)
		r.columns = append(r.columns, column{size: size})
	}
	return nil
}

// piece is how much is read at a time, so that a size that the stream states reserves no memory
// that it does not fill.
const piece = 1 << 20

// fill reads n bytes into a buffer. Where the stream just stops its writer died and rows are
// missing: the rows read must not be taken for the table.
func fill(in io.Reader, buffer []byte, n int) ([]byte, error) {
	buffer = buffer[:0]
	for len(buffer) < n {
		more := min(n-len(buffer), max(piece, len(buffer)))
		buffer = slices.Grow(buffer, more)[:len(buffer)+more]
		if _, err := io.ReadFull(in, buffer[len(buffer)-more:]); err != nil {
			return nil, errDamaged
		}
	}
	return buffer, nil
}

// number reads a number of 4 bytes.
func (r *reader) number() (int, error) {
	b, err := fill(r.in, nil, 4)
	if err != nil {
		return 0, err
	}
	return int(binary.LittleEndian.Uint32(b)), nil
}

// advance reads the next batch; io.EOF at the end of the stream.
func (r *reader) advance() (err error) {
	if r.rows, err = r.number(); err != nil {
		return err
	}
	if r.row = 0; r.rows == 0 {
		return io.EOF
	}
	for j := range r.columns {
		if err := r.columns[j].read(r.in, r.rows); err != nil {
			return err
		}
	}
	return nil
}

// read reads the column's cells of a batch.
func (c *column) read(in io.Reader, rows int) (err error) {
	if c.size > 0 {
		c.data, err = fill(in, c.data, c.size*rows)
		return err
	}
	if c.cuts, err = fill(in, c.cuts, 4*rows); err != nil {
		return err
	}
	end := 0
	c.ends = c.ends[:0]
	for i := range rows {
		switch size := int(int32(binary.LittleEndian.Uint32(c.cuts[4*i:]))); {
		case size < -1:
			return errDamaged
		case size == -1:
			c.ends = append(c.ends, -1)
		default:
			end += size
			c.ends = append(c.ends, end)
		}
	}
	c.data, err = fill(in, c.data, end)
	return err
}

// number returns a cell of a column of numbers.
func (c *column) number(i int) float64 {
	if c.size == 4 {
		return source.Widen(math.Float32frombits(binary.LittleEndian.Uint32(c.data[4*i:])))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(c.data[8*i:]))
}

// cell returns a value as the number that CSV of the same table would have.
func (c *column) cell(i int) (float64, source.Kind) {
	if c.size > 0 {
		return source.Cell(c.number(i))
	}
	if c.ends[i] < 0 {
		return 0, source.Missing
	}
	return source.ParseCell(c.text(i))
}

// text returns a value as people write it, "" if it is missing: persons and groups are
// distinguished by it.
func (c *column) text(i int) string {
	if c.size > 0 {
		if x := c.number(i); !math.IsNaN(x) {
			return strconv.FormatFloat(x, 'f', -1, 64)
		}
		return ""
	}
	if c.ends[i] < 0 {
		return ""
	}
	size := int(binary.LittleEndian.Uint32(c.cuts[4*i:]))
	return string(c.data[c.ends[i]-size : c.ends[i]])
}

// fault returns an error for the custodian, without what the stream holds.
func (r *reader) fault() error {
	return &source.Error{Field: "input", Wanted: "all rows of a program", Got: "damaged data, or a part of them", Hint: "write " + r.name + " again, to its end"}
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
	if r.row == r.rows {
		if err := r.advance(); err == io.EOF {
			return err
		} else if err != nil {
			return r.fault()
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

// Text implements source.Texts.
func (r *reader) Text(i int) string { return r.columns[r.selected[i]].text(r.row - 1) }
