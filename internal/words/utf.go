package words

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"

	"golang.org/x/text/encoding/unicode"
)

const bufferSize = 64 << 10

// NewReader returns the text of in, which is UTF-8 or UTF-16, as UTF-8 without a byte order mark.
// UTF-16 has that mark, or begins with two letters of ASCII. Bytes that are no UTF-8 stay what they
// are; what is no UTF-16 becomes U+FFFD.
func NewReader(in io.Reader) (*bufio.Reader, error) {
	r := bufio.NewReaderSize(in, bufferSize)
	head, err := r.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		_, err := r.Discard(3)
		return r, err
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		decoder := unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder()
		return bufio.NewReaderSize(decoder.Reader(r), bufferSize), nil
	case len(head) == 4 && head[0] != 0 && head[1] == 0 && head[2] != 0 && head[3] == 0:
		return bufio.NewReaderSize(unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewDecoder().Reader(r), bufferSize), nil
	case len(head) == 4 && head[0] == 0 && head[1] != 0 && head[2] == 0 && head[3] != 0:
		return bufio.NewReaderSize(unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewDecoder().Reader(r), bufferSize), nil
	}
	return r, nil
}

// ReadFile returns the whole text of a file.
func ReadFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f)
}

// ReadAll returns the whole text of in, as NewReader has it.
func ReadAll(in io.Reader) ([]byte, error) {
	r, err := NewReader(in)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
