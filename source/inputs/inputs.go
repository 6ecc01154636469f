// Package inputs opens inputs by their names: it knows all of Gauze's formats.
package inputs

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/gauze-dp/gauze/source"
	"github.com/gauze-dp/gauze/source/parquet"
	"github.com/gauze-dp/gauze/source/piped"
	"github.com/gauze-dp/gauze/source/postgres"
	"github.com/gauze-dp/gauze/source/sqlite"
)

// Programs that import this package open all of its formats by gauze.Open, and gauze.FitFile, too.
func init() { source.Register(Reader) }

// Open opens an input: a path to CSV, plain or packed with gzip, or to Parquet; a pattern of such
// paths, as in visits/*.csv.gz, whose files are one table; postgres://.. or sqlite:FILE, with
// ?table=T or ?query=Q; or "-" for stdin: CSV, or the rows of a program (package piped). The schema
// is as for [source.Of]. The caller closes the table.
func Open(input string, stdin io.Reader, schema *source.Schema) (*source.Table, error) {
	reader, err := Reader(input, stdin, dialectOf(schema))
	if err != nil {
		return nil, err
	}
	return source.Of(reader, schema)
}

// Foresee does what source.Foresee does, for an input: it reads no row.
func Foresee(input string, stdin io.Reader, schema *source.Schema) (columns []source.Column, known bool, err error) {
	reader, err := Reader(input, stdin, dialectOf(schema))
	if err != nil {
		return nil, false, err
	}
	return source.Foresee(reader, schema)
}

// dialectOf returns how the input is written, as far as a schema says.
func dialectOf(schema *source.Schema) (d source.Dialect) {
	if schema != nil {
		d = schema.CSV
	}
	return d
}

// typed returns an error if a dialect has settings for text, for a format that is not text.
func typed(d source.Dialect) error {
	if !d.OfText() {
		return nil
	}
	return &source.Error{Field: "csv", Wanted: "an input of CSV", Got: "a format that says itself how its cells are written", Hint: "leave out all but missing="}
}

const supported = "a path to .csv, .csv.gz or .parquet, a pattern of them, postgres://..?table=T or ?query=Q, sqlite:FILE?table=T or ?query=Q, or - for CSV on stdin"

// Reader opens an input as Open does, without a schema: it picks the format by the input's name. A
// dialect says how it is written, if it is CSV.
func Reader(input string, stdin io.Reader, d source.Dialect) (source.Reader, error) {
	switch scheme, ok := schemeOf(input); {
	case (scheme == "postgres" || scheme == "postgresql" || scheme == "sqlite") && d.OfText():
		return nil, typed(d)
	case scheme == "postgres", scheme == "postgresql":
		return postgres.Open(input)
	case scheme == "sqlite":
		return sqlite.Open(input)
	case ok:
		return nil, &source.Error{Field: "input", Wanted: supported, Got: fmt.Sprintf("a URL with the scheme %q", scheme),
			Hint: "export the table, or write ./ before a file name with a colon"}
	}
	switch input {
	case "":
		return nil, &source.Error{Field: "input", Wanted: supported, Got: "an empty name", Hint: "name the file"}
	case "-":
		return openStdin(stdin, d)
	}
	if _, err := os.Stat(input); err != nil && strings.ContainsAny(input, patternMarks) {
		return openAll(input, d)
	}
	return Written(d)(input)
}

// openStdin distinguishes the rows of a program from CSV by their first bytes, which are the same
// for every table.
func openStdin(stdin io.Reader, d source.Dialect) (source.Reader, error) {
	in := bufio.NewReader(stdin)
	if begin, _ := in.Peek(len(piped.Magic)); string(begin) == piped.Magic {
		if err := typed(d); err != nil {
			return nil, err
		}
		return piped.Of("stdin", io.NopCloser(in))
	}
	return d.CSV("stdin", io.NopCloser(in))
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

// File opens one file.
func File(path string) (source.Reader, error) { return file(path, source.Dialect{}) }

// Written returns a function that opens a file as File does, with its text in the dialect d.
func Written(d source.Dialect) func(path string) (source.Reader, error) {
	return func(path string) (source.Reader, error) { return file(path, d) }
}

func file(path string, d source.Dialect) (source.Reader, error) {
	file, err := source.FileOf(path)
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(strings.ToLower(path), ".parquet") {
		if err := typed(d); err != nil {
			file.Close()
			return nil, err
		}
		return parquet.Of(path, file)
	}
	return d.CSV(path, file)
}
