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
	// mostHeader and mostLine bound the search for their ends: a file with longer ones is not cut.
	// Guesses.
	mostHeader, mostLine = 1 << 20, 16 << 20
)

// A piece is a range of lines of a CSV file, to be read after those of its header.
//
// A file is cut at ends of lines, some of which may be within quotes. But a piece that begins where
// a record does and ends within quotes is a mistake, as a file that ends so is; and unless all
// pieces are parsed without a mistake, the file is read whole. So, by induction, each piece that is
// read begins where a record does, as the first does after the header.
type piece struct {
	Path             string
	Header, From, To int64
	Changed          int64 // nanoseconds: the time of the file's last change
}

// cut cuts a file into pieces of about size bytes; nil if it is not plain CSV of several columns in
// UTF-8, or too small.
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

// headerOf returns where the header ends, 0 if the file does not begin with plain text with a
// comma: packed or recoded text is not valid, or has zeros. In a table of one column a blank line
// is a row, which its reader recognises by the lines around it.
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

// nextLine returns where the first line begins after some byte of a file, 0 if that is far.
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

// open opens a piece of the file that was cut: if another file took its place, or it is being
// written, a row could be in two pieces.
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
