package inputs

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gauze-dp/gauze/source"
	"github.com/gauze-dp/gauze/source/sqlite"
)

// files are several files, read one after the other as one table.
type files struct {
	source.Reader          // of the file that is read
	header        []string // of the first
	types         []source.Type
	selected      []int
	labels        []int
	path          string
	rest          []string
	paths         int // all of them
}

// patternMarks are the characters of which one makes a name that no file has a pattern.
const patternMarks = "*?["

// openAll opens the files of a pattern, in the order of their paths. All have the same names of
// columns, in whatever order: that is checked here, before a row is read.
func openAll(pattern string) (source.Reader, error) {
	paths := matching(pattern)
	if paths == nil {
		return nil, &source.Error{Field: "input", Wanted: "a pattern that matches files", Got: pattern + ", which matches none", Hint: "check the path, and quote the pattern"}
	}
	first, err := openFile(paths[0])
	if err != nil {
		return nil, err
	}
	f := &files{Reader: first, header: first.Header(), types: slices.Clone(source.TypesOf(first)), path: paths[0], rest: paths[1:], paths: len(paths)}
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

// check opens a file for its header and types. Where files differ about a type, it is the one that
// cannot be fitted, or none.
func (f *files) check(path string) error {
	next, err := openFile(path)
	if err != nil {
		return in(path, err)
	}
	defer next.Close()
	at, err := f.places(path, next.Header())
	if err != nil {
		return err
	}
	types := source.TypesOf(next)
	for i, j := range at {
		switch other := types[j]; {
		case f.types[i].Hint != "":
		case other.Hint != "":
			f.types[i] = other
		case other.Numbers != f.types[i].Numbers || other.Name == "":
			f.types[i] = source.Type{}
		}
	}
	return nil
}

// in says in which file a mistake is.
func in(path string, err error) error {
	if mistake, ok := err.(*source.Error); ok {
		named := *mistake
		named.Field = path + ", " + named.Field
		return &named
	}
	return err
}

// places says where the first file's columns are in another's header.
func (f *files) places(path string, header []string) ([]int, error) {
	at := make([]int, len(f.header))
	for i, name := range f.header {
		if at[i] = slices.Index(header, name); at[i] < 0 || len(header) != len(f.header) {
			return nil, &source.Error{Field: path + ", header", Wanted: fmt.Sprintf("the %d columns of the first file that the pattern matches, in any order", len(f.header)),
				Got: "others", Hint: "name files of one table alone"}
		}
	}
	return at, nil
}

// Header implements source.Reader.
func (f *files) Header() []string { return f.header }

// Types implements source.Typed.
func (f *files) Types() []source.Type { return f.types }

// Fraction implements source.Measured, as if all files were of one size.
func (f *files) Fraction() float64 {
	part := float64(f.paths - len(f.rest) - 1)
	if m, ok := f.Reader.(source.Measured); ok {
		part += m.Fraction()
	}
	return part / float64(f.paths)
}

// Select implements source.Reader.
func (f *files) Select(columns, labels []int) {
	f.selected, f.labels = columns, labels
	f.apply(f.Reader.Header())
}

// apply selects in the open file, whose places were found before.
func (f *files) apply(header []string) {
	at := func(list []int) (out []int) {
		for _, i := range list {
			out = append(out, slices.Index(header, f.header[i]))
		}
		return out
	}
	f.Reader.Select(at(f.selected), at(f.labels))
}

// Next implements source.Reader.
func (f *files) Next(values []float64, kinds []source.Kind, labels []string) error {
	for {
		err := f.Reader.Next(values, kinds, labels)
		if err != io.EOF || len(f.rest) == 0 {
			return in(f.path, err)
		}
		f.path, f.rest = f.rest[0], f.rest[1:]
		next, err := openFile(f.path)
		if err != nil {
			return in(f.path, err)
		}
		f.Reader.Close()
		f.Reader = next
		if _, err := f.places(f.path, next.Header()); err != nil {
			return err
		}
		f.apply(next.Header())
	}
}

// Files are the local files that an input names, for whoever must not write to them: none for
// stdin, servers, and patterns without a match.
func Files(input string) []string {
	switch scheme, ok := schemeOf(input); {
	case scheme == "sqlite":
		if path, err := sqlite.Path(input); err == nil {
			return []string{path}
		}
		return nil
	case ok || input == "-":
		return nil
	}
	if matches := matching(input); matches != nil {
		return matches
	}
	return []string{input}
}

// matching are the files of a pattern, in the order of their paths; nil for a file's own name.
func matching(input string) []string {
	if _, err := os.Stat(input); err == nil || !strings.ContainsAny(input, patternMarks) {
		return nil
	}
	paths, _ := filepath.Glob(input) // a malformed pattern matches nothing
	slices.Sort(paths)
	return paths
}
