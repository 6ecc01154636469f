package budget

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/pflag"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/ledger"
)

// A Command is `gauze ledger`.
type Command struct {
	flags          Flags
	set            *pflag.FlagSet
	epsilon, delta float64
	head           string
}

// Register adds the command's flags.
func (c *Command) Register(flags *pflag.FlagSet) {
	c.set = flags
	c.flags.Register(flags)
	flags.Float64Var(&c.epsilon, "epsilon", 0, "of grant: epsilon to add (required)")
	flags.Float64Var(&c.delta, "delta", 0, "of grant: delta to add (required)")
	flags.StringVar(&c.head, "head", "", "of verify: ENTRIES:HASH, as verify printed them at another time")
}

// Run does what the first word says.
func (c *Command) Run(ctx context.Context, action string, out io.Writer, asJSON bool, now func() time.Time) error {
	actions := map[string]func(context.Context, *ledger.Ledger, io.Writer, bool) error{"show": c.show, "grant": c.grant, "verify": c.verify}
	run, known := actions[action]
	if c.flags.Ledger == "" {
		return &privacy.FieldError{Field: "--ledger", Wanted: "a file or postgres://..", Got: "nothing", Mend: "for instance --ledger budgets.db"}
	}
	if action == "init" {
		return c.init(ctx, out, asJSON)
	}
	if !known {
		return &privacy.FieldError{Field: "ledger", Wanted: "init, grant, show or verify", Got: strconv.Quote(action), Mend: "gauze ledger --help says what each does"}
	}
	l, err := c.flags.open(ctx, now)
	if err != nil {
		return err
	}
	defer l.Close()
	return run(ctx, l, out, asJSON)
}

func (c *Command) init(ctx context.Context, out io.Writer, asJSON bool) error {
	key, err := c.flags.key()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(key), 0o700); err != nil {
		return err
	}
	if err := ledger.Init(ctx, c.flags.Ledger, key); err != nil {
		return err
	}
	if asJSON {
		return write(out, map[string]any{"made": true, "key": key})
	}
	_, err = fmt.Fprintf(out, "made, with its key in %s: keep a copy of both, apart from each other. gauze ledger grant gives data sets a budget.\n", key)
	return err
}

func (c *Command) grant(ctx context.Context, l *ledger.Ledger, out io.Writer, asJSON bool) error {
	if !c.set.Changed("epsilon") || !c.set.Changed("delta") || c.flags.Dataset == "" {
		return &privacy.FieldError{Field: "grant", Wanted: "--dataset, --epsilon and --delta", Got: "not all of them", Mend: "for instance --dataset visits-2026 --epsilon 3 --delta 1e-5"}
	}
	b, err := l.Grant(ctx, c.flags.Dataset, ledger.Amount{Epsilon: c.epsilon, Delta: c.delta})
	if err != nil {
		return err
	}
	return balances(out, []ledger.Balance{b}, asJSON)
}

func (c *Command) show(ctx context.Context, l *ledger.Ledger, out io.Writer, asJSON bool) error {
	all, err := l.Balances(ctx, c.flags.Dataset)
	if err != nil {
		return err
	}
	return balances(out, all, asJSON)
}

// balances prints accounts, for a program or as a table.
func balances(out io.Writer, all []ledger.Balance, asJSON bool) error {
	if asJSON {
		return write(out, map[string]any{"datasets": all})
	}
	if len(all) == 0 {
		_, err := fmt.Fprintln(out, "no data set has a budget yet; gauze ledger grant gives it one")
		return err
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "data set\tgranted\tspent\tone more fit may ask\treleases\tprotects")
	for _, b := range all {
		protects := "-"
		if b.Relation != "" {
			protects = "rows, " + b.Relation
		}
		if b.Unit != "" {
			protects = fmt.Sprintf("persons (%s), %s", b.Unit, b.Relation)
		}
		releases := strconv.Itoa(b.Releases)
		if b.Open > 0 {
			releases += fmt.Sprintf(" (%d not ended)", b.Open)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", b.Name, amount(b.Granted), amount(b.Spent.Amount), amount(b.Left.Amount), releases, protects)
	}
	return t.Flush()
}

func amount(a ledger.Amount) string {
	if a == (ledger.Amount{}) {
		return "nothing"
	}
	return fmt.Sprintf("(%.4g, %.4g)", a.Epsilon, a.Delta)
}

func (c *Command) verify(ctx context.Context, l *ledger.Ledger, out io.Writer, asJSON bool) error {
	var noted ledger.Head
	if c.head != "" {
		count, hash, _ := strings.Cut(c.head, ":")
		n, err := strconv.ParseInt(count, 10, 64)
		if err != nil || hash == "" {
			return &privacy.FieldError{Field: "--head", Wanted: "ENTRIES:HASH", Got: strconv.Quote(c.head), Mend: "gauze ledger verify prints it"}
		}
		noted = ledger.Head{Entries: n, Hash: hash}
	}
	head, err := l.Verify(ctx, noted)
	if err != nil {
		return err
	}
	if asJSON {
		return write(out, map[string]any{"intact": true, "entries": head.Entries, "hash": head.Hash})
	}
	_, err = fmt.Fprintf(out, "intact: every entry is there and as it was written. Note this elsewhere, and ask for it later with --head, to find out should the whole be put back to an older copy:\n%d:%s\n",
		head.Entries, head.Hash)
	return err
}

func write(out io.Writer, v any) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}
