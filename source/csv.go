package source

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"github.com/gauze-dp/gauze/internal/words"
	"github.com/gauze-dp/gauze/source/lines"
)

// maxRecord bounds the header and every record, so that a file without line ends, or a quote that
// is never closed, is an error and does not fill the memory.
const maxRecord = 16 << 20

// mostColumns bounds the names of a header, which cost more memory than their text.
const mostColumns = 1 << 20

// RowNames is the name given to a first column without a name, as R and pandas write it: it holds
// the names or numbers of rows.
const RowNames = "(row names)"

// csvReader reads comma-separated text with one header row (RFC 4180; blanks around cells are
// ignored).
//
// In a table of one column a blank line is a row whose only cell is missing, and a row must count
// whatever its cell holds: otherwise emptying one cell would change n, which replace-one makes
// public. That holds of blank lines at the end of the file too: any of them may be somebody whose
// cell is missing. In a wider table a blank line is no row.
type csvReader struct {
	name   string
	as     Dialect // how it is written
	header []string
	pick   []int // the columns that Next returns
	labels []int // .. and those that it returns as text
	reach  int   // one more than the largest of them
	lines  *lines.Reader
	quoted *csv.Reader // reads everything from the first line with a quote on; nil until then
	capped *capped     // the input of quoted
	before int         // lines that quoted did not see
	record []string    // of quoted
	last   int         // the line in which the last record ends
	blanks int         // rows of blank lines before the last record, yet to be returned
	held   bool        // the last record is yet to be returned
	file   *meter
}

// CSV reads comma-separated text, plain or packed with gzip; name is used in errors. It owns in,
// which is closed with the reader, or here if there is an error in the header.
func CSV(name string, in io.ReadCloser) (Reader, error) { return Dialect{}.CSV(name, in) }

// CSV reads text in the dialect d as [CSV] does.
func (d Dialect) CSV(name string, in io.ReadCloser) (Reader, error) {
	c := &csvReader{name: name, as: d, file: newMeter(in)}
	if err := d.check(); err != nil {
		in.Close()
		return nil, err
	}
	if err := c.start(c.file); err != nil {
		in.Close()
		return nil, err
	}
	return c, nil
}

func (c *csvReader) start(in io.Reader) error {
	text, err := decode(c.name, in, c.as.Encoding)
	if err != nil {
		return err
	}
	raw, err := rawHeader(text)
	skipped := 0
	if mark := separatorLine.FindSubmatch(raw); err == nil && mark != nil && (c.as.Delimiter == 0 || c.as.Delimiter == rune(mark[1][0])) {
		c.as.Delimiter, skipped = rune(mark[1][0]), bytes.Count(raw, []byte{'\n'})
		raw, err = rawHeader(text)
	}
	if err != nil {
		if _, ours := err.(*Error); ours {
			return err
		}
		return ioError(c.name, err)
	}
	for _, mark := range []byte{c.delimiter(), ';', '\t', '|'} {
		if bytes.Count(raw, []byte{mark}) >= mostColumns {
			return &Error{Field: "header", Wanted: fmt.Sprintf("at most %d names", mostColumns), Got: "more", Hint: "check that the file is CSV"}
		}
	}
	if c.as.Encoding == "" && !utf8.Valid(raw) { // not UTF-8, so it has one byte per letter
		if raw, err = charmap.Windows1252.NewDecoder().Bytes(raw); err != nil {
			return ioError(c.name, err)
		}
		text = fromLatin1(text)
	}
	if c.as.Delimiter == 0 {
		if c.as.Delimiter, err = delimiterOf(raw); err != nil {
			return err
		}
	}
	header := c.newQuoted(bytes.NewReader(raw))
	record, err := header.Read()
	if err != nil {
		return c.recordError(len(record), err)
	}
	for _, name := range record {
		c.header = append(c.header, strings.TrimSpace(name))
	}
	if len(c.header) > 1 && c.header[0] == "" {
		c.header[0] = RowNames
	}
	for i := len(c.header) - 1; i > 0 && c.header[i] == ""; i-- { // as spreadsheets write empty columns
		c.header[i] = fmt.Sprintf("(column %d)", i+1)
	}
	read := header.InputOffset()
	c.last = skipped + bytes.Count(raw[:read], []byte{'\n'})
	c.lines = lines.New(io.MultiReader(bytes.NewReader(raw[read:]), text), maxRecord)
	all := make([]int, len(c.header))
	for i := range all {
		all[i] = i
	}
	c.before = c.last
	if c.delimiter() != ',' {
		c.quote()
	}
	c.Select(all, nil)
	return nil
}

// newQuoted returns a reader of text that may have quotes.
func (c *csvReader) newQuoted(in io.Reader) *csv.Reader {
	r := csv.NewReader(in)
	r.Comma = rune(c.delimiter())
	r.ReuseRecord, r.TrimLeadingSpace = true, !unicode.IsSpace(r.Comma) // such a delimiter would be trimmed
	return r
}

// quote makes the rest of the input be read as text that may have quotes.
func (c *csvReader) quote() {
	c.capped = &capped{in: c.lines.Rest(), comma: c.delimiter()}
	c.quoted = c.newQuoted(bufio.NewReaderSize(c.capped, bufferSize))
	c.quoted.FieldsPerRecord = len(c.header)
}

func (c *csvReader) delimiter() byte {
	if c.as.Delimiter == 0 {
		return ','
	}
	return byte(c.as.Delimiter)
}

// Header returns the names of all columns.
func (c *csvReader) Header() []string { return c.header }

// Select chooses the cells that Next returns, in this order.
func (c *csvReader) Select(columns, labels []int) {
	c.pick, c.labels, c.reach = columns, labels, 0
	for _, column := range slices.Concat(columns, labels) {
		c.reach = max(c.reach, column+1)
	}
}

// Fraction implements Measured.
func (c *csvReader) Fraction() float64 { return c.file.fraction() }

// Close closes the file.
func (c *csvReader) Close() error { return c.file.Close() }

// Next reads one record.
func (c *csvReader) Next(values []float64, kinds []Kind, labels []string) error {
	if c.blanks == 0 && !c.held {
		if err := c.read(); err != nil {
			return err
		}
	}
	blank := c.blanks > 0
	if blank {
		c.blanks--
	} else {
		c.held = false
	}
	switch {
	case blank:
		for i := range values {
			values[i], kinds[i] = 0, Missing
		}
	case c.quoted != nil:
		for i, column := range c.pick {
			values[i], kinds[i] = c.cell(c.record[column])
		}
	case c.as.decimal() != '.':
		for i, column := range c.pick {
			values[i], kinds[i] = c.as.parse(string(c.lines.Cell(column)))
		}
	default:
		c.lines.Numbers(c.pick, values)
		for i, v := range values {
			if kinds[i] = Number; v != v {
				values[i], kinds[i] = c.other(string(c.lines.Cell(c.pick[i])))
			}
		}
	}
	for i, column := range c.labels {
		if labels[i] = ""; !blank {
			labels[i] = c.label(column)
		}
	}
	return nil
}

// cell reads a cell of text.
func (c *csvReader) cell(text string) (float64, Kind) {
	if c.as.asUsual() {
		return ParseCell(text)
	}
	return c.as.parse(text)
}

// other reads a cell that lines does not read.
func (c *csvReader) other(text string) (float64, Kind) {
	if c.as.asUsual() {
		return parseOther(text)
	}
	return c.as.parse(text)
}

// Text implements Texts.
func (c *csvReader) Text(i int) string { return c.label(c.pick[i]) }

// label returns the text of a cell of the last record.
func (c *csvReader) label(column int) string {
	if c.quoted != nil {
		return c.record[column]
	}
	return string(bytes.TrimLeftFunc(c.lines.Cell(column), unicode.IsSpace))
}

// read reads one record.
func (c *csvReader) read() error {
	if c.quoted == nil {
		cells, err := c.lines.Next(c.reach)
		if err == nil && cells != len(c.header) {
			err = &csv.ParseError{StartLine: c.lines.Line(), Err: csv.ErrFieldCount}
		}
		if err != lines.ErrQuoted {
			line := c.before + c.lines.Line()
			if err == io.EOF {
				return c.took(line+1, 0, 0, err)
			}
			return c.took(line, line, cells, err)
		}
		c.before += c.lines.Line()
		c.quote()
	}
	var err error
	c.capped.left = maxRecord + cellCost*len(c.header)
	if c.record, err = c.quoted.Read(); err != nil {
		return c.took(c.before+c.capped.lines+1, 0, len(c.record), err)
	}
	first, _ := c.quoted.FieldPos(0)
	end := len(c.record) - 1
	last, _ := c.quoted.FieldPos(end)
	return c.took(c.before+first, c.before+last+strings.Count(c.record[end], "\n"), end+1, nil)
}

// took records where the last record began and ended; the end of the file counts as beginning in
// the line after its last.
func (c *csvReader) took(first, last, cells int, err error) error {
	if err != nil && err != io.EOF {
		return c.recordError(cells, err)
	}
	if len(c.header) == 1 {
		c.blanks = max(0, first-c.last-1)
	}
	if err == io.EOF {
		if c.last = max(c.last, first-1); c.blanks == 0 {
			return io.EOF
		}
		return nil
	}
	c.held, c.last = true, last
	return nil
}

// recordError returns the error of a record, with its place. io.EOF stays as it is.
func (c *csvReader) recordError(cells int, err error) error {
	var parse *csv.ParseError
	switch {
	case err == io.EOF:
		return err
	case errors.Is(err, lines.ErrLong):
		return &Error{Field: fmt.Sprintf("line %d", c.last+1), Wanted: fmt.Sprintf("a record of at most %d bytes", maxRecord), Got: "a longer one",
			Hint: "check for a quote that is never closed, and that the file is CSV"}
	case !errors.As(err, &parse):
		return ioError(c.name, err)
	case errors.Is(err, csv.ErrFieldCount):
		fault := &Error{Field: fmt.Sprintf("line %d", c.before+parse.StartLine), Wanted: words.Plural(len(c.header), "cell") + ", as in the header", Got: fmt.Sprint(cells),
			Hint: "quote cells that contain commas, and check for a torn or doubled line"}
		switch {
		case len(c.header) == 1 && c.as.Delimiter == 0:
			fault.Hint = `where numbers have a decimal comma: --csv "delimiter=; decimal=,"; where a title stands above the header, take it out`
		case cells == len(c.header)+1:
			fault.Hint += "; R's write.table names rows without naming that column: write it with col.names=NA"
		}
		return fault
	}
	return &Error{Field: fmt.Sprintf("line %d", c.before+parse.StartLine), Wanted: "cells quoted whole or not at all", Got: "a stray or unclosed quote",
		Hint: `write a quote within a quoted cell as ""`}
}

// cellCost is about the memory that encoding/csv takes for a cell beside its text.
const cellCost = 48

// capped fails after a number of bytes, which its user renews for every record. The cost of a comma
// counts as bytes too: a record of nothing but commas would take fifty times its size.
type capped struct {
	in    io.Reader
	comma byte
	left  int
	lines int // ends of lines that were read
}

// Read implements io.Reader.
func (c *capped) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, lines.ErrLong
	}
	n, err := c.in.Read(p)
	c.lines += bytes.Count(p[:n], []byte{'\n'})
	c.left -= n + cellCost*bytes.Count(p[:n], []byte{c.comma})
	return n, err
}

// separatorLine is a line that Excel takes as naming the delimiter, above the header.
var separatorLine = regexp.MustCompile(`(?i)^"?sep=([!-~\t ])"?\r?\n$`)

// rawHeader reads the first line that is not blank from r, with the blank ones before it.
func rawHeader(r *bufio.Reader) (raw []byte, err error) {
	quoted, blank := false, true
	for {
		b, err := r.ReadByte()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		raw = append(raw, b)
		if b == '"' {
			quoted = !quoted
		}
		if b == '\n' && !quoted && !blank {
			break
		}
		if b != '\n' && b != '\r' {
			blank = false
		}
		if len(raw) == maxRecord {
			return nil, &Error{Field: "header", Wanted: "one line of column names", Got: fmt.Sprintf("%d bytes without a line end", maxRecord),
				Hint: "check that the file is CSV"}
		}
	}
	if blank {
		return nil, &Error{Field: "input", Wanted: "a header row and rows of numbers", Got: "nothing", Hint: "check that the right file was named"}
	}
	return raw, nil
}

// quotedName is a name in quotes, or a part of one that has quotes in it.
var quotedName = regexp.MustCompile(`"[^"]*"`)

// delimiterOf returns the delimiter of a header that has marks of one kind and no comma outside
// quotes: 0 for commas. A header with both is a fault if outside quotes it has as many of the marks
// as of commas or, for bars, which occur in names too, more. It looks at nothing but the header,
// which is public.
func delimiterOf(header []byte) (rune, error) {
	names := quotedName.ReplaceAll(header, []byte("a"))
	commas := bytes.Count(names, []byte{','})
	if bytes.IndexByte(names, '"') >= 0 {
		return 0, nil // its reader reports the fault
	}
	var found rune
	for _, d := range []struct {
		mark, name, say string
		least           int
	}{{";", "semicolons", ";", commas}, {"\t", "tabs", "tab", commas}, {"|", "bars", "|", commas + 1}} {
		marks := 0
		for cell := range strings.SplitSeq(string(names), ",") { // blanks around names are no marks
			marks += strings.Count(strings.Trim(cell, " \t\r\n"), d.mark)
		}
		switch {
		case commas == 0 && marks > 0 && found == 0:
			found = rune(d.mark[0])
		case commas > 0 && marks >= max(1, d.least), marks > 0 && found != 0, commas == 0 && found == 0 && bytes.Contains(header, []byte(d.mark)) && len(bytes.TrimSpace(names)) == 1:
			return 0, &Error{Field: "header", Wanted: "names separated by one mark", Got: d.name + " and others",
				Hint: fmt.Sprintf("say which, as in --csv %q, with decimal=, where numbers have commas; quote a name that really contains the mark", "delimiter="+d.say)}
		}
	}
	return found, nil
}
