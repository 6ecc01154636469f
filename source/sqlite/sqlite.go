// Package sqlite reads a table or a query of an SQLite file, which is opened for reading alone.
package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"modernc.org/sqlite"

	"github.com/gauze-dp/gauze/source"
)

// reader talks to the driver itself: the layer above it, of database/sql, boxes every cell twice.
type reader struct {
	conn     driver.Conn
	from     string // the text after FROM
	header   []string
	types    []source.Type
	selected []int
	labels   []int
	rows     driver.Rows // nil until the first row is asked for
	ended    bool        // a statement would start over after its end
	cells    []driver.Value
	places   []int // indices of the header's columns among cells
}

// Open opens sqlite:FILE?table=T or ?query=Q. It reads no row.
func Open(input string) (source.Reader, error) {
	path, err := Path(input)
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		return nil, &source.Error{Field: "input", Wanted: "a readable file", Got: err.Error(), Hint: "check the path, in which % is %25 and ? is %3F"}
	}
	_, parameters, _ := strings.Cut(input, "?")
	table, query, rest, err := source.TableOrQuery(parameters)
	if err != nil {
		return nil, err
	}
	if rest != "" {
		return nil, &source.Error{Field: "input", Wanted: "table=T or query=Q behind the ?, and nothing else", Got: "more", Hint: "write % as %25 and & as %26"}
	}
	r := &reader{from: quoted(table)}
	if table == "" {
		query = strings.TrimRight(query, "; \t\r\n")
		if strings.Contains(query, ";") { // a second statement could attach, and so make, another file
			return nil, &source.Error{Field: "input", Wanted: "one statement", Got: "a semicolon", Hint: "in a text, write char(59) for it"}
		}
		r.from = "(" + query + "\n)"
	}
	const readOnly = "?mode=ro&_pragma=query_only(1)&_pragma=busy_timeout(10000)"
	if r.conn, err = new(sqlite.Driver).Open("file:" + (&url.URL{Path: path}).EscapedPath() + readOnly); err != nil {
		return nil, fault(err)
	}
	if err := r.begin(); err != nil {
		r.conn.Close()
		return nil, err
	}
	return r, nil
}

// Path returns the file of an input.
func Path(input string) (string, error) {
	_, name, _ := strings.Cut(input, ":")
	path, _, _ := strings.Cut(strings.TrimPrefix(name, "//"), "?")
	return url.PathUnescape(path)
}

func fault(err error) error {
	return &source.Error{Field: "input", Wanted: "a table or query that SQLite can read", Got: "an error of SQLite", Quoted: err.Error(), Hint: "check the file and the names"}
}

// quoted returns a name quoted such that SQL reads it as nothing else.
func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func (r *reader) ask(query string) (driver.Rows, error) {
	return r.conn.(driver.QueryerContext).QueryContext(context.Background(), query, nil)
}

// begin learns the columns, of a query that returns no row.
func (r *reader) begin() error {
	rows, err := r.ask("SELECT * FROM " + r.from + " LIMIT 0")
	if err != nil {
		return fault(err)
	}
	defer rows.Close()
	r.header = rows.Columns()
	for i := range r.header {
		declared := rows.(driver.RowsColumnTypeDatabaseTypeName).ColumnTypeDatabaseTypeName(i)
		r.types, r.selected = append(r.types, typeOf(strings.ToUpper(declared))), append(r.selected, i)
	}
	return nil
}

const byQuery = ", by a ?query= that selects them as numbers"

// typeOf returns the type that a column is declared with, by the rules of SQLite for its affinity.
// Cells need not keep to it: one of text in a column of numbers is read as in CSV. A column without
// a declaration, such as an expression, says nothing.
func typeOf(declared string) source.Type {
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(declared, w) })
	}
	switch {
	case declared == "", has("BLOB"):
		return source.Type{}
	case has("BOOL"):
		return source.Type{Truth: true, Name: "truth values", Hint: "leave its kind out, or say yes-no"}
	case has("DATE", "TIME"):
		return source.Type{Name: "points in time", Hint: "fit numbers, such as unixepoch(column)" + byQuery}
	case has("INT"):
		return source.Type{Numbers: true, Name: "whole numbers"}
	case has("CHAR", "CLOB", "TEXT"):
		return source.Type{Name: "text"}
	case has("REAL", "FLOA", "DOUB"):
		return source.Type{Numbers: true, Name: "floating-point numbers"}
	}
	return source.Type{Numbers: true, Name: "decimals"}
}

// Header implements source.Reader.
func (r *reader) Header() []string { return r.header }

// Types implements source.Typed.
func (r *reader) Types() []source.Type { return r.types }

// Select implements source.Reader.
func (r *reader) Select(columns, labels []int) { r.selected, r.labels = columns, labels }

// Close implements source.Reader.
func (r *reader) Close() error {
	if r.rows != nil {
		r.rows.Close()
	}
	return r.conn.Close()
}

// start asks for the rows of the selected columns. The sign before each name changes no cell, but
// hides the declared type from the driver, which would convert cells to times and truth values by
// it.
func (r *reader) start() (err error) {
	var names []string
	r.places = make([]int, len(r.header))
	for i, name := range r.header {
		if slices.Contains(r.selected, i) || slices.Contains(r.labels, i) {
			r.places[i] = len(names)
			names = append(names, "+"+quoted(name))
		}
	}
	r.cells = make([]driver.Value, len(names))
	r.rows, err = r.ask("SELECT " + strings.Join(names, ", ") + " FROM " + r.from)
	return err
}

// Next implements source.Reader. SQLite's message while it reads rows may hold a cell, and is not
// shown.
func (r *reader) Next(values []float64, kinds []source.Kind, labels []string) error {
	var err error
	if r.rows == nil {
		err = r.start()
	}
	if err == nil && !r.ended {
		err = r.rows.Next(r.cells)
		r.ended = err == io.EOF
	}
	if r.ended {
		return io.EOF
	}
	if err != nil {
		return &source.Error{Field: "input", Wanted: "rows", Got: "an error of SQLite", Hint: "try the query in sqlite3, and PRAGMA integrity_check"}
	}
	for i, j := range r.selected {
		values[i], kinds[i] = cell(r.cells[r.places[j]])
	}
	for i, j := range r.labels {
		labels[i] = text(r.cells[r.places[j]])
	}
	return nil
}

// Text implements source.Texts.
func (r *reader) Text(i int) string { return text(r.cells[r.places[r.selected[i]]]) }

func cell(v driver.Value) (float64, source.Kind) {
	switch v := v.(type) {
	case nil:
		return 0, source.Missing
	case int64:
		return float64(v), source.Number
	case float64:
		return source.Cell(v)
	case string:
		return source.ParseCell(v)
	}
	return 0, source.NotNumber
}

func text(v driver.Value) string {
	switch v := v.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []byte:
		return string(v)
	}
	return fmt.Sprint(v)
}
