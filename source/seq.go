package source

import (
	"fmt"
	"io"
	"iter"

	"github.com/gauze-dp/gauze/internal/words"
)

// A seq reads rows of numbers from an iterator.
type seq struct {
	names []string
	pick  []int // selected columns; nil for all
	next  func() ([]float64, bool)
	stop  func()
	rows  int // read so far
}

// Seq returns a reader of the rows of an iterator, each with a number for every name: NaN is a
// missing cell. A row may be overwritten once the next one is asked for.
func Seq(rows iter.Seq[[]float64], names []string) Reader {
	s := &seq{names: names}
	s.next, s.stop = iter.Pull(rows)
	return s
}

// Header returns the names.
func (s *seq) Header() []string { return s.names }

// Select selects columns; there are none as text.
func (s *seq) Select(columns, _ []int) { s.pick = columns }

// Next reads one row. A row of another length is an error, and so is an end without a row.
func (s *seq) Next(values []float64, kinds []Kind, _ []string) error {
	row, ok := s.next()
	if s.rows++; !ok {
		if s.rows == 1 {
			return &Error{Field: "rows", Wanted: "at least one", Got: "none", Hint: "a model of no rows says nothing"}
		}
		return io.EOF
	}
	if len(row) != len(s.names) {
		return &Error{Field: fmt.Sprintf("row %d", s.rows), Wanted: words.Plural(len(s.names), "number") + ", one for each column",
			Got: words.Digits(len(row)), Hint: "write NaN for a missing cell"}
	}
	for i := range values {
		j := i
		if s.pick != nil {
			j = s.pick[i]
		}
		values[i], kinds[i] = Cell(row[j])
	}
	return nil
}

// Close ends the iterator.
func (s *seq) Close() error {
	s.stop()
	return nil
}
