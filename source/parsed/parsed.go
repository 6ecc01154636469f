// Package parsed has the files of a table parsed by workers. What they make of a file lies as
// numbers in the store of a fit, and the program that fits reads it in the order of the files, as
// if it had parsed them itself: the rows, their order and what is said of bad cells do not depend
// on workers.
//
// A file is parsed whole, by one worker, or in pieces if it is the only one and large. What none
// has parsed is read by the program that fits, which so finds the mistake in it.
package parsed

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gauze-dp/gauze/parallel"
	"github.com/gauze-dp/gauze/source"
)

// Names in the store: what is asked, what has come of a file, and the work that it is.
const (
	questionName = "parse"
	answerName   = "parsed."
	itemName     = "parse."
)

// errWork is all that is said of work that was not done: what a worker says of itself may depend on
// rows.
var errWork = errors.New("parsed: a file was not parsed")

// A Store is where workers find what they are asked, and leave what they have parsed.
type Store interface {
	Write(name string, text []byte) error
	Read(name string) ([]byte, error)
	// Create is Write of what is too large to hold: it is there once all of it is written.
	Create(name string, write func(io.Writer) error) error
	File(name string) (io.ReadCloser, error)
	Remove(name string) error
}

// A question is what workers are asked.
type question struct {
	Paths           []string
	Pieces          []piece // or those of one file
	Columns, Labels []string
}

// Open opens files as one table, whose rows a schedule has workers parse once the columns are
// known: it hands out the items and returns when Work was called with each, or some.
func Open(ctx context.Context, store Store, paths []string, open source.Opener, schedule func(context.Context, []string) error) (source.Reader, error) {
	q, asked := question{}, false
	for _, path := range paths {
		if !strings.Contains(path, "://") {
			whole, err := filepath.Abs(path) // wherever a worker runs
			if err != nil {
				return nil, err
			}
			path = whole
		}
		q.Paths = append(q.Paths, path)
	}
	files, err := source.OpenFiles(paths, open)
	if err != nil {
		return nil, err
	}
	files.By(func(path string, columns, labels []string) (source.Reader, error) {
		if !asked {
			asked, q.Columns, q.Labels = true, columns, labels
			if err := q.ask(ctx, store, schedule); err != nil {
				return nil, err
			}
		}
		return read(store, slices.Index(paths, path), columns, labels), nil
	})
	return files, nil
}

// ask has the files parsed. Whether they were is seen in the store. Nobody is asked of a path that
// is no text, by which another file could be found.
func (q question) ask(ctx context.Context, store Store, schedule func(context.Context, []string) error) error {
	text, err := json.Marshal(q)
	if odd := func(path string) bool { return !utf8.ValidString(path) }; err == nil {
		if slices.ContainsFunc(q.Paths, odd) || slices.ContainsFunc(q.Pieces, func(p piece) bool { return odd(p.Path) }) {
			return nil
		}
		err = store.Write(questionName, text)
	}
	if err != nil {
		return err
	}
	var items []string
	for i := range len(q.Paths) + len(q.Pieces) {
		items = append(items, itemName+strconv.Itoa(i))
	}
	return parallel.Await(ctx, func() {
		defer func() { _ = recover() }()
		_ = schedule(ctx, items)
	})
}

// Is says that an item of work is one of this package's.
func Is(item string) bool { return strings.HasPrefix(item, itemName) }

// Work parses the file that an item names, unless that is done. The error is a constant, and panics
// are one.
func Work(store Store, item string, open source.Opener) (err error) {
	defer func() {
		if recover() != nil {
			err = errWork
		}
	}()
	if parse(store, strings.TrimPrefix(item, itemName), open) != nil {
		return errWork
	}
	return nil
}

func parse(store Store, number string, open source.Opener) error {
	var q question
	text, err := store.Read(questionName)
	if err == nil {
		err = json.Unmarshal(text, &q)
	}
	if err != nil {
		return err
	}
	i, err := strconv.Atoi(number)
	if err != nil || i < 0 || i >= len(q.Paths)+len(q.Pieces) {
		return errWork
	}
	name := answerName + strconv.Itoa(i)
	if done, err := store.File(name); err == nil {
		return done.Close()
	}
	var rows source.Reader
	if len(q.Pieces) > 0 {
		rows, err = q.Pieces[i].open()
	} else {
		rows, err = open(q.Paths[i])
	}
	if err != nil {
		return err
	}
	defer rows.Close()
	if err := choose(rows, q.Columns, q.Labels); err != nil {
		return err
	}
	return store.Create(name, func(out io.Writer) error { return write(out, rows, len(q.Columns), len(q.Labels)) })
}

// choose selects columns by their names.
func choose(rows source.Reader, columns, labels []string) error {
	var at [2][]int
	for k, names := range [][]string{columns, labels} {
		for _, name := range names {
			j := slices.Index(rows.Header(), name)
			if j < 0 {
				return errWork
			}
			at[k] = append(at[k], j)
		}
	}
	rows.Select(at[0], at[1])
	return nil
}
