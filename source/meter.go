package source

import (
	"io"
	"io/fs"
)

// Measured is a reader that knows how far it is.
type Measured interface {
	Reader
	// Fraction returns about which part of the input has been read: of its bytes as they are
	// stored, read ahead included. 0 if that is not known.
	Fraction() float64
}

// Fraction returns the fraction of the table's reader, 0 if it does not know. Like the number of
// rows it is for the custodian alone.
func (t *Table) Fraction() float64 {
	if m, ok := t.reader.(Measured); ok {
		return m.Fraction()
	}
	return 0
}

// A meter counts the bytes that are read of a file.
type meter struct {
	io.ReadCloser
	read, size int64 // 0 for an input without size, as a pipe
}

func newMeter(in io.ReadCloser) *meter {
	m := &meter{ReadCloser: in}
	if file, ok := in.(fs.File); ok {
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			m.size = info.Size()
		}
	}
	return m
}

// Read implements io.Reader.
func (m *meter) Read(p []byte) (int, error) {
	n, err := m.ReadCloser.Read(p)
	m.read += int64(n)
	return n, err
}

func (m *meter) fraction() float64 {
	if m.size == 0 {
		return 0
	}
	return min(1, float64(m.read)/float64(m.size))
}
