package main

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/gauze-dp/gauze/audit"
	"github.com/gauze-dp/gauze/cmd/gauze/progress"
)

// attack is what runs an audit; a test plants a fault in what it is asked.
var attack = audit.Run

type auditOptions struct {
	request         requestFlags
	rows, dim, runs int
}

func auditCommand() command {
	o := &auditOptions{}
	return command{
		use: "audit --method M --epsilon E --delta D [flags]", short: "attack a method: a lower bound on the epsilon that it really has",
		flags: o.register, run: func(e *env, _ []string) error { return o.run(e) },
	}
}

// ofRows are the flags of fit that speak of a table, which an audit makes up.
var ofRows = []string{"columns", "schema", "unit", "by", "known-covariance"}

func (o *auditOptions) register(flags *pflag.FlagSet) {
	o.request.register(flags)
	for _, name := range ofRows {
		flags.Lookup(name).Hidden = true
	}
	flags.IntVar(&o.rows, "rows", 0, "rows of the made-up tables (default: the fewest at which the attack sees most of what is spent)")
	flags.IntVar(&o.dim, "dim", 1, "columns of the made-up tables")
	flags.IntVar(&o.runs, "runs", audit.DefaultRuns, "fits that are attacked, of each pair of tables")
}

func (o *auditOptions) run(e *env) error {
	request, err := o.request.parse()
	if err != nil {
		return err
	}
	for _, name := range ofRows {
		if o.request.set.Changed(name) {
			return wrong("--"+name, "nothing of a table", "it", "an audit makes its own tables: --rows and --dim say how large")
		}
	}
	if o.runs < 1 || o.dim < 1 {
		return wrong("--runs, --dim", "positive numbers", fmt.Sprintf("%d and %d", o.runs, o.dim), "for instance --runs 5000 --dim 1")
	}
	r := audit.Request{Fit: request, Rows: o.rows, Columns: o.dim, Runs: o.runs}
	if progress.IsTerminal(e.stderr) && !e.json {
		r.Progress = func(done, of int) { fmt.Fprintf(e.stderr, "\r%d of %d fits attacked ", done, of) }
	}
	report, err := attack(e.ctx, r)
	if err != nil {
		return err
	}
	if e.json {
		err = printJSON(e, report)
	} else {
		_, err = fmt.Fprint(e.stdout, report)
	}
	if err == nil && !report.Passed() {
		err = errors.New(report.Verdict())
	}
	return err
}
