package main

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/gauze-dp/gauze/audit"
	"github.com/gauze-dp/gauze/cmd/gauze/fit"
	"github.com/gauze-dp/gauze/cmd/gauze/progress"
	"github.com/gauze-dp/gauze/cmd/gauze/shell"
)

// attack is what runs an audit; a test plants a fault in what it is asked.
var attack = audit.Run

type auditOptions struct {
	request         fit.Request
	rows, dim, runs int
}

func auditCommand() shell.Command {
	o := &auditOptions{}
	return shell.Command{
		Use: "audit --method M --epsilon E --delta D [flags]", Short: "attack a method: a lower bound on the epsilon that it really has",
		Flags: o.register, Run: func(e *shell.Env, _ []string) error { return o.run(e) },
	}
}

// ofRows are the flags of fit that speak of a table, which an audit makes up.
var ofRows = []string{"columns", "schema", "unit", "by", "known-covariance"}

func (o *auditOptions) register(flags *pflag.FlagSet) {
	o.request.Register(flags)
	for _, name := range ofRows {
		flags.Lookup(name).Hidden = true
	}
	flags.IntVar(&o.rows, "rows", 0, "rows of the made-up tables (default: the fewest at which the attack sees most of what is spent)")
	flags.IntVar(&o.dim, "dim", 1, "columns of the made-up tables")
	flags.IntVar(&o.runs, "runs", audit.DefaultRuns, "fits that are attacked, of each pair of tables")
}

func (o *auditOptions) run(e *shell.Env) error {
	request, err := o.request.Parse()
	if err != nil {
		return err
	}
	for _, name := range ofRows {
		if o.request.Given(name) {
			return shell.Wrong("--"+name, "nothing of a table", "it", "an audit makes its own tables: --rows and --dim say how large")
		}
	}
	if o.runs < 1 || o.dim < 1 {
		return shell.Wrong("--runs, --dim", "positive numbers", fmt.Sprintf("%d and %d", o.runs, o.dim), "for instance --runs 5000 --dim 1")
	}
	r := audit.Request{Fit: request, Rows: o.rows, Columns: o.dim, Runs: o.runs}
	if progress.IsTerminal(e.Stderr) && !e.JSON {
		r.Progress = func(done, of int) { fmt.Fprintf(e.Stderr, "\r%d of %d fits attacked ", done, of) }
	}
	report, err := attack(e.Ctx, r)
	if err != nil {
		return err
	}
	if e.JSON {
		err = e.Print(report)
	} else {
		_, err = fmt.Fprint(e.Stdout, report)
	}
	if err == nil && !report.Passed() {
		err = errors.New(report.Verdict())
	}
	return err
}
