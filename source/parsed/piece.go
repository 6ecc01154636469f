package parsed

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/gauze-dp/gauze/source"
)

const (
	// mostHeader and mostLine bound how far an end of them is looked for: a file with longer ones
	// is not cut. Guesses.
	mostHeader, mostLine = 1 << 20, 16 << 20
)

// A piece is lines of a CSV file, to be read after those of its header.
//
// It is cut at ends of lines, some of which may stand within quotes. But a piece that begins where
// a record does and ends within quotes is a mistake, as a file is that ends so; and unless all
// pieces are parsed without one the file is read whole. So, by induction, each that is read begins
// where a record does, as the first does after the header.
type piece struct {
	Path             string
	Header, From, To int64
	Changed          int64 // nanoseconds: when the file was, last
}

// cut cuts a file into pieces of about so many bytes; nil if it is not plain CSV of several columns
// in UTF-8, or too small.
func cut(path string, size int64) (pieces []piece) {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() < 2*size || strings.EqualFold(filepath.Ext(path), ".parquet") {
		return nil
	}
	p := piece{Path: path, Header: headerOf(f), To: info.Size(), Changed: info.ModTime().UnixNano()}
	if p.Header == 0 {
		return nil
	}
	for p.From = p.Header; info.Size()-p.From >= 2*size; p.From = p.To {
		if p.To = nextLine(f, p.From+size, info.Size()); p.To == 0 {
			return nil
		}
		pieces = append(pieces, p)
	}
	p.To = info.Size()
	return append(pieces, p)
}

// headerOf is where the header ends, 0 if what begins the file is no plain text with a comma:
// packed or recoded text is not valid, or has zeros. In a table of one column a blank line is a
// row, which what reads it tells by the lines around it.
func headerOf(f io.ReaderAt) (end int64) {
	text := make([]byte, mostHeader)
	n, _ := f.ReadAt(text, 0)
	quoted, blank := false, true
	for i, b := range text[:n] {
		switch {
		case b == '"':
			quoted = !quoted
		case b == '\n' && !quoted && !blank:
			header := text[:i+1]
			if !utf8.Valid(header) || bytes.IndexByte(header, 0) >= 0 || bytes.IndexByte(header, ',') < 0 {
				return 0
			}
			return int64(len(header))
		}
		blank = blank && (b == '\n' || b == '\r')
	}
	return 0
}

// nextLine is where the first line begins after some byte of a file, 0 if that is far.
func nextLine(f io.ReaderAt, from, size int64) int64 {
	text := make([]byte, 64<<10)
	for at := from; at < min(size, from+mostLine); at += int64(len(text)) {
		n, _ := f.ReadAt(text, at)
		if i := bytes.IndexByte(text[:n], '\n'); i >= 0 {
			return at + int64(i) + 1
		}
	}
	return 0
}

// open opens a piece, of the file that was cut: in one that was put in its place, or is written to,
// a row could be in two pieces.
func (p piece) open() (source.Reader, error) {
	f, err := os.Open(p.Path)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || info.ModTime().UnixNano() != p.Changed {
		return nil, errors.Join(errWork, err, f.Close())
	}
	text := io.MultiReader(io.NewSectionReader(f, 0, p.Header), io.NewSectionReader(f, p.From, p.To-p.From))
	return source.CSV(p.Path, struct {
		io.Reader
		io.Closer
	}{text, f})
}
