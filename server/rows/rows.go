// Package rows is where the server reads inputs: when a custodian registers one, and when a fit
// runs. Nothing else of the server opens an input.
//
// Everything is opened through [Places], which say where whose input may be. Problems with rows are
// reported in texts that only the custodian may see ([store.Outcome.Fault] and [Inspected.Report]),
// and that hold nothing of a cell or a header; a fit's other results are releases, or reasons that
// follow from released values.
package rows

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/parallel"
	"github.com/gauze-dp/gauze/server/ask"
	"github.com/gauze-dp/gauze/server/store"
	"github.com/gauze-dp/gauze/source"
	"github.com/gauze-dp/gauze/source/inputs"
)

// A Fingerprint digests parts with the ledger's key.
type Fingerprint func(parts ...string) string

// of returns the fingerprint of all that an input's files hold, "" for an input without files.
func (f Fingerprint) of(input string) (string, error) {
	parts := []string{"content"} // as commands compute it, so that the ledger recognises a file
	files := inputs.Files(input)
	for _, name := range inputs.Opened(input) { // rows of SQLite may be in its log only
		if info, err := os.Stat(name); err == nil && strings.HasSuffix(name, "-wal") && info.Size() > 0 && !slices.Contains(files, name) {
			files = append(files, name)
		}
	}
	for _, name := range files {
		sum, err := digestOf(name)
		if err != nil {
			return "", err
		}
		parts = append(parts, sum)
	}
	if len(parts) == 1 {
		return "", nil
	}
	return f(parts...), nil
}

func digestOf(name string) (string, error) {
	h := sha256.New()
	kind, err := os.Stat(name)
	if err == nil && !kind.Mode().IsRegular() { // a device or a pipe may never end
		err = errors.New("another kind of file")
	}
	var file *os.File
	if err == nil {
		file, err = os.Open(name)
	}
	if err == nil {
		_, err = io.Copy(h, file)
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		return "", &source.Error{Field: "input", Wanted: "a readable file", Got: err.Error(), Hint: "check the path, and that the server may read it"}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Inspected holds what the registration found in a custodian's input.
type Inspected struct {
	Fingerprint string
	Rows        int    // or persons, if the schema has a unit and their number is public
	Report      string // what was read, in words for the custodian
}

// Inspect reads a data set's input once, for its custodian. Its errors describe the input, and are
// for the custodian, but they quote nothing of it, except names of columns: of those that hold
// numbers, if none are declared, and of one that has the name of an identifier and repeats.
func (p *Places) Inspect(ctx context.Context, f Fingerprint, d *store.Dataset, relation privacy.Relation) (out Inspected, err error) {
	err = guarded(ctx, func() error {
		input, err := p.find(d.Owner, d.Input)
		if err != nil {
			return err
		}
		if out.Fingerprint, err = f.of(input); err != nil {
			return err
		}
		in, err := gauze.Open(input, nil, &d.Schema)
		if err != nil {
			return unquoted(err)
		}
		defer in.Close()
		table, err := in.Load(relation, nil)
		if err != nil {
			return unquoted(err)
		}
		report, public := in.Report(), false
		if out.Rows, public = table.Rows(); !public {
			out.Rows = report.Rows
		}
		out.Report = report.Text()
		return nil
	})
	return out, err
}

// unquoted returns an error of reading rows without any text from the input itself. Errors of
// libraries may hold a cell: for those it only says that there was one.
func unquoted(err error) error {
	var input *source.Error
	var field *privacy.FieldError
	switch {
	case errors.As(err, &input):
		bare := *input
		bare.Quoted = ""
		return &bare
	case errors.As(err, &field):
		return field
	}
	return &source.Error{Field: "input", Wanted: "rows that can be read", Got: "an error", Hint: "gauze fit shows it to whoever has the input"}
}

// errInternal is the report of a panic, whose own message may hold a part of a row and is not
// repeated.
var errInternal = errors.New("internal error")

// guarded runs f, but returns when ctx is done, or f panics.
func guarded(ctx context.Context, f func() error) (err error) {
	defer func() {
		if recover() != nil {
			err = errInternal
		}
	}()
	var fault error
	if err := parallel.Await(ctx, func() { fault = f() }); err != nil {
		return err
	}
	return fault
}

// Fit runs a fit: it reads the data set's rows, whose cost was reserved, and returns the outcome.
// It never measures more than was reserved, nor other rows than those that were registered. After
// its registration every bad cell of a data set is a missing one, whatever that leaves of a column.
func (p *Places) Fit(ctx context.Context, f Fingerprint, d store.Dataset, kept json.RawMessage, day time.Time) store.Outcome {
	out := store.Outcome{}
	err := guarded(ctx, func() error {
		result, content, err := p.fit(ctx, f, d, kept, day)
		switch out.Content = content; {
		case err != nil:
			return err
		case result.NoRelease != nil:
			out.State, out.Reason, out.Advice, out.Certificate = store.NoRelease, result.NoRelease.Reason, result.NoRelease.Advice, &result.Certificate
		default:
			out.State, out.Release = store.Released, result.Release
		}
		return nil
	})
	if err != nil {
		return store.Outcome{State: store.Failed, Fault: err.Error()}
	}
	return out
}

func (p *Places) fit(ctx context.Context, f Fingerprint, d store.Dataset, kept json.RawMessage, day time.Time) (*gauze.Result, string, error) {
	var asked ask.Kept
	if err := json.Unmarshal(kept, &asked); err != nil {
		return nil, "", err
	}
	if asked.By == nil { // stored without groups, or before a schema's own were used
		asked.By = []string{source.NoGroups}
	}
	r, schema, err := asked.Request(&d)
	if err != nil {
		return nil, "", err
	}
	r.Day = day
	input, err := p.find(d.Owner, d.Input)
	if err != nil {
		return nil, "", err
	}
	content, err := f.of(input)
	if err != nil {
		return nil, "", err
	}
	if content != d.Fingerprint {
		return nil, "", errors.New("the input has changed since it was registered: POST /datasets/NAME/accept takes it as it is now")
	}
	in, err := gauze.Open(input, nil, schema)
	if err != nil {
		return nil, "", unquoted(err)
	}
	defer in.Close()
	in.TakeAnyCells()
	if schema.By != nil {
		groups, err := in.LoadGroups(nil)
		if err != nil {
			return nil, "", unquoted(err)
		}
		if r.Relation == privacy.ReplaceOne && groups.Rows() != d.Rows {
			return nil, "", errRows
		}
		r = reserved(in.Fill(r), asked, true)
		result, err := gauze.FitGroups(ctx, *groups, r)
		return result, content, err
	}
	table, err := in.Load(r.Relation, nil)
	if err != nil {
		return nil, "", unquoted(err)
	}
	if n, public := table.Rows(); public && n != d.Rows {
		return nil, "", errRows
	}
	r = reserved(in.Fill(r), asked, false)
	result, err := gauze.Fit(ctx, table, r)
	return result, content, err
}

// errRows is shown to the custodian only. Only a public number of rows is checked.
var errRows = errors.New("the input has another number of rows than when it was registered: POST /datasets/NAME/accept takes it as it is now")

// reserved returns a request that is refused, before anything is measured, if it would cost more
// than was reserved.
func reserved(r gauze.Request, asked ask.Kept, grouped bool) gauze.Request {
	whole := r
	r.Reserve = func(plan kernel.Plan, total privacy.Calibration) error {
		if cost := whole.Cost(plan, total, grouped); !cost.Within(asked.Cost) {
			return fmt.Errorf("the fit would cost more than was reserved for it")
		}
		return nil
	}
	return r
}

// Memory returns about how many bytes a fit of this size takes: the table itself, the scratch space
// of scans and learners, and the texts among which values are found, of which every row may have
// its own. The factors are guesses, from fits of 200,000 rows, and of 2,000,000 texts.
func Memory(rows int, columns []source.Column) (bytes int64) {
	for _, c := range columns {
		if bytes += memoryFactor * 8 * int64(rows); c.Find {
			bytes += textBytes * int64(rows)
		}
	}
	return bytes
}

const memoryFactor, textBytes = 4, 400
