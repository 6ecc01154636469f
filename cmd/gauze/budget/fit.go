// Package budget is what the commands do with a ledger: they count fits, and show, grant and
// verify.
package budget

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/ledger"
	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/source"
)

// Flags name a ledger and a data set.
type Flags struct {
	Ledger, Key, Dataset string
	// Reader opens an input.
	Reader func(input string, stdin io.Reader, d source.Dialect) (source.Reader, error)
}

// Register adds the flags to a command's.
func (f *Flags) Register(flags *pflag.FlagSet) {
	flags.StringVar(&f.Ledger, "ledger", "", "budgets of data sets: a file, or postgres://..")
	flags.StringVar(&f.Key, "ledger-key", "", "file with the ledger's key (default: the ledger's name and .key; for postgres://.. gauze/ledger.key among your settings)")
	flags.StringVar(&f.Dataset, "dataset", "", "name of the data set in the ledger")
}

// key returns the file of the ledger's key.
func (f *Flags) key() (string, error) {
	switch {
	case f.Key != "":
		return f.Key, nil
	case !strings.HasPrefix(f.Ledger, "postgres://") && !strings.HasPrefix(f.Ledger, "postgresql://"):
		return f.Ledger + ".key", nil
	}
	folder, err := os.UserConfigDir()
	if err != nil {
		return "", &privacy.FieldError{Field: "ledger key", Wanted: "a file", Got: "no place for settings", Fix: "name the file with --ledger-key"}
	}
	return filepath.Join(folder, "gauze", "ledger.key"), nil
}

// Files returns the files that the ledger has or may come to have, none for a database elsewhere.
func (f *Flags) Files() []string {
	key, err := f.key()
	if f.Ledger == "" || err != nil {
		return nil
	}
	return ledger.Files(f.Ledger, key)
}

// open opens the ledger that the flags name.
func (f *Flags) open(ctx context.Context, now func() time.Time) (*ledger.Ledger, error) {
	key, err := f.key()
	if err != nil {
		return nil, err
	}
	return ledger.Open(ctx, f.Ledger, key, now)
}

// A Fit is a fit that a ledger counts, if one is named.
type Fit struct {
	ledger      *ledger.Ledger
	reservation ledger.Reservation
	dataset     string
	source      string // its fingerprint, as far as it was known before a row was read
	input       string
	asked       gauze.Request
	grouped     bool
	foreseen    ledger.Cost
	settled     *ledger.Cost
	note        func(format string, args ...any) // tells the custodian something
}

// Begin reserves what a fit can cost, before a row is read, if a ledger is named. It fails with
// *ledger.RefusedError if that is more than is left. note receives messages for the custodian.
func (f *Flags) Begin(ctx context.Context, r gauze.Request, schema *source.Schema, input string, now func() time.Time, note func(string, ...any)) (*Fit, error) {
	if f.Ledger == "" {
		if f.Dataset != "" || f.Key != "" {
			return nil, &privacy.FieldError{Field: "--ledger", Wanted: "the ledger that the data set is in", Got: "nothing", Fix: "for instance --ledger budgets.db"}
		}
		return &Fit{note: note}, nil
	}
	if schema.Dataset == "" {
		return nil, &privacy.FieldError{Field: "dataset", Wanted: "the name of the data set whose budget is spent", Got: "nothing", Fix: "for instance --dataset visits-2026"}
	}
	var names []string
	if input != stdin { // what is wrong with the input is said before anything is reserved
		if _, err := f.foresee(input, schema); err != nil {
			return nil, err
		}
		if columns, err := f.foresee(input, &source.Schema{Infer: true, CSV: schema.CSV}); err == nil { // all of them
			names = (&source.Schema{Columns: columns}).Names()
		}
	}
	cost, err := privacy.Foreseen(r.Budget)
	if err != nil {
		return nil, err
	}
	l, err := f.open(ctx, now)
	if err != nil {
		return nil, err
	}
	fit := &Fit{ledger: l, dataset: schema.Dataset, asked: r, grouped: len(schema.By) > 0, input: input, foreseen: cost, note: note}
	if size, ok := sizeOf(input); ok {
		fit.source = l.Fingerprint(append(names, size)...)
	}
	terms := ledger.Terms{Relation: r.Relation.String(), Unit: schema.Person(), Epsilon: r.Budget.Epsilon, Delta: r.Budget.Delta, Rho: r.Budget.Rho, Method: r.Method}
	if fit.reservation, err = l.Reserve(ctx, schema.Dataset, terms, cost, fit.source); err != nil {
		l.Close()
		return nil, err
	}
	fit.warn(ctx, "has this header and this size too", fit.source, "")
	return fit, nil
}

// foresee does what source.Foresee does, for an input.
func (f *Flags) foresee(input string, schema *source.Schema) ([]source.Column, error) {
	rows, err := f.Reader(input, nil, schema.CSV)
	if err != nil {
		return nil, err
	}
	columns, _, err := source.Foresee(rows, schema)
	return columns, err
}

// filesOf returns the files of an input, none if it is something else.
func filesOf(input string) []string {
	if info, err := os.Stat(input); err == nil && info.Mode().IsRegular() {
		return []string{input}
	}
	files, _ := filepath.Glob(input) // a pattern that is none matches nothing
	return files
}

// sizeOf returns the size of an input's files, in words; false if it has none.
func sizeOf(input string) (string, bool) {
	total, files := int64(0), filesOf(input)
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			return "", false
		}
		total += info.Size()
	}
	return fmt.Sprint(total), len(files) > 0
}

// warn notes other data sets of the ledger that look like this one.
func (f *Fit) warn(ctx context.Context, why, source, content string) {
	if names, err := f.ledger.Known(ctx, f.dataset, source, content); err == nil && names != nil {
		f.note("warning: the ledger's data set %s %s: if these are the same people, their releases add up\n", strings.Join(names, ", "), why)
	}
}

// stdin is the input that cannot be read twice.
const stdin = "-"

// Reserve puts the plan's exact worst case in the place of what was foreseen, before anything is
// measured: the Reserve of a request. Groups have one plan, of which the first settles for all.
func (f *Fit) Reserve(ctx context.Context) func(kernel.Plan, privacy.Calibration) error {
	if f.ledger == nil {
		f.note("note: no ledger: the total privacy spent on this table is not tracked; name one with --ledger\n")
		return nil
	}
	return func(plan kernel.Plan, total privacy.Calibration) error {
		cost := f.asked.Cost(plan, total, f.grouped)
		if f.settled != nil {
			if !cost.Within(*f.settled) {
				return errors.New("ledger: a group would cost more than the first")
			}
			return nil
		}
		if err := f.ledger.Settle(ctx, f.reservation, cost); err != nil {
			return err
		}
		f.settled = &cost
		return nil
	}
}

// End records how a fit ended, err being that of reading or fitting, before anything of it is
// written, and closes the ledger. A reservation is given back if the fit ended before it could
// measure. Otherwise all of it stays spent: of a fit that measured and released nothing it returns
// that, and tells what the account says now; nil of all others.
func (f *Fit) End(ctx context.Context, result *gauze.Result, err error) (kept *release.Spent) {
	if f.ledger == nil {
		return nil
	}
	defer f.ledger.Close()
	ctx = context.WithoutCancel(ctx) // a signal that ended the fit does not keep it from being recorded
	var run *gauze.RunError
	how := ledger.Released
	switch {
	case errors.As(err, &run):
		how, kept = ledger.Interrupted, f.reserved()
	case err != nil:
		f.told(again(ctx, func() error { return f.ledger.Return(ctx, f.reservation) }))
		return nil
	case result.NoRelease != nil:
		how, kept = ledger.NoRelease, f.reserved()
	}
	content := f.content()
	f.warn(ctx, "has the same rows", "", content)
	f.told(again(ctx, func() error { return f.ledger.Record(ctx, f.reservation, how, content) }))
	if kept == nil {
		return nil
	}
	f.note("note: all that was reserved for this fit stays spent, whatever it measured\n")
	if all, err := f.ledger.Balances(ctx, f.dataset); err == nil {
		f.note("note: of data set %s epsilon = %.6g of %.6g is spent now, at delta = %.6g\n", f.dataset, all[0].Spent.Epsilon, all[0].Granted.Epsilon, all[0].Spent.Delta)
	}
	return kept
}

// told warns if the end of the fit could not be recorded in the ledger.
func (f *Fit) told(fault error) {
	if fault != nil {
		f.note("warning: the ledger could not be told how the fit ended (%v); what was reserved stays spent\n", fault)
	}
}

// reserved returns what the ledger counts of the fit: its requested budget, and its cost.
func (f *Fit) reserved() *release.Spent {
	cost := f.foreseen
	if f.settled != nil {
		cost = *f.settled
	}
	out := &release.Spent{Epsilon: f.asked.Budget.Epsilon, Delta: f.asked.Budget.Delta, Mu: privacy.SqrtUp(cost.Mu2)}
	if cost.Renyi == nil {
		out.Rho = cost.Mu2 / 2
	}
	return out
}

// How often, and how far apart, something is tried again that a database's restart can spoil.
const (
	tries = 12
	pause = time.Second
)

// again tries f until it succeeds, or finds the ledger altered.
func again(ctx context.Context, f func() error) (err error) {
	var broken *ledger.BrokenError
	for range tries {
		if err = f(); err == nil || errors.As(err, &broken) {
			return err
		}
		wait, done := context.WithTimeout(ctx, pause)
		<-wait.Done()
		done()
	}
	return err
}

// content returns a fingerprint of all that an input's files hold; "" for an input without files.
func (f *Fit) content() string {
	parts := []string{"content"}
	for _, name := range filesOf(f.input) {
		file, err := os.Open(name)
		if err != nil {
			return ""
		}
		h := sha256.New()
		_, err = io.Copy(h, file)
		if err = errors.Join(err, file.Close()); err != nil {
			return ""
		}
		parts = append(parts, hex.EncodeToString(h.Sum(nil)))
	}
	if len(parts) == 1 {
		return ""
	}
	return f.ledger.Fingerprint(parts...)
}
