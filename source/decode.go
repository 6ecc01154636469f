package source

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"

	"golang.org/x/text/encoding/charmap"

	"github.com/gauze-dp/gauze/internal/words"
)

const bufferSize = 64 << 10

var (
	gzipMagic  = []byte("\x1f\x8b")
	otherMagic = []struct{ prefix, name, hint string }{
		{"PK\x03\x04", "a zip archive or a spreadsheet", "unpack it, or save the sheet as CSV"},
		{"PAR1", "a Parquet file", "name it .parquet"},
		{"SQLite format 3\x00", "an SQLite database", "name it sqlite:FILE?table=T"},
		{"BZh", "bzip2 data", "unpack it first: bzip2 -dc FILE | gauze fit -"},
		{"\xfd7zXZ", "xz data", "unpack it first: xz -dc FILE | gauze fit -"},
		{"\x28\xb5\x2f\xfd", "zstd data", "unpack it first: zstd -dc FILE | gauze fit -"},
	}
)

// decode returns the UTF-8 text of an input: unpacked if it is gzip (its first bytes say so,
// whatever its name), without a byte order mark, and recoded where that mark says UTF-16, or where
// the encoding is stated to be Latin1.
func decode(name string, in io.Reader, encoding string) (*bufio.Reader, error) {
	r := bufio.NewReaderSize(in, bufferSize)
	head, err := peek(r, len(gzipMagic))
	if err != nil {
		return nil, ioError(name, err)
	}
	switch {
	case bytes.Equal(head, gzipMagic):
		unpacked, err := gzip.NewReader(r)
		if err != nil {
			return nil, ioError(name, err)
		}
		r = bufio.NewReaderSize(unpacked, bufferSize)
	case len(head) > 0 && strings.HasSuffix(strings.ToLower(name), ".gz"):
		return nil, &Error{Field: "input", Wanted: "gzip data, as the name says", Got: "something else",
			Hint: "give it its right name, or pipe it in as -"}
	}
	if head, err = peek(r, 16); err != nil {
		return nil, ioError(name, err)
	}
	for _, other := range otherMagic {
		if bytes.HasPrefix(head, []byte(other.prefix)) {
			return nil, &Error{Field: "input", Wanted: "CSV", Got: other.name, Hint: other.hint}
		}
	}
	text, err := words.NewReader(r)
	if err != nil {
		return nil, ioError(name, err)
	}
	if encoding == Latin1 {
		text = fromLatin1(text)
	}
	return text, nil
}

// fromLatin1 recodes text of one byte per letter.
func fromLatin1(text io.Reader) *bufio.Reader {
	return bufio.NewReaderSize(charmap.Windows1252.NewDecoder().Reader(text), bufferSize)
}

// peek returns what Peek does, without an error for an input that is shorter than n.
func peek(r *bufio.Reader, n int) ([]byte, error) {
	head, err := r.Peek(n)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return head, err
}
