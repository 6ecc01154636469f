package source

import (
	"cmp"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
)

// An Error is a mistake in the input, the schema or the way they were named, which its author can
// fix.
//
// It holds names of files and columns and numbers of lines, but no cell. It still depends on the
// rows (that there is such a line), so it is for the custodian alone.
type Error struct {
	Field  string // where: "header", "line 17", `column "age"`, "input"
	Wanted string
	Got    string
	// Quoted replaces Got for readers who have the input themselves: it repeats its content, such
	// as the names of a header, or a database's message. The server never shows it.
	Quoted string
	Hint   string // how to fix it
}

// Error returns one line: field, wanted, got, and how to fix it.
func (e *Error) Error() string {
	text := fmt.Sprintf("source: %s: want %s, got %s", e.Field, e.Wanted, cmp.Or(e.Quoted, e.Got))
	if e.Hint == "" {
		return text
	}
	return text + "; " + e.Hint
}

// ioError distinguishes a damaged input, which the custodian can fix, from a failure while reading,
// which it returns wrapped.
func ioError(name string, err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &Error{Field: "input", Wanted: "a whole gzip file", Got: "one that ends early",
			Hint: "copy or compress " + name + " again"}
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.As(err, &corrupt):
		return &Error{Field: "input", Wanted: "a sound gzip file", Got: "damaged data",
			Hint: "check " + name + " with gzip -t"}
	}
	return fmt.Errorf("source: reading %s: %w", name, err)
}

// quoteNames lists names for an error text: quoted, and cut if the list gets long.
func quoteNames(names []string) string {
	const most = 40
	var b strings.Builder
	for i, name := range names {
		if i == most {
			fmt.Fprintf(&b, " and %d more", len(names)-most)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", name)
	}
	return b.String()
}
