// Package auditing is `gauze audit` without the attack: its flags, and the start of the program
// gauze-audit, which runs it. What replaces noise is linked into that program alone, so that no fit
// of gauze and no server can reach it.
package auditing

import (
	"github.com/spf13/pflag"

	"github.com/gauze-dp/gauze/cmd/gauze/fit"
	"github.com/gauze-dp/gauze/cmd/gauze/shell"
)

// DefaultRuns is audit.DefaultRuns, which a test compares.
const DefaultRuns = 5000

// Options are the flags of an audit.
type Options struct {
	Request             fit.Request
	Rows, Columns, Runs int
}

// OfRows are the flags of fit that speak of a table, which an audit makes up.
var OfRows = []string{"columns", "schema", "infer-schema", "unit", "by", "known-covariance"}

// Command returns the subcommand, which run carries out.
func Command(run func(*shell.Env, *Options) error) shell.Command {
	o := &Options{}
	return shell.Command{
		Use: "audit --method M --epsilon E --delta D [flags]", Short: "attack a method: a lower bound on the epsilon that it really has",
		Flags: o.register, Run: func(e *shell.Env, _ []string) error { return run(e, o) },
	}
}

func (o *Options) register(flags *pflag.FlagSet) {
	o.Request.Register(flags)
	for _, name := range OfRows {
		flags.Lookup(name).Hidden = true
	}
	flags.IntVar(&o.Rows, "rows", 0, "rows of the made-up tables (default: the fewest at which the attack sees most of what is spent)")
	flags.IntVar(&o.Columns, "dim", 1, "columns of the made-up tables")
	flags.IntVar(&o.Runs, "runs", DefaultRuns, "fits that are attacked, of each pair of tables")
}
