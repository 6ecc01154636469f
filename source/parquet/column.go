package parquet

import (
	"bufio"
	"encoding/binary"
	"io"
	"os"

	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/gauze-dp/gauze/source"
)

const (
	bufferSize = 64 << 10
	// mostPage bounds a page, so that a damaged header is an error and does not fill the memory.
	mostPage = 1 << 30
)

// A column is one column of a group of rows, of which one page is in memory.
type column struct {
	leaf  *leaf
	codec format.CompressionCodec
	in    *bufio.Reader
	left  int64  // cells in pages not read yet
	n, at int    // cells of the page, and the number of them returned
	there []byte // of an optional column: 1 for a cell that is not missing
	last  int    // the index in from of the value that was returned last
	used  int    // values of the page that were returned
	index []int32
	coded bool    // the page's values are indices into the dictionary
	page  *values // of the page, if they are not
	words *values // of the dictionary
	from  *values // whichever of the two applies

	packed, unpacked []byte // kept for their memory
}

func openColumn(file *os.File, l *leaf, chunk *format.ColumnChunk) (*column, error) {
	meta := &chunk.MetaData
	if chunk.CryptoMetadata.Value != nil || chunk.FilePath != "" || meta.Type != l.physical {
		return nil, &source.Error{Field: "input", Wanted: "a Parquet file with its columns in it", Got: "an encrypted or divided one", Hint: "write it again"}
	}
	start := meta.DataPageOffset
	if d := meta.DictionaryPageOffset; d > 0 && d < start {
		start = d
	}
	section := io.NewSectionReader(file, start, meta.TotalCompressedSize)
	return &column{leaf: l, codec: meta.Codec, in: bufio.NewReaderSize(section, bufferSize), left: meta.NumValues, page: &values{}, words: &values{}}, nil
}

// next returns the index of the next cell's value in from and true, or any index and false for a
// missing cell. An index of -1 means that there is no cell, which does not happen in a sound file.
func (c *column) next() (at int, there bool) {
	i := c.at
	c.at++
	if c.there != nil && c.there[i] == 0 {
		return 0, false
	}
	at = c.used
	c.used++
	if c.coded {
		if at >= len(c.index) {
			return -1, true
		}
		at = int(c.index[at])
	}
	if uint(at) >= uint(c.from.n) {
		return -1, true
	}
	return at, true
}

// nextPage reads pages until one has cells.
func (c *column) nextPage() error {
	for c.n, c.at = 0, 0; c.n == 0; {
		if c.left <= 0 {
			return errDamaged
		}
		var h format.PageHeader
		if err := thrift.NewDecoder(new(thrift.CompactProtocol).NewReader(c.in)).Decode(&h); err != nil {
			return err
		}
		if h.CompressedPageSize < 0 || h.UncompressedPageSize < 0 || h.CompressedPageSize > mostPage || h.UncompressedPageSize > mostPage {
			return errDamaged
		}
		c.packed = sized(c.packed, int(h.CompressedPageSize))
		if _, err := io.ReadFull(c.in, c.packed); err != nil {
			return err
		}
		if err := c.take(&h); err != nil {
			return err
		}
	}
	return nil
}

func (c *column) take(h *format.PageHeader) (err error) {
	switch {
	case h.DictionaryPageHeader.Valid:
		if c.unpacked, err = unpack(c.codec, c.unpacked, c.packed, int(h.UncompressedPageSize)); err != nil {
			return err
		}
		return c.words.decode(c.leaf, format.Plain, c.unpacked, int(h.DictionaryPageHeader.V.NumValues))
	case h.DataPageHeader.Valid:
		return c.takeFirst(h)
	case h.DataPageHeaderV2.Valid:
		return c.takeSecond(h)
	}
	return nil // an index page
}

// takeFirst reads a data page of the first version: levels, with their size before them, are packed
// with the values.
func (c *column) takeFirst(h *format.PageHeader) (err error) {
	if c.unpacked, err = unpack(c.codec, c.unpacked, c.packed, int(h.UncompressedPageSize)); err != nil {
		return err
	}
	data, levels := c.unpacked, []byte(nil)
	if c.leaf.optional {
		if h.DataPageHeader.V.DefinitionLevelEncoding != format.RLE || len(data) < 4 {
			return errDamaged
		}
		size := 4 + int(binary.LittleEndian.Uint32(data))
		levels, data = data[4:size], data[size:]
	}
	return c.start(levels, data, h.DataPageHeader.V.Encoding, int(h.DataPageHeader.V.NumValues))
}

// takeSecond reads a data page of the second version: levels come before the packed part, if
// anything is packed.
func (c *column) takeSecond(h *format.PageHeader) (err error) {
	v := &h.DataPageHeaderV2.V
	repetition, definition := int(v.RepetitionLevelsByteLength), int(v.DefinitionLevelsByteLength)
	levels, data := c.packed[repetition:repetition+definition], c.packed[repetition+definition:]
	if !v.IsCompressed.Valid || v.IsCompressed.V {
		if c.unpacked, err = unpack(c.codec, c.unpacked, data, int(h.UncompressedPageSize)-repetition-definition); err != nil {
			return err
		}
		data = c.unpacked
	}
	return c.start(levels, data, v.Encoding, int(v.NumValues))
}

// start makes a page of n cells the current one.
func (c *column) start(levels, data []byte, encoding format.Encoding, n int) (err error) {
	if n < 0 || int64(n) > c.left {
		return errDamaged
	}
	c.left, c.n, c.used, c.there = c.left-int64(n), n, 0, c.there[:0]
	present := n
	if !c.leaf.optional {
		c.there = nil
	} else {
		if c.there, err = (&rle.Encoding{BitWidth: 1}).DecodeLevels(c.there, levels); err != nil {
			return err
		}
		if len(c.there) < n {
			return errDamaged
		}
		present = 0
		for _, one := range c.there[:n] {
			present += int(one)
		}
	}
	//lint:ignore SA1019 files of older writers have it
	c.coded = encoding == format.RLEDictionary || encoding == format.PlainDictionary
	if !c.coded {
		c.from = c.page
		return c.page.decode(c.leaf, encoding, data, present)
	}
	c.from, c.index = c.words, c.index[:0]
	if present == 0 {
		return nil
	}
	c.index, err = (&rle.Encoding{BitWidth: int(data[0])}).DecodeInt32(c.index, data[1:])
	return err
}

// sized returns b with n bytes, in its own memory if that is large enough.
func sized(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n)
	}
	return b[:n]
}
