package parsed

import (
	"context"
	"errors"
	"io"
	"path/filepath"

	"github.com/gauze-dp/gauze/source"
)

// A whole file is read from the parsed pieces of workers, if all pieces were parsed.
type whole struct {
	source.Reader // of the file, for its header, or for all of it
	ask           func(columns, labels []string) error
	store         Store
	columns       []int
	labels        []int
	pieces        int
	parsed        []source.Reader // of the pieces that are not read yet
	asked         bool
	cut           bool // parsed holds pieces
}

// Cut opens one file as a table whose pieces, of size bytes each, workers parse by a schedule, as
// Open does with several files. It returns nil without an error for a file of less than two pieces,
// and for one that is not CSV that can be cut.
func Cut(ctx context.Context, store Store, path string, size int64, open source.Opener, schedule func(context.Context, []string) error) (source.Reader, error) {
	path, err := filepath.Abs(path) // a worker may run in another folder
	if err != nil {
		return nil, err
	}
	pieces := cut(path, size)
	if pieces == nil {
		return nil, nil
	}
	file, err := open(path)
	if err != nil {
		return nil, err
	}
	w := &whole{Reader: file, store: store, pieces: len(pieces)}
	w.ask = func(columns, labels []string) error {
		return question{Pieces: pieces, Columns: columns, Labels: labels}.ask(ctx, store, schedule)
	}
	return w, nil
}

// Select implements source.Reader.
func (w *whole) Select(columns, labels []int) {
	w.columns, w.labels = columns, labels
	w.Reader.Select(columns, labels)
}

// Fraction implements source.Measured, by pieces.
func (w *whole) Fraction() float64 {
	if m, ok := w.Reader.(source.Measured); ok && !w.cut {
		return m.Fraction()
	}
	return 1 - float64(len(w.parsed))/float64(w.pieces)
}

// Next implements source.Reader.
func (w *whole) Next(values []float64, kinds []source.Kind, labels []string) error {
	if !w.asked {
		if err := w.collect(); err != nil {
			return err
		}
	}
	if !w.cut {
		return w.Reader.Next(values, kinds, labels)
	}
	for len(w.parsed) > 0 {
		if err := w.parsed[0].Next(values, kinds, labels); err != io.EOF {
			return err
		}
		if err := w.parsed[0].Close(); err != nil {
			return err
		}
		w.parsed = w.parsed[1:]
	}
	return io.EOF
}

// Text implements source.Texts.
func (w *whole) Text(i int) string {
	if !w.cut {
		return source.TextOf(w.Reader, i)
	}
	return source.TextOf(w.parsed[0], i)
}

// collect has the pieces parsed, and opens the results: all or none.
func (w *whole) collect() error {
	w.asked = true
	header := w.Header()
	columns, labels := names(header, w.columns), names(header, w.labels)
	if err := w.ask(columns, labels); err != nil {
		return err
	}
	w.cut = true
	for i := range w.pieces {
		if r := read(w.store, i, columns, labels); r != nil {
			w.parsed = append(w.parsed, r)
		} else {
			w.cut = false
		}
	}
	if w.cut {
		return nil
	}
	return w.leave()
}

func names(header []string, at []int) (names []string) {
	for _, i := range at {
		names = append(names, header[i])
	}
	return names
}

// leave frees the disk space of what is not read.
func (w *whole) leave() error {
	var errs []error
	for _, r := range w.parsed {
		errs = append(errs, r.Close())
	}
	w.parsed = nil
	return errors.Join(errs...)
}

// Close implements source.Reader.
func (w *whole) Close() error { return errors.Join(w.leave(), w.Reader.Close()) }
