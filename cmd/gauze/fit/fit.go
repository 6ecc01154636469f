// Package fit is `gauze fit`, and the same command of programs that have workers read the rows.
package fit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/cmd/gauze/budget"
	"github.com/gauze-dp/gauze/cmd/gauze/shell"
	"github.com/gauze-dp/gauze/internal/words"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/ledger"
	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/report"
	"github.com/gauze-dp/gauze/source"
	"github.com/gauze-dp/gauze/source/inputs"
)

// How much the collector leaves standing, in percent of what is in use: Reading while rows are
// read, and then headroom, in bytes, which is little beside a large table and spares fits to small
// ones the collector. Headroom was chosen for a table of 80 MB, of which a sample is kept besides,
// to be 1.8 times as much at most. The table itself lies where the collector does not look; a
// quarter of it is about what else a fit keeps.
const (
	Reading  = 50
	headroom = 3 << 20
)

// Collect sets that part; GOGC of the environment overrides it.
func Collect(getenv func(string) string, percent int) {
	if getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}

// A Command is fit of a program.
type Command struct {
	Request Request
	Rows    Rows
	Server  *Remote // nil for a program that asks none
	// of the system
	Now    func() time.Time
	Getenv func(string) string

	out      string
	report   string
	progress string
	sign     string
	budget   budget.Flags
}

// Rows say where the rows of a fit lie, and who reads them there.
type Rows interface {
	// Register adds flags to the command's.
	Register(flags *pflag.FlagSet)
	// Open returns room for a table, and fills into the request what reads it. Nothing is spent if
	// it fails. The room is left once the fit is over.
	Open(r *gauze.Request) (room kernel.Room, leave func() error, err error)
	// Reader opens an input in this process.
	Reader(input string, stdin io.Reader, d source.Dialect) (source.Reader, error)
	// Read opens an input, as gauze.Open does, for that room.
	Read(ctx context.Context, input string, stdin io.Reader, schema *source.Schema) (*gauze.Input, error)
}

// Entry returns the command: fit, or describe if a profile is requested.
func (c *Command) Entry() shell.Command {
	name, short := "fit", "learn privately, write a release"
	if c.Request.Profile {
		name, short = "describe", "table one: what every column says by itself, privately"
	}
	return shell.Command{
		Use: name + " INPUT --epsilon E --delta D [flags]", Short: short,
		Least: 1, Most: 1, Flags: c.Register, Spends: true,
		Run: func(e *shell.Env, args []string) error { return c.run(e, args[0]) },
	}
}

// Register adds the command's flags.
func (c *Command) Register(flags *pflag.FlagSet) {
	c.Request.Register(flags)
	flags.StringVar(&c.out, "out", "", "file for the release (default stdout)")
	flags.StringVar(&c.report, "report", "", "file for a report of the release as HTML, or of why there is none")
	flags.StringVar(&c.sign, "sign", "", "private key of ssh-keygen, or the public one of a key that the ssh-agent holds: signs the release, in a file beside --out")
	flags.StringVar(&c.progress, "progress", "auto", "auto, plain (a line for each step) or none")
	shell.Values(flags, "progress", "auto", "plain", "none")
	c.Rows.Register(flags)
	c.budget.Register(flags)
	if c.Server != nil {
		c.Server.Register(flags, c.Getenv("GAUZE_TOKEN"), &c.Request)
	}
}

// run reads the input and fits it. Everything that can be refused is refused before the first row
// is measured.
func (c *Command) run(e *shell.Env, input string) error {
	request, err := c.Request.Parse()
	if err != nil {
		return err
	}
	if request.Method == gauze.MethodProfile && !c.Request.Profile {
		return shell.Wrong("--method", "a method that fits a model", fmt.Sprintf("%q", request.Method), "gauze describe measures a profile, with the same flags but those of a model")
	}
	told := shell.NewProgress(e.Stderr, c.progress, e.JSON)
	if told == nil {
		return shell.Wrong("--progress", "auto, plain or none", fmt.Sprintf("%q", c.progress), "auto is the default")
	}
	if err := c.checkOutputs(input); err != nil {
		return err
	}
	sign, err := c.signer(input)
	if err != nil {
		return err
	}
	var result *gauze.Result
	if c.Server != nil && c.Server.URL != "" {
		result, err = c.Server.Fit(e.Ctx, input)
	} else {
		result, err = c.counted(e, input, request, told)
	}
	if errors.As(err, new(*gauze.RunError)) || err == nil && result.NoRelease != nil {
		e.SetAside(c.out)
		e.SetAside(SignatureOf(c.out))
	}
	if err != nil {
		return err
	}
	e.Spent = result.Spent
	if result.NoRelease != nil {
		return c.writeReason(e, result)
	}
	return c.write(e, result, sign)
}

// counted reserves the cost of a fit, fits, and says how it ended. Nothing that is read may be a
// file of the ledger.
func (c *Command) counted(e *shell.Env, input string, request gauze.Request, told *shell.Progress) (*gauze.Result, error) {
	if err := ledger.Apart(c.budget.Files(), append(inputs.Opened(input), c.Request.schema)); err != nil {
		return nil, err
	}
	schema, err := c.declared(request)
	if err != nil {
		return nil, err
	}
	if len(schema.Columns) == 0 && !schema.Infer {
		return nil, c.undeclared(e, input, schema)
	}
	c.budget.Reader = c.Rows.Reader
	counted, err := c.budget.Begin(e.Ctx, request, schema, input, c.Now, e.Note)
	if err != nil {
		return nil, err
	}
	result, err := c.fit(e, input, request, schema, told, counted)
	kept := counted.End(e.Ctx, result, err)
	var run *gauze.RunError
	switch {
	case kept == nil:
	case errors.As(err, &run):
		err = &shell.CountedError{Run: &gauze.RunError{Err: run.Err, Spent: *kept}}
	default: // no release
		result.Spent = *kept
	}
	return result, err
}

// undeclared returns the error of a fit whose columns are not declared: with the flag to type
// instead. Nothing is reserved.
func (c *Command) undeclared(e *shell.Env, input string, schema *source.Schema) error {
	_, err := shell.Interruptible(e.Ctx, func() (*source.Table, error) {
		rows, err := c.Rows.Reader(input, e.Stdin, schema.CSV)
		if err != nil {
			return nil, err
		}
		return source.Of(rows, schema)
	})
	return Finished(e, err)
}

// Finished adds to an error of a table without declared columns, a *source.Undeclared, the command
// that declares them. Other errors stay as they are.
func Finished(e *shell.Env, err error) error {
	var fault *source.Undeclared
	if !errors.As(err, &fault) {
		return err
	}
	texts := ""
	for _, c := range fault.LeftOut {
		e.Note("left out %q: %s\n", c.Name, c.Why)
		if strings.HasPrefix(c.Why, "text: ") && c.Name != fault.Unit && texts == "" {
			name := source.ColumnList([]string{c.Name})
			texts = fmt.Sprintf("\nA column of texts can be fitted as categories: name it as %s, or as %s to have frequent texts found\n", words.Quoted(name+":category(a,b)"), words.Quoted(name+":category(find)"))
		}
	}
	hold, more := "these columns hold numbers", []string{"--columns", source.ColumnList(fault.Columns)}
	if fault.Unread {
		hold = "plan reads no row: take out those of these columns that hold text"
	}
	if fault.CSV != "" {
		more = append(more, "--csv", fault.CSV)
	}
	if fault.Unit != "" {
		hold += fmt.Sprintf(", and %q repeats (--unit none would say that every row is a person of its own)", fault.Unit)
		more = append(more, "--unit", fault.Unit)
	}
	// an error of the input, and no field's: it depends on cells
	return &source.Error{Field: "--columns", Wanted: "the columns to fit, which are public, or --schema", Got: "nothing", Hint: hold + ". To fit them:\n  " + e.Typed(more...) + cmp.Or(texts, "\n") + "or add --infer-schema to let the cells choose the columns; the promise does not cover that choice, and the release says so"}
}

// fit reads the rows and fits them.
func (c *Command) fit(e *shell.Env, input string, r gauze.Request, schema *source.Schema, told *shell.Progress, counted *budget.Fit) (result *gauze.Result, err error) {
	room, leave, err := c.Rows.Open(&r)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err := leave(); err != nil {
			e.Note("warning: temporary files of rows could not be removed: %v\n", err)
		}
	}()
	table, groups, request, err := c.load(e, input, r, schema, room, told)
	if err != nil {
		return nil, err
	}
	request.Observe, request.Day, request.Reserve = told.Step, c.Now(), counted.Reserve(e.Ctx)
	if groups != nil {
		result, err = gauze.FitGroups(e.Ctx, *groups, request)
	} else {
		result, err = gauze.Fit(e.Ctx, table, request)
	}
	told.End()
	return result, err
}

// load reads the rows into a protected table, or one for each group, and fills the columns into the
// request.
func (c *Command) load(e *shell.Env, input string, r gauze.Request, schema *source.Schema, room kernel.Room, p *shell.Progress) (*kernel.Table, *gauze.Groups, gauze.Request, error) {
	type loaded struct {
		in     *gauze.Input
		table  *kernel.Table
		groups *gauze.Groups
	}
	got, err := shell.Interruptible(e.Ctx, func() (loaded, error) {
		in, err := c.Rows.Read(e.Ctx, input, e.Stdin, schema)
		if err != nil {
			return loaded{}, err
		}
		defer in.Close()
		in.Keep(room)
		got, read := loaded{in: in}, func(rows int) { p.Read(rows, in.Fraction()) }
		if len(schema.By) > 0 {
			got.groups, err = in.LoadGroups(read)
		} else {
			got.table, err = in.Load(r.Relation, read)
		}
		return got, err
	})
	p.End()
	if err != nil {
		return nil, nil, r, err
	}
	e.Note("%s", got.in.Report().Text())
	r = got.in.Fill(r)
	Collect(c.Getenv, 100*headroom/(8/4*got.in.Report().Rows*len(r.Columns)+headroom/8))
	err = c.Request.ForColumns(&r)
	return got.table, got.groups, r, err
}

// checkOutputs checks what a fit writes, none in the place of what it reads or of each other.
func (c *Command) checkOutputs(input string) error {
	reads, force := c.reads(input), c.Request.force
	return errors.Join(shell.Output{Flag: "--out", Path: c.out, Reads: reads, Force: force}.Check(),
		shell.Output{Flag: "--report", Path: c.report, Reads: append(reads, c.out), Force: force}.Check())
}

// reads returns the files that a fit reads or keeps its account in.
func (c *Command) reads(input string) []string {
	return slices.Concat(inputs.Files(input), c.budget.Files(), []string{c.Request.schema, c.Request.knownCovariance, c.sign})
}

// declared returns the schema that the flags declare. It finds without reading rows that the
// request does not fit it.
func (c *Command) declared(r gauze.Request) (*source.Schema, error) {
	schema, err := c.Request.Declared()
	if err == nil && c.budget.Dataset != "" {
		schema.Dataset = c.budget.Dataset
	}
	if err != nil || len(schema.Columns) == 0 {
		return schema, shell.Declared(err)
	}
	r.Columns = schema.Columns
	return schema, shell.Declared(errors.Join(c.Request.ForColumns(&r), r.Validate()))
}

// writeReason writes the page of a fit without a release, if a report is asked for, and returns the
// outcome. A page that cannot be written does not hide it.
func (c *Command) writeReason(e *shell.Env, result *gauze.Result) error {
	none := &shell.NoRelease{Why: result.NoRelease, Spent: result.Spent}
	if c.report == "" {
		return none
	}
	page := report.NoRelease{Reason: none.Why.Reason, Advice: none.Why.Advice, Certificate: result.Certificate}
	if err := release.WriteWhole(c.report, func(w io.Writer) error { return report.HTMLNoRelease(w, page, report.Options{}) }); err != nil {
		e.Note("warning: the report was not written: %v\n", err)
	}
	return none
}

// write writes the release, then the report. A release that was paid for is not lost to a full
// disk: it goes to stdout then.
func (c *Command) write(e *shell.Env, result *gauze.Result, sign func(*release.Release) error) error {
	r := result.Release
	var err error
	if c.out != "" {
		err = release.WriteFile(c.out, r)
		if err != nil && release.Write(e.Stdout, r) == nil {
			err = fmt.Errorf("%w; the release is on stdout", err)
		}
	} else {
		err = release.Write(e.Stdout, r)
	}
	if err == nil && sign != nil {
		if err = sign(r); err != nil {
			err = fmt.Errorf("the release is written, but not signed: %w", err)
		}
	}
	if err == nil && c.report != "" {
		err = c.writeReport(r)
	}
	if err != nil {
		return &gauze.RunError{Err: err, Spent: result.Spent}
	}
	if c.Request.Profile && c.out != "" {
		if err := report.Text(e.Stdout, r); err != nil {
			return &gauze.RunError{Err: err, Spent: result.Spent}
		}
	}
	for _, line := range Notes(r) {
		e.Note("%s\n", line)
	}
	e.Released(Summary(r), result.Spent)
	return nil
}

// writeReport says where the release is, should only its report be lost.
func (c *Command) writeReport(r *release.Release) error {
	err := release.WriteWhole(c.report, func(w io.Writer) error { return report.HTML(w, r, report.Options{}) })
	if err == nil {
		return nil
	}
	where := "on stdout"
	if c.out != "" {
		where = "in " + c.out
	}
	return fmt.Errorf("%w; the release is %s, and gauze report can make the page of it", err, where)
}
