package source

import (
	"fmt"
	"io"
	"slices"
)

// Files reads several files as one table, one after the other. All have the same names of columns,
// in whatever order.
type Files struct {
	Reader   // of the open file
	open     Opener
	parsed   Parsed
	header   []string // of the first
	types    []Type
	selected []int
	labels   []int
	path     string
	rest     []string
	paths    int // number of files
}

// An Opener opens a file.
type Opener func(path string) (Reader, error)

// Parsed returns a reader of the parsed content of a file: the named columns and labels, in this
// order and nothing else. If it returns nil and no error, the file itself is read.
type Parsed func(path string, columns, labels []string) (Reader, error)

// OpenFiles opens at least one file. It checks that all have the same columns before a row is read.
func OpenFiles(paths []string, open Opener) (*Files, error) {
	first, err := open(paths[0])
	if err != nil {
		return nil, err
	}
	f := &Files{Reader: first, open: open, header: first.Header(), types: slices.Clone(TypesOf(first)), path: paths[0], rest: paths[1:], paths: len(paths)}
	for i := range f.header {
		f.selected = append(f.selected, i)
	}
	for _, path := range f.rest {
		if err := f.check(path); err != nil {
			first.Close()
			return nil, err
		}
	}
	return f, nil
}

// By makes parsed supply the rows of the files. It is called once the columns are selected, and
// before the first row.
func (f *Files) By(parsed Parsed) {
	f.parsed = parsed
	f.rest = append([]string{f.path}, f.rest...)
}

// check opens a file for its header and types. Where files disagree about a type, it becomes the
// one that cannot be fitted, or none.
func (f *Files) check(path string) error {
	next, err := f.open(path)
	if err != nil {
		return in(path, err)
	}
	defer next.Close()
	at, err := f.places(next.Header())
	if err != nil {
		return in(path, err)
	}
	types := TypesOf(next)
	for i, j := range at {
		switch other := types[j]; {
		case f.types[i].Hint != "":
		case other.Hint != "":
			f.types[i] = other
		case other.Numbers != f.types[i].Numbers || other.Name == "":
			f.types[i] = Type{}
		}
	}
	return nil
}

// in adds the file to a mistake.
func in(path string, err error) error {
	if mistake, ok := err.(*Error); ok {
		named := *mistake
		named.Field = path + ", " + named.Field
		return &named
	}
	return err
}

// places returns where the first file's columns are in another's header.
func (f *Files) places(header []string) ([]int, error) {
	at := make([]int, len(f.header))
	for i, name := range f.header {
		if at[i] = slices.Index(header, name); at[i] < 0 || len(header) != len(f.header) {
			return nil, &Error{Field: "header", Wanted: fmt.Sprintf("the %d columns of the first file that the pattern matches, in any order", len(f.header)),
				Got: "others", Hint: "name files of one table alone"}
		}
	}
	return at, nil
}

// Header implements source.Reader.
func (f *Files) Header() []string { return f.header }

// Types implements source.Typed.
func (f *Files) Types() []Type { return f.types }

// Fraction implements source.Measured, as if all files were of one size.
func (f *Files) Fraction() float64 {
	part := max(0, float64(f.paths-len(f.rest)-1))
	if m, ok := f.Reader.(Measured); ok {
		part += m.Fraction()
	}
	return part / float64(f.paths)
}

// Select implements source.Reader.
func (f *Files) Select(columns, labels []int) {
	f.selected, f.labels = columns, labels
	f.apply(f.Reader.Header())
}

// apply selects the columns in the open file, at the places found before.
func (f *Files) apply(header []string) {
	at := func(list []int) (out []int) {
		for _, i := range list {
			out = append(out, slices.Index(header, f.header[i]))
		}
		return out
	}
	f.Reader.Select(at(f.selected), at(f.labels))
}

// Next implements source.Reader.
func (f *Files) Next(values []float64, kinds []Kind, labels []string) error {
	for {
		err := io.EOF
		if f.paths > len(f.rest) {
			err = f.Reader.Next(values, kinds, labels)
		}
		if err != io.EOF || len(f.rest) == 0 {
			return in(f.path, err)
		}
		f.path, f.rest = f.rest[0], f.rest[1:]
		if err := f.turn(); err != nil {
			return in(f.path, err)
		}
	}
}

// Text implements source.Texts.
func (f *Files) Text(i int) string { return TextOf(f.Reader, i) }

// turn closes the file and opens the next one.
func (f *Files) turn() (err error) {
	var next Reader
	if f.parsed != nil {
		next, err = f.parsed(f.path, f.names(f.selected), f.names(f.labels))
	}
	own := next == nil && err == nil
	if own {
		next, err = f.open(f.path)
	}
	if err != nil {
		return err
	}
	f.Reader.Close()
	f.Reader = next
	if !own {
		return nil
	}
	if _, err = f.places(next.Header()); err == nil {
		f.apply(next.Header())
	}
	return err
}

// names returns the names of columns of the header.
func (f *Files) names(of []int) (names []string) {
	for _, i := range of {
		names = append(names, f.header[i])
	}
	return names
}
