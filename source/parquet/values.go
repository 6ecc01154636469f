package parquet

import (
	"bytes"
	"compress/gzip"
	"io"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/encoding/bytestreamsplit"
	"github.com/parquet-go/parquet-go/encoding/delta"
	plainly "github.com/parquet-go/parquet-go/encoding/plain"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"

	"github.com/gauze-dp/gauze/source"
)

// values holds the values of a page or a dictionary, in one of its lists.
type values struct {
	n       int
	bits    []byte
	int32s  []int32
	int64s  []int64
	int96s  []deprecated.Int96
	floats  []float32
	doubles []float64
	bytes   []byte
	offsets []uint32 // of bytes: one more than values; none where their size is fixed
	size    int
}

// encodings are the ways in which values are written.
var encodings = map[format.Encoding]encoding.Encoding{
	format.Plain:                &plainly.Encoding{},
	format.RLE:                  &rle.Encoding{BitWidth: 1},
	format.DeltaBinaryPacked:    &delta.BinaryPackedEncoding{},
	format.DeltaLengthByteArray: &delta.LengthByteArrayEncoding{},
	format.DeltaByteArray:       &delta.ByteArrayEncoding{},
	format.ByteStreamSplit:      &bytestreamsplit.Encoding{},
}

// decode reads n values.
func (v *values) decode(l *leaf, by format.Encoding, data []byte, n int) (err error) {
	v.n, v.offsets, v.size = n, v.offsets[:0], l.size
	if n == 0 {
		return nil
	}
	e, known := encodings[by]
	if !known {
		return &source.Error{Field: "input", Wanted: "a Parquet file in an encoding that is not given up", Got: by.String(), Hint: "write it again"}
	}
	found := 0
	switch l.physical {
	case format.Boolean:
		v.bits, err = e.DecodeBoolean(v.bits, data)
		found = 8 * len(v.bits)
	case format.Int32:
		v.int32s, err = e.DecodeInt32(v.int32s, data)
		found = len(v.int32s)
	case format.Int64:
		v.int64s, err = e.DecodeInt64(v.int64s, data)
		found = len(v.int64s)
	case format.Int96:
		v.int96s, err = e.DecodeInt96(v.int96s, data)
		found = len(v.int96s)
	case format.Float:
		v.floats, err = e.DecodeFloat(v.floats, data)
		found = len(v.floats)
	case format.Double:
		v.doubles, err = e.DecodeDouble(v.doubles, data)
		found = len(v.doubles)
	case format.ByteArray:
		v.bytes, v.offsets, err = e.DecodeByteArray(v.bytes, data, v.offsets)
		found = len(v.offsets) - 1
	case format.FixedLenByteArray:
		v.bytes, err = e.DecodeFixedLenByteArray(v.bytes, data, l.size)
		found = len(v.bytes) / max(1, l.size)
	}
	if err == nil && found < n {
		return errDamaged
	}
	return err
}

// at returns the bytes of a value.
func (v *values) at(i int) []byte {
	if len(v.offsets) > 0 {
		return v.bytes[v.offsets[i]:v.offsets[i+1]]
	}
	return v.bytes[i*v.size : (i+1)*v.size]
}

// unpack unpacks a page of size bytes; it reuses the memory of to.
func unpack(codec format.CompressionCodec, to, data []byte, size int) (out []byte, err error) {
	switch codec {
	case format.Uncompressed:
		return append(to[:0], data...), nil
	case format.Snappy:
		out, err = snappy.Decode(sized(to, size), data)
	case format.Gzip:
		var in io.Reader
		if in, err = gzip.NewReader(bytes.NewReader(data)); err == nil {
			out = sized(to, size)
			_, err = io.ReadFull(in, out)
		}
	case format.Zstd:
		var in *zstd.Decoder
		if in, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(mostPage)); err == nil {
			out, err = in.DecodeAll(data, sized(to, size)[:0])
			in.Close()
		}
	case format.Lz4Raw:
		out = sized(to, size)
		_, err = lz4.UncompressBlock(data, out)
	default:
		return nil, &source.Error{Field: "input", Wanted: "a Parquet file packed with snappy, gzip, zstd or lz4, or not at all", Got: codec.String(),
			Hint: "write it again with one of these"}
	}
	if err == nil && len(out) != size {
		err = errDamaged
	}
	return out, err
}
