package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/pflag"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/cmd/gauze/budget"
	"github.com/gauze-dp/gauze/cmd/gauze/progress"
	"github.com/gauze-dp/gauze/cmd/gauze/remote"
	"github.com/gauze-dp/gauze/cmd/gauze/summary"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/parallel"
	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/report"
	"github.com/gauze-dp/gauze/source"
	"github.com/gauze-dp/gauze/source/inputs"
	"github.com/gauze-dp/gauze/source/shards"
)

type fitOptions struct {
	request  requestFlags
	out      string
	report   string
	progress string
	sign     string
	memory   string
	shards   string
	budget   budget.Flags
	server   remote.Flags
}

func fitCommand() command {
	o := &fitOptions{}
	return command{
		use: "fit INPUT --epsilon E --delta D [flags]", short: "learn privately, write a release",
		least: 1, most: 1, flags: o.register, spends: true,
		run: func(e *env, args []string) error { return o.run(e, args[0]) },
	}
}

func (o *fitOptions) register(flags *pflag.FlagSet) {
	o.request.register(flags)
	flags.StringVar(&o.out, "out", "", "file for the release (default stdout)")
	flags.StringVar(&o.report, "report", "", "file for a report of the release as HTML, or of why there is none")
	flags.StringVar(&o.sign, "sign", "", "private key of ssh-keygen, or the public one of a key that the ssh-agent holds: signs the release, in a file beside --out")
	flags.StringVar(&o.progress, "progress", "auto", "auto, plain (a line for each step) or none")
	flags.StringVar(&o.memory, "memory", "", "how much of the table may lie in memory, such as 2GiB (default half of the machine's); the rest lies in --shards")
	flags.StringVar(&o.shards, "shards", "", "folder for what of the table exceeds memory (default that of temporary files)")
	o.budget.Register(flags)
	o.server.Register(flags, os.Getenv("GAUZE_TOKEN"))
}

// run reads the input and fits it. Everything that can be refused is refused before the first row
// is measured.
func (o *fitOptions) run(e *env, input string) error {
	request, err := o.request.parse()
	if err != nil {
		return err
	}
	told := progress.New(e.stderr, o.progress, e.json)
	if told == nil {
		return wrong("--progress", "auto, plain or none", fmt.Sprintf("%q", o.progress), "auto is the default")
	}
	if err := o.checkOutputs(input); err != nil {
		return err
	}
	sign, err := o.signer()
	if err != nil {
		return err
	}
	var result *gauze.Result
	if o.server.URL != "" {
		result, err = o.server.Fit(e.ctx, input)
	} else {
		result, err = o.counted(e, input, request, told)
	}
	if errors.As(err, new(*gauze.RunError)) || err == nil && result.NoRelease != nil {
		setAside(e, o.out)
		setAside(e, signatureOf(o.out))
	}
	if err != nil {
		return err
	}
	e.spent = result.Spent
	if result.NoRelease != nil {
		return o.writeReason(e, result)
	}
	return o.write(e, result, sign)
}

// counted reserves the cost of a fit, fits, and says how it ended.
func (o *fitOptions) counted(e *env, input string, request gauze.Request, told *progress.Progress) (*gauze.Result, error) {
	schema, err := o.declared(request)
	if err != nil {
		return nil, err
	}
	counted, err := o.budget.Begin(e.ctx, request, schema, input, time.Now, e.note)
	if err != nil {
		return nil, err
	}
	result, err := o.fit(e, input, request, schema, told, counted)
	counted.End(e.ctx, result, err)
	return result, err
}

// fit reads the rows and fits them.
func (o *fitOptions) fit(e *env, input string, r gauze.Request, schema *source.Schema, told *progress.Progress, counted *budget.Fit) (result *gauze.Result, err error) {
	table, groups, request, err := o.load(e, input, r, schema, told)
	if err != nil {
		return nil, err
	}
	request.Observe, request.Day, request.Reserve = told.Step, time.Now(), counted.Reserve(e.ctx)
	if groups != nil {
		result, err = gauze.FitGroups(e.ctx, *groups, request)
	} else {
		result, err = gauze.Fit(e.ctx, table, request)
	}
	told.End()
	return result, err
}

// writeReason writes the page of a fit without a release, if a report is asked for, and returns the
// outcome. A page that cannot be written does not hide it.
func (o *fitOptions) writeReason(e *env, result *gauze.Result) error {
	none := &noRelease{why: result.NoRelease, spent: result.Spent}
	if o.report == "" {
		return none
	}
	page := report.NoRelease{Reason: none.why.Reason, Advice: none.why.Advice, Certificate: result.Certificate}
	if err := release.WriteWhole(o.report, func(w io.Writer) error { return report.HTMLNoRelease(w, page, report.Options{}) }); err != nil {
		e.note("warning: the report was not written: %v\n", err)
	}
	return none
}

// checkOutputs checks what a fit writes, none in the place of what it reads or of each other.
func (o *fitOptions) checkOutputs(input string) error {
	reads := append(inputs.Files(input), o.request.schema, o.request.knownCovariance)
	return errors.Join(output{"--out", o.out, reads, o.request.force}.check(), output{"--report", o.report, append(reads, o.out), o.request.force}.check())
}

// declared is the schema that the flags declare. Rows need not be read to find that the request
// does not go with it.
func (o *fitOptions) declared(r gauze.Request) (*source.Schema, error) {
	schema, err := o.request.declared()
	if err == nil && o.budget.Dataset != "" {
		schema.Dataset = o.budget.Dataset
	}
	if err != nil || len(schema.Columns) == 0 {
		return schema, err
	}
	r.Columns = schema.Columns
	return schema, errors.Join(o.request.forColumns(&r), r.Validate())
}

// load reads the rows into a protected table, or one for each group, and fills the columns into the
// request.
func (o *fitOptions) load(e *env, input string, r gauze.Request, schema *source.Schema, p *progress.Progress) (*kernel.Table, *gauze.Groups, gauze.Request, error) {
	type loaded struct {
		in     *gauze.Input
		table  *kernel.Table
		groups *gauze.Groups
	}
	got, err := interruptible(e.ctx, func() (loaded, error) {
		in, err := gauze.Open(input, e.stdin, schema)
		if err != nil {
			return loaded{}, err
		}
		defer in.Close()
		room, err := shards.Open(o.memory, o.shards)
		if err != nil {
			return loaded{}, err
		}
		in.Keep(room) // until the process ends
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
	e.note("%s", got.in.Report().Text())
	r = got.in.Fill(r)
	collectAt(100 * headroom / (8*got.in.Report().Rows*len(r.Columns) + headroom/8))
	err = o.request.forColumns(&r)
	return got.table, got.groups, r, err
}

// write writes the release, then the report. A release that was paid for is not lost to a full
// disk: it goes to stdout then.
func (o *fitOptions) write(e *env, result *gauze.Result, sign func(*release.Release) error) error {
	r := result.Release
	var err error
	if o.out != "" {
		err = release.WriteFile(o.out, r)
		if err != nil && release.Write(e.stdout, r) == nil {
			err = fmt.Errorf("%w; the release is on stdout", err)
		}
	} else {
		err = release.Write(e.stdout, r)
	}
	if err == nil && sign != nil {
		if err = sign(r); err != nil {
			err = fmt.Errorf("the release is written, but not signed: %w", err)
		}
	}
	if err == nil && o.report != "" {
		err = o.writeReport(r)
	}
	if err != nil {
		return &gauze.RunError{Err: err, Spent: result.Spent}
	}
	message := summary.Of(r)
	for _, line := range summary.Notes(r) {
		e.note("%s\n", line)
	}
	if e.json {
		outcome{Outcome: "released", Code: codeOK, Message: message, Spent: result.Spent, Notes: e.notes}.printJSON(e.stderr)
		return nil
	}
	e.note("released: %s\nspent: %s\n", message, spentText(result.Spent))
	return nil
}

// writeReport says where the release is, should only its report be lost.
func (o *fitOptions) writeReport(r *release.Release) error {
	err := writeReport(o.report, r)
	if err == nil {
		return nil
	}
	where := "on stdout"
	if o.out != "" {
		where = "in " + o.out
	}
	return fmt.Errorf("%w; the release is %s, and gauze report can make the page of it", err, where)
}

// interruptible runs f, but returns at once when ctx is done: f may wait for a terminal or a pipe
// that never ends. The program ends then, so that nothing has to be cleaned up behind f.
func interruptible[T any](ctx context.Context, f func() (T, error)) (value T, err error) {
	type answer struct {
		value T
		err   error
	}
	var a answer
	if err := parallel.Await(ctx, func() { a.value, a.err = f() }); err != nil {
		return value, err
	}
	return a.value, a.err
}
