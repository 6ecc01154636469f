// Package utf takes text as programs write it: in UTF-8 or UTF-16, with a byte order mark or, in
// UTF-8, without one.
package utf

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"

	"golang.org/x/text/encoding/unicode"
)

const bufferSize = 64 << 10

// Reader is the text of in as UTF-8, without its byte order mark. Bytes that are no UTF-8 stay what
// they are; what is no UTF-16 behind its mark becomes U+FFFD.
func Reader(in io.Reader) (*bufio.Reader, error) {
	r := bufio.NewReaderSize(in, bufferSize)
	head, err := r.Peek(3)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		_, err := r.Discard(len(head))
		return r, err
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		decoder := unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder()
		return bufio.NewReaderSize(decoder.Reader(r), bufferSize), nil
	}
	return r, nil
}

// File is the whole text of a file.
func File(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return All(f)
}

// All is the whole text of in, as Reader has it.
func All(in io.Reader) ([]byte, error) {
	r, err := Reader(in)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
