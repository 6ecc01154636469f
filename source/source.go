package source

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strings"
)

// A Sink takes the rows, in order. It must not keep row, which is overwritten by the next one.
type Sink interface {
	// Append takes one row, in the order of Table.Columns: a finite number, or NaN where the cell
	// is missing or none.
	Append(row []float64)
}

// A Reader reads one input format, once, from front to back. Methods to implement for a new format:
// these four.
type Reader interface {
	// Header returns the names of all columns, distinct and not empty.
	Header() []string
	// Select restricts the cells that Next returns to these columns of the header, in this order.
	// Until it is called, all.
	Select(columns []int)
	// Next reads one row into values and kinds; io.EOF follows the last. A value counts only where
	// the kind is number.
	Next(values []float64, kinds []kind) error
	// Close releases what the reader holds.
	Close() error
}

// A Table is an opened input whose columns are known and whose rows wait to be read.
type Table struct {
	reader  Reader
	columns []Column
	ahead   *lookAhead // of an inferred schema; nil once read
	report  Report
	read    bool
}

// Open opens an input: a path to CSV, plain or packed with gzip, or "-" for stdin. The schema says
// which columns are fitted; nil infers them from the first rows (see the package's doc for what
// that gives away).
//
// With a schema no row is read. Mistakes in the input or the schema are of type *Error. The caller
// closes the table.
func Open(input string, stdin io.Reader, schema *Schema) (*Table, error) {
	reader, err := open(input, stdin)
	if err != nil {
		return nil, err
	}
	t := &Table{reader: reader}
	if schema == nil {
		err = t.infer()
	} else {
		err = t.declare(schema)
	}
	if err != nil {
		reader.Close()
		return nil, err
	}
	t.report.Columns = make([]ColumnReport, len(t.columns))
	for i, c := range t.columns {
		t.report.Columns[i].Name = c.Name
	}
	return t, nil
}

// Header returns the names of an input's columns; it reads no row. It fails where Open without a
// schema would fail for the names.
func Header(input string, stdin io.Reader) ([]string, error) {
	reader, err := open(input, stdin)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	return reader.Header(), checkNames(reader.Header())
}

// open picks the format by the input's name.
func open(input string, stdin io.Reader) (Reader, error) {
	const supported = "a path to .csv or .csv.gz, or - for CSV on stdin"
	if scheme, ok := schemeOf(input); ok {
		return nil, &Error{Field: "input", Wanted: supported, Got: fmt.Sprintf("a URL with the scheme %q", scheme),
			Hint: "export the table as CSV, or write ./ before a file name with a colon"}
	}
	switch {
	case input == "":
		return nil, &Error{Field: "input", Wanted: supported, Got: "an empty name", Hint: "name the file"}
	case input == "-":
		return newCSV("stdin", stdin, io.NopCloser(stdin))
	case strings.HasSuffix(strings.ToLower(input), ".parquet"):
		return nil, &Error{Field: "input", Wanted: supported, Got: "a Parquet file", Hint: "export the table as CSV"}
	}
	file, err := openFile(input)
	if err != nil {
		return nil, err
	}
	return newCSV(input, file, file)
}

// schemeOf returns the scheme of a URL: "postgres" of postgres://.., "sqlite" of sqlite:FILE. It
// returns nothing else of it, since the rest may hold a password. A single letter is a drive and no
// scheme.
func schemeOf(input string) (string, bool) {
	scheme, _, ok := strings.Cut(input, ":")
	if !ok || len(scheme) < 2 {
		return "", false
	}
	for _, c := range scheme {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '+') {
			return "", false
		}
	}
	return strings.ToLower(scheme), true
}

func openFile(path string) (*os.File, error) {
	file, err := os.Open(path)
	if err != nil {
		hint := "check that it may be read"
		if errors.Is(err, fs.ErrNotExist) {
			hint = "check the path"
		}
		return nil, &Error{Field: "input", Wanted: "a readable file", Got: err.Error(), Hint: hint}
	}
	info, err := file.Stat()
	if err == nil && info.IsDir() {
		err = &Error{Field: "input", Wanted: "a file", Got: "the folder " + path, Hint: "name a file in it"}
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// declare finds the schema's columns in the header.
func (t *Table) declare(schema *Schema) error {
	declared := Schema{Columns: append([]Column(nil), schema.Columns...)}
	if err := declared.tidy(); err != nil {
		return err
	}
	header := t.reader.Header()
	at := make(map[string]int, len(header))
	for i, name := range header {
		at[name] = i
	}
	var pick []int
	var lost []string
	for _, c := range declared.Columns {
		i, ok := at[c.Name]
		if !ok {
			lost = append(lost, c.Name)
			continue
		}
		pick = append(pick, i)
	}
	if lost != nil {
		got := "only " + quoteNames(header)
		for _, name := range header {
			if readsAsData(name) { // perhaps a row of data, which no error may show
				got = "a first row that reads as data"
				break
			}
		}
		return &Error{Field: "header", Wanted: "the declared columns " + quoteNames(lost), Got: got,
			Hint: "mend the schema or add the header row; case counts"}
	}
	t.columns = declared.Columns
	t.reader.Select(pick)
	return nil
}

// Columns returns the names of the columns to fit, in order.
func (t *Table) Columns() []string { return (&Schema{Columns: t.columns}).Names() }

// Schema returns the columns to fit with their units, as declared or inferred.
func (t *Table) Schema() *Schema { return &Schema{Columns: append([]Column(nil), t.columns...)} }

// Inferred reports that the cells chose the columns.
func (t *Table) Inferred() bool { return t.report.Inferred }

// Close releases the input.
func (t *Table) Close() error { return t.reader.Close() }

// Read hands every row to the sink, NaN in place of bad cells. It can be called once.
//
// Its error comes after rows were handed over; the sink must then be thrown away unused. A column
// without a single number is an error of type *Error, like a malformed input.
func (t *Table) Read(sink Sink) error {
	if t.read {
		panic("source: Table.Read called twice")
	}
	t.read = true
	d := len(t.columns)
	values, kinds := make([]float64, d), make([]kind, d)
	for t.ahead.next(values, kinds) {
		t.append(sink, values, kinds)
	}
	t.ahead = nil
	for {
		err := t.reader.Next(values, kinds)
		if err == io.EOF {
			return t.checkNumbers()
		}
		if err != nil {
			return err
		}
		t.append(sink, values, kinds)
	}
}

// append counts a row's bad cells and hands it over.
func (t *Table) append(sink Sink, values []float64, kinds []kind) {
	bad := false
	for i, kind := range kinds {
		t.report.Columns[i].count(kind)
		if kind != number {
			bad, values[i] = true, math.NaN()
		}
	}
	t.report.Rows++
	if bad {
		t.report.BadRows++
	}
	sink.Append(values)
}

// checkNumbers reports the columns that had no number in any row, all at once.
func (t *Table) checkNumbers() error {
	var without []string
	for _, c := range t.report.Columns {
		if c.Numbers == 0 {
			without = append(without, c.Name)
		}
	}
	switch {
	case t.report.Rows == 0:
		return &Error{Field: "input", Wanted: "rows", Got: "a header alone", Hint: "check that the right file was named"}
	case without != nil:
		return &Error{Field: "columns " + quoteNames(without), Wanted: "at least one number in each", Got: "none",
			Hint: "take them out of the schema; numbers are written with a decimal point and no thousands separator"}
	}
	return nil
}
