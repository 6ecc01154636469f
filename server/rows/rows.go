// Package rows is where the server reads inputs: when a custodian registers one, and when a fit
// runs. Nothing else of the server opens an input.
//
// What goes wrong with rows is said in words that only the custodian may see ([store.Outcome.Fault]
// and [Looked.Report]); a fit's other results are releases, or reasons that follow from released
// values.
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
	"path/filepath"
	"slices"
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

// of is the fingerprint of all that an input's files hold, "" of one without files.
func (f Fingerprint) of(input string) (string, error) {
	parts := []string{"content"} // as commands have it, so that the ledger knows a file again
	for _, name := range inputs.Files(input) {
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

// Inside reports whether all files of an input are in one of some folders, wherever links lead; a
// database by URL is in none.
func Inside(folders []string, input string) bool {
	files := inputs.Files(input)
	for _, file := range files {
		path, err := filepath.Abs(file)
		if err == nil {
			path, err = filepath.EvalSymlinks(path)
		}
		if err != nil || !slices.ContainsFunc(folders, func(folder string) bool {
			rest, err := filepath.Rel(folder, path)
			return err == nil && filepath.IsLocal(rest)
		}) {
			return false
		}
	}
	return len(files) > 0
}

// Looked is what a custodian's input was seen to be.
type Looked struct {
	Fingerprint string
	Rows        int    // or persons, where the schema has a unit and their number is public
	Report      string // what was read, in words for the custodian
}

// Look reads an input once. Its errors speak of the input: they are the custodian's.
func Look(ctx context.Context, f Fingerprint, input string, schema *source.Schema, relation privacy.Relation) (out Looked, err error) {
	err = guarded(ctx, func() error {
		if out.Fingerprint, err = f.of(input); err != nil {
			return err
		}
		in, err := gauze.Open(input, nil, schema)
		if err != nil {
			return err
		}
		defer in.Close()
		table, err := in.Load(relation, nil)
		if err != nil {
			return err
		}
		report, public := in.Report(), false
		if out.Rows, public = table.Rows(); !public {
			out.Rows = report.Rows
		}
		out.Report = report.Text()
		return nil
	})
	if err != nil && ctx.Err() == nil && !errors.As(err, new(*source.Error)) && !errors.As(err, new(*privacy.FieldError)) {
		// of a library: it may speak of a cell, and goes where the other errors go, not into a log
		err = &source.Error{Field: "input", Wanted: "rows that can be read", Got: err.Error(), Hint: "gauze fit says the same of it"}
	}
	return out, err
}

// errInternal is a fault of the program: what it says may hold a part of a row, and is not
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

// Fit runs a fit: it reads the data set's rows, which its cost was reserved for, and says what it
// ended in. It never measures more than was reserved, nor rows that are not those that were
// registered.
func Fit(ctx context.Context, f Fingerprint, d store.Dataset, kept json.RawMessage, day time.Time) store.Outcome {
	out := store.Outcome{}
	err := guarded(ctx, func() error {
		result, content, err := fit(ctx, f, d, kept, day)
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

func fit(ctx context.Context, f Fingerprint, d store.Dataset, kept json.RawMessage, day time.Time) (*gauze.Result, string, error) {
	var asked ask.Kept
	if err := json.Unmarshal(kept, &asked); err != nil {
		return nil, "", err
	}
	r, schema, err := asked.Request(&d)
	if err != nil {
		return nil, "", err
	}
	r.Day = day
	content, err := f.of(d.Input)
	if err != nil {
		return nil, "", err
	}
	if content != d.Fingerprint {
		return nil, "", errors.New("the input has changed since it was registered: POST /datasets/NAME/accept takes it as it is now")
	}
	in, err := gauze.Open(d.Input, nil, schema)
	if err != nil {
		return nil, "", err
	}
	defer in.Close()
	if schema.By != nil {
		groups, err := in.LoadGroups(nil)
		if err != nil {
			return nil, "", err
		}
		r = reserved(in.Fill(r), asked, true)
		result, err := gauze.FitGroups(ctx, *groups, r)
		return result, content, err
	}
	table, err := in.Load(r.Relation, nil)
	if err != nil {
		return nil, "", err
	}
	if n, public := table.Rows(); public && n != d.Rows {
		return nil, "", errors.New("the input has another number of rows than when it was registered: POST /datasets/NAME/accept takes it as it is now")
	}
	r = reserved(in.Fill(r), asked, false)
	result, err := gauze.Fit(ctx, table, r)
	return result, content, err
}

// reserved is a request that is refused, before anything is measured, if it would cost more than
// was reserved.
func reserved(r gauze.Request, asked ask.Kept, grouped bool) gauze.Request {
	whole := r
	r.Reserve = func(plan kernel.Plan, total privacy.Calibration) error {
		if cost := ask.CostOf(plan, total, whole, grouped); !cost.Within(asked.Cost) {
			return fmt.Errorf("the fit would cost more than was reserved for it")
		}
		return nil
	}
	return r
}

// Memory is about what a fit of so many rows and columns takes, in bytes: the table itself, and
// what scans and learners hold beside it. The factor is a guess, from fits of 200,000 rows.
func Memory(rows, columns int) int64 { return memoryFactor * 8 * int64(rows) * int64(columns) }

const memoryFactor = 4
