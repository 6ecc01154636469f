package source

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// formats opens inputs of every format, where a program has them; see Register.
var formats func(input string, stdin io.Reader, d Dialect) (Reader, error)

// Register is called once, by the package of all formats as it is initialised: a program that does
// not import it reads CSV, and links neither Parquet nor databases.
func Register(open func(input string, stdin io.Reader, d Dialect) (Reader, error)) { formats = open }

// Open opens an input by its name: a path to CSV, plain or packed with gzip, or "-" for CSV on
// stdin; and all others where the program imports source/inputs, which lists them. The schema is as
// for [Of]. The caller closes the table.
func Open(input string, stdin io.Reader, schema *Schema) (*Table, error) {
	d := Dialect{}
	if schema != nil {
		d = schema.CSV
	}
	open := formats
	if open == nil {
		open = onlyCSV
	}
	reader, err := open(input, stdin, d)
	if err != nil {
		return nil, err
	}
	return Of(reader, schema)
}

// onlyCSV opens a file of CSV, or stdin.
func onlyCSV(input string, stdin io.Reader, d Dialect) (Reader, error) {
	if input == "-" && stdin != nil {
		return d.CSV("stdin", io.NopCloser(stdin))
	}
	switch strings.ToLower(filepath.Ext(strings.TrimSuffix(input, ".gz"))) {
	case ".csv", ".tsv", ".txt":
		return OpenFile(input, d)
	}
	return nil, &Error{Field: "input", Wanted: "a path to .csv or .csv.gz", Got: fmt.Sprintf("%q", schemeOnly(input)),
		Hint: `for Parquet, PostgreSQL, SQLite and patterns of files import _ "github.com/gauze-dp/gauze/source/inputs"`}
}

// schemeOnly returns an input without what stands behind a URL's scheme, which may hold a password.
func schemeOnly(input string) string {
	if scheme, _, found := strings.Cut(input, ":"); found && len(scheme) > 1 {
		return scheme + ":.."
	}
	return input
}

// OpenFile opens a file of CSV.
func OpenFile(path string, d Dialect) (Reader, error) {
	file, err := FileOf(path)
	if err != nil {
		return nil, err
	}
	return d.CSV(path, file)
}

// unreadableFile says which file could not be read, and why.
func unreadableFile(err error) string {
	var system *fs.PathError
	if errors.As(err, &system) {
		return fmt.Sprintf("%s: %v", system.Path, system.Err)
	}
	return err.Error()
}

// FileOf opens a file, which is no folder.
func FileOf(path string) (*os.File, error) {
	file, err := os.Open(path)
	if err != nil {
		hint := "check that it may be read"
		if errors.Is(err, fs.ErrNotExist) {
			hint = "check the path"
		}
		return nil, &Error{Field: "input", Wanted: "a readable file", Got: unreadableFile(err), Hint: hint}
	}
	info, err := file.Stat()
	if err == nil && info.IsDir() {
		err = &Error{Field: "input", Wanted: "a file", Got: "the folder " + path, Hint: "name a file in it, or all with " + path + "/*.csv"}
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}
