// Package parsed lets workers parse the files of a table. They write the result as numbers to the
// store of a fit, and the program that fits reads it in the order of the files, as if it had parsed
// them itself: the rows, their order and the reports of bad cells do not depend on workers.
//
// A worker parses a whole file, or a piece if there is only one, large file. The program that fits
// reads files that no worker has parsed, and so finds the mistakes in them.
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

// Names in the store: the question, the parsed content of a file, and the item of work for it.
const (
	questionName = "parse"
	answerName   = "parsed."
	itemName     = "parse."
)

// errWork is the only report of work that was not done: a worker's own report may depend on rows.
var errWork = errors.New("parsed: a file was not parsed")

// A Store is where workers read the question and write what they have parsed.
type Store interface {
	Write(name string, text []byte) error
	Read(name string) ([]byte, error)
	// Create writes what is too large to hold in memory: the name exists once all of it is written.
	Create(name string, write func(io.Writer) error) error
	File(name string) (io.ReadCloser, error)
	Remove(name string) error
}

// A question is the work for workers.
type question struct {
	Paths           []string
	Pieces          []piece // or those of one file
	Columns, Labels []string
}

// Open opens files as one table, whose rows workers parse by a schedule once the columns are known:
// schedule hands out the items and returns when Work was called with each, or with some.
func Open(ctx context.Context, store Store, paths []string, open source.Opener, schedule func(context.Context, []string) error) (source.Reader, error) {
	q, asked := question{}, false
	for _, path := range paths {
		if !strings.Contains(path, "://") {
			whole, err := filepath.Abs(path) // a worker may run in another folder
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

// ask has the files parsed. The store shows whether they were. Workers are not asked for a path
// that is no text, by which they could find another file.
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

// Is reports whether an item of work belongs to this package.
func Is(item string) bool { return strings.HasPrefix(item, itemName) }

// Work parses the file that an item names, unless that is done. The error is a constant, and panics
// become that error.
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
