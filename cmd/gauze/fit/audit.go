package fit

import (
	"github.com/spf13/pflag"

	"github.com/gauze-dp/gauze/cmd/gauze/shell"
)

// AuditRuns is audit.DefaultRuns, which a test compares.
const AuditRuns = 5000

// AuditOptions are the flags of an audit.
type AuditOptions struct {
	Request                         Request
	Rows, Columns, Categories, Runs int
	Find                            bool
}

// AuditOfRows are the flags of fit that speak of a table, which an audit makes up.
var AuditOfRows = []string{"columns", "schema", "infer-schema", "unit", "by", "known-covariance"}

// AuditCommand returns `gauze audit` without the attack, which run carries out. What replaces noise
// is linked into the program gauze-audit alone, so that no fit of gauze and no server can reach it.
func AuditCommand(run func(*shell.Env, *AuditOptions) error) shell.Command {
	o := &AuditOptions{}
	return shell.Command{
		Use: "audit --method M --epsilon E --delta D [flags]", Short: "attack a method: a lower bound on the epsilon that it really has",
		Flags: o.register, Run: func(e *shell.Env, _ []string) error { return run(e, o) },
	}
}

func (o *AuditOptions) register(flags *pflag.FlagSet) {
	o.Request.Register(flags)
	for _, name := range AuditOfRows {
		flags.Lookup(name).Hidden = true
	}
	flags.IntVar(&o.Rows, "rows", 0, "rows of the made-up tables (default: the fewest at which the attack sees most of what is spent)")
	flags.IntVar(&o.Columns, "dim", 1, "columns of numbers of the made-up tables")
	flags.IntVar(&o.Categories, "categories", 0, "columns of categories beside them, of two values each")
	flags.BoolVar(&o.Find, "find", false, "have the fit find the values of these columns, which are then replayed only")
	flags.IntVar(&o.Runs, "runs", AuditRuns, "fits that are attacked, of each pair of tables")
}
