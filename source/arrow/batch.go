package arrow

import (
	"errors"
	"fmt"
	"io"
	"slices"
)

// Kinds of messages, and the version of the format.
const (
	isSchema, isDictionary, isBatch = 1, 2, 3
	version                         = 4
)

// A message is one of the stream.
type message struct {
	kind   int
	header flat
	body   []byte
}

// piece is how much is read at a time, so that a size that the stream states reserves no memory
// that it does not fill.
const piece = 1 << 20

// fill reads n bytes into a buffer.
func fill(in io.Reader, buffer []byte, n int) ([]byte, error) {
	if n < 0 {
		return nil, errDamaged
	}
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

// message reads the next message; io.EOF if the writer ended the stream. Where the stream just
// stops its writer died and rows are missing: the rows read must not be taken for the table.
func (r *reader) message() (m message, err error) {
	var head [8]byte
	if _, err := io.ReadFull(r.in, head[:]); err != nil || string(head[:4]) != Magic {
		return m, errDamaged
	}
	size := int(int32(order.Uint32(head[4:])))
	if size == 0 {
		return m, io.EOF
	}
	if r.metadata, err = fill(r.in, r.metadata, size); err != nil {
		return m, err
	}
	top := root(r.metadata)
	m.kind = int(top.number(1, 1, 0))
	m.header, _ = top.table(2)
	if top.number(0, 2, 0) != version {
		return m, errDamaged
	}
	body := r.body
	if m.kind == isDictionary {
		body = nil // it is kept
	}
	if m.body, err = fill(r.in, body, int(top.number(3, 8, 0))); err == nil && m.kind == isBatch {
		r.body = m.body
	}
	return m, err
}

// A column is the cells of one field in one batch.
type column struct {
	*field
	n      int
	valid  []byte // a bit for each cell that is there; nil if all are
	data   []byte
	ends   []byte   // where texts end
	more   [][]byte // of views, what is longer than they can hold
	values *column  // of a dictionary
}

// A parcel is a batch whose buffers are handed to its columns one by one.
type parcel struct {
	reader   *reader
	body     []byte
	nodes    [][2]int // cells, and how many are missing
	buffers  [][2]int // offset and size
	variadic []int    // buffers behind each column of views
	codec    int      // that of packed buffers, -1 for none
}

// open returns the parcel of a batch.
func (r *reader) open(batch flat, body []byte) *parcel {
	p := &parcel{r, body, batch.pairs(1), batch.pairs(2), batch.numbers(4), -1}
	if c, packed := batch.table(3); packed {
		p.codec = int(c.number(0, 1, 0))
	}
	return p
}

// buffer returns the next buffer; it is unpacked only if it is wanted.
func (p *parcel) buffer(wanted bool) []byte {
	place := p.buffers[0]
	p.buffers = p.buffers[1:]
	if !wanted {
		return nil
	}
	b := p.body[place[0] : place[0]+place[1]]
	if p.codec < 0 || len(b) == 0 {
		return b
	}
	size, b := int(int64(order.Uint64(b))), b[8:]
	if size == -1 {
		return b // packing did not pay
	}
	out, err := unpack(p.codec, b, size)
	if err != nil {
		panic(err)
	}
	return out
}

// column returns the next column.
func (p *parcel) column(f *field, wanted bool) *column {
	c := &column{field: f, n: p.nodes[0][0]}
	missing := p.nodes[0][1]
	p.nodes = p.nodes[1:]
	kind, children := f.kind, f.children
	if f.index != nil {
		kind, children = typeInt, nil // numbers of the dictionary's
		c.values = p.reader.dictionaries[f.dictionary]
	}
	switch kind {
	case typeNull, typeRuns:
	case typeUnion:
		p.buffer(false)
		if !f.sparse {
			p.buffer(false)
		}
	default:
		if c.valid = p.buffer(wanted); missing == 0 {
			c.valid = nil
		}
	}
	switch kind {
	case typeInt, typeFloat, typeBool, typeDecimal, typeDate, typeTime, typeStamp, typeInterval, typeFixed, typeDuration:
		c.data = p.buffer(wanted)
	case typeText, typeBinary, typeLargeText, typeLargeBinary:
		c.ends = p.buffer(wanted)
		c.data = p.buffer(wanted)
	case typeList, typeLargeList, typeMap:
		p.buffer(false)
	case typeListView, typeLargeListView:
		p.buffer(false)
		p.buffer(false)
	case typeTextView, typeBinaryView:
		c.data = p.buffer(wanted)
		for range p.variadic[0] {
			c.more = append(c.more, p.buffer(wanted))
		}
		p.variadic = p.variadic[1:]
	case typeNull, typeUnion, typeStruct, typeFixedList, typeRuns:
	default:
		panic(fmt.Errorf("unknown type %d", kind))
	}
	for _, child := range children {
		p.column(child, false)
	}
	return c
}

// keep keeps a dictionary, for the batches that follow.
func (r *reader) keep(m message) error {
	batch, found := m.header.table(1)
	if !found || m.header.number(2, 1, 0) != 0 {
		return errors.New("a dictionary that adds to another")
	}
	id := int(m.header.number(0, 8, 0))
	for _, f := range r.fields {
		if f.index != nil && f.dictionary == id {
			values := *f
			values.index = nil
			r.dictionaries[id] = r.open(batch, m.body).column(&values, true)
		}
	}
	return nil
}
