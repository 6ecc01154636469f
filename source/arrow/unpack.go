package arrow

import (
	"bytes"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// unpack unpacks a buffer to a stated size. Codecs are 0, frames of LZ4, and 1, Zstandard.
func unpack(codec int, packed []byte, size int) ([]byte, error) {
	var from io.Reader = lz4.NewReader(bytes.NewReader(packed))
	if codec == 1 {
		z, err := zstd.NewReader(bytes.NewReader(packed), zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		defer z.Close()
		from = z
	} else if codec != 0 {
		return nil, errDamaged
	}
	return fill(from, nil, size)
}
