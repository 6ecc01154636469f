package source

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxHeader bounds the header, so that a file without line ends is an error and not a full memory.
const maxHeader = 16 << 20

// csvReader reads comma-separated text with one header row (RFC 4180; blanks around cells are
// ignored).
type csvReader struct {
	name   string
	header []string
	pick   []int // the columns that Next returns
	labels []int // .. as text
	csv    *csv.Reader
	file   io.Closer
}

// CSV reads comma-separated text, plain or packed with gzip, whose name stands in errors. It owns
// in, which is closed with the reader, or here if there is an error in the header.
func CSV(name string, in io.ReadCloser) (Reader, error) {
	c := &csvReader{name: name, file: in}
	if err := c.start(in); err != nil {
		in.Close()
		return nil, err
	}
	return c, nil
}

func (c *csvReader) start(in io.Reader) error {
	text, err := decode(c.name, in)
	if err != nil {
		return err
	}
	raw, commas, err := rawHeader(text)
	if err != nil {
		if _, ours := err.(*Error); ours {
			return err
		}
		return ioError(c.name, err)
	}
	var rest io.Reader = text
	if commas == 0 {
		rest = &blankLines{src: text, atStart: true}
	}
	c.csv = csv.NewReader(bufio.NewReaderSize(io.MultiReader(bytes.NewReader(raw), rest), bufferSize))
	c.csv.ReuseRecord = true
	c.csv.TrimLeadingSpace = true
	record, err := c.csv.Read()
	if err != nil {
		return c.recordError(record, err)
	}
	for _, name := range record {
		c.header = append(c.header, strings.TrimSpace(name))
	}
	if len(record) == 1 {
		if err := checkDelimiter(c.header[0]); err != nil {
			return err
		}
	}
	c.pick = make([]int, len(c.header))
	for i := range c.pick {
		c.pick[i] = i
	}
	return nil
}

// Header returns the names of all columns.
func (c *csvReader) Header() []string { return c.header }

// Select says which cells Next returns, in this order.
func (c *csvReader) Select(columns, labels []int) { c.pick, c.labels = columns, labels }

// Close closes the file.
func (c *csvReader) Close() error { return c.file.Close() }

// Next reads one record.
func (c *csvReader) Next(values []float64, kinds []Kind, labels []string) error {
	record, err := c.csv.Read()
	if err != nil {
		return c.recordError(record, err)
	}
	for i, column := range c.pick {
		values[i], kinds[i] = ParseCell(record[column])
	}
	for i, column := range c.labels {
		labels[i] = record[column]
	}
	return nil
}

// recordError says what is wrong with a record, and where. io.EOF stays what it is.
func (c *csvReader) recordError(record []string, err error) error {
	var parse *csv.ParseError
	switch {
	case err == io.EOF:
		return err
	case !errors.As(err, &parse):
		return ioError(c.name, err)
	case errors.Is(err, csv.ErrFieldCount):
		return &Error{Field: fmt.Sprintf("line %d", parse.StartLine), Wanted: fmt.Sprintf("%d cells, as in the header", len(c.header)),
			Got: fmt.Sprint(len(record)), Hint: "quote cells that contain commas, and check for a torn or doubled line"}
	}
	return &Error{Field: fmt.Sprintf("line %d", parse.StartLine), Wanted: "cells quoted whole or not at all", Got: "a stray or unclosed quote",
		Hint: `write a quote within a quoted cell as ""`}
}

// rawHeader takes the first line that is not blank off r, with the blank ones before it, and counts
// the commas that separate its cells.
func rawHeader(r *bufio.Reader) (raw []byte, commas int, err error) {
	quoted, blank := false, true
	for {
		b, err := r.ReadByte()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, 0, err
		}
		raw = append(raw, b)
		switch {
		case b == '"':
			quoted = !quoted
		case b == ',' && !quoted:
			commas++
		}
		if b == '\n' && !quoted && !blank {
			break
		}
		if b != '\n' && b != '\r' {
			blank = false
		}
		if len(raw) == maxHeader {
			return nil, 0, &Error{Field: "header", Wanted: "one line of column names", Got: fmt.Sprintf("%d bytes without a line end", maxHeader),
				Hint: "check that the file is CSV"}
		}
	}
	if blank {
		return nil, 0, &Error{Field: "input", Wanted: "a header row and rows of numbers", Got: "nothing", Hint: "check that the right file was named"}
	}
	return raw, commas, nil
}

// checkDelimiter reports a header whose only name looks like several names with another separator.
func checkDelimiter(name string) error {
	for _, d := range []struct{ mark, name string }{{";", "semicolons"}, {"\t", "tabs"}, {"|", "bars"}} {
		if strings.Contains(name, d.mark) {
			return &Error{Field: "header", Wanted: "names separated by commas", Got: d.name,
				Hint: "save the file with commas between cells and points in numbers, and quote a name that really contains the mark"}
		}
	}
	return nil
}
