package parsed

import (
	"bufio"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/gauze-dp/gauze/source"
)

// A file has blocks of whole rows, each after its length and before its checksum, and ends with one
// that is empty. A row consists of its numbers, as little-endian float64, then the texts of cells
// of the kind NotNumber, then its labels, each text after its length. A cell that is no number is a
// NaN that encodes its kind.
const (
	blockBytes = 64 << 10 // about; a guess
	mostBytes  = 1 << 30  // of a block: more means damage
	number     = 8        // bytes
	word       = 4
	noNumber   = 0x7ff8_0000_0000_0000
)

var (
	table     = crc32.MakeTable(crc32.Castagnoli)
	errBroken = errors.New("parsed: a file of a fit is damaged")
)

// write writes all rows.
func write(out io.Writer, rows source.Reader, columns, labels int) error {
	values, kinds, names := make([]float64, columns), make([]source.Kind, columns), make([]string, labels)
	var block []byte
	for {
		err := rows.Next(values, kinds, names)
		if err != nil && err != io.EOF {
			return err
		}
		if err == nil {
			block = appendRow(block, rows, values, kinds, names)
		}
		if len(block) >= blockBytes || err == io.EOF && len(block) > 0 {
			if err := writeBlock(out, block); err != nil {
				return err
			}
			block = block[:0]
		}
		if err == io.EOF {
			return writeBlock(out, nil)
		}
	}
}

func appendRow(block []byte, rows source.Reader, values []float64, kinds []source.Kind, labels []string) []byte {
	for i, v := range values {
		bits := math.Float64bits(v)
		if kinds[i] != source.Number {
			bits = noNumber | uint64(kinds[i])
		}
		block = binary.LittleEndian.AppendUint64(block, bits)
	}
	for i, kind := range kinds {
		if kind == source.NotNumber {
			block = appendText(block, source.TextOf(rows, i))
		}
	}
	for _, l := range labels {
		block = appendText(block, l)
	}
	return block
}

func appendText(block []byte, text string) []byte {
	return append(binary.AppendUvarint(block, uint64(len(text))), text...)
}

func writeBlock(out io.Writer, block []byte) error {
	text := binary.LittleEndian.AppendUint32(make([]byte, 0, len(block)+2*word), uint32(len(block)))
	text = append(text, block...)
	_, err := out.Write(binary.LittleEndian.AppendUint32(text, crc32.Checksum(text, table)))
	return err
}

// A reader reads what write has written, and removes it in the end. It opens it with the first row:
// a file in pieces has many.
type reader struct {
	store  Store
	name   string
	file   io.ReadCloser // nil before the first row
	in     *bufio.Reader
	header []string
	text   []byte   // of the block
	block  []byte   // the rest of it
	texts  []string // of the last row's cells that are no number
}

// read returns a reader of a file's parsed content; nil if there is none. (A nil interface, not a
// nil *reader.)
func read(store Store, i int, columns, labels []string) source.Reader {
	name := answerName + strconv.Itoa(i)
	file, err := store.File(name)
	if err != nil || file.Close() != nil {
		return nil
	}
	return &reader{store: store, name: name, header: slices.Concat(columns, labels)}
}

// Header returns the selected columns.
func (r *reader) Header() []string { return r.header }

// Select does nothing.
func (r *reader) Select(_, _ []int) {}

// Close frees the disk space.
func (r *reader) Close() (err error) {
	if r.file != nil {
		err = r.file.Close()
	}
	return errors.Join(err, r.store.Remove(r.name))
}

// Next implements source.Reader.
func (r *reader) Next(values []float64, kinds []source.Kind, labels []string) error {
	if len(r.block) == 0 {
		if err := r.next(); err != nil {
			return err
		}
	}
	if len(r.block) < number*len(values) {
		return errBroken
	}
	for i := range values {
		bits := binary.LittleEndian.Uint64(r.block[i*number:])
		values[i], kinds[i] = math.Float64frombits(bits), source.Number
		if math.IsNaN(values[i]) {
			values[i], kinds[i] = 0, source.Kind(bits&^noNumber)
		}
	}
	r.block = r.block[number*len(values):]
	r.texts = slices.Grow(r.texts[:0], len(values))[:len(values)]
	for i, kind := range kinds {
		if kind != source.NotNumber {
			continue
		}
		if err := r.take(&r.texts[i]); err != nil {
			return err
		}
	}
	for i := range labels {
		if err := r.take(&labels[i]); err != nil {
			return err
		}
	}
	return nil
}

// take reads a text from the block.
func (r *reader) take(text *string) error {
	n, size := binary.Uvarint(r.block)
	if size <= 0 || n > uint64(len(r.block)-size) {
		return errBroken
	}
	*text, r.block = string(r.block[size:size+int(n)]), r.block[size+int(n):]
	return nil
}

// Text implements source.Texts.
func (r *reader) Text(i int) string { return r.texts[i] }

// next reads a block, io.EOF if it is the last one.
func (r *reader) next() (err error) {
	if r.file == nil {
		if r.file, err = r.store.File(r.name); err != nil {
			return err
		}
		r.in = bufio.NewReaderSize(r.file, blockBytes)
	}
	var size [word]byte
	if _, err := io.ReadFull(r.in, size[:]); err != nil {
		return errBroken
	}
	n := int(binary.LittleEndian.Uint32(size[:]))
	if n > mostBytes {
		return errBroken
	}
	r.text = append(slices.Grow(r.text[:0], word+n+word), size[:]...)[:word+n+word]
	if _, err := io.ReadFull(r.in, r.text[word:]); err != nil {
		return errBroken
	}
	if crc32.Checksum(r.text[:word+n], table) != binary.LittleEndian.Uint32(r.text[word+n:]) {
		return errBroken
	}
	if r.block = r.text[word : word+n]; n == 0 {
		return io.EOF
	}
	return nil
}
