package budget

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
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
	rows           int
	force, dryRun  bool
	head           string
}

// Register adds the command's flags.
func (c *Command) Register(flags *pflag.FlagSet) {
	c.set = flags
	c.flags.Register(flags)
	flags.Float64Var(&c.epsilon, "epsilon", 0, "of grant: epsilon to add (required); of withdraw: epsilon to take back (default: all that is unspent)")
	flags.Float64Var(&c.delta, "delta", 0, "of grant: delta to add (required); of withdraw: delta to take back (default: none, unless nothing is spent)")
	flags.IntVar(&c.rows, "rows", 0, "of grant: number of rows, where it is public: the total delta has to be below one over it")
	flags.BoolVar(&c.force, "force", false, "of grant: allow a total epsilon above 20, or a total delta of one over the rows or more")
	flags.BoolVar(&c.dryRun, "dry-run", false, "of grant and withdraw: show the account as it would be, and write nothing")
	flags.StringVar(&c.head, "head", "", "of verify: ENTRIES:HASH, as verify printed them at another time")
}

// Run does what the first word says.
func (c *Command) Run(ctx context.Context, action string, out io.Writer, asJSON bool, now func() time.Time) error {
	actions := map[string]func(context.Context, *ledger.Ledger, io.Writer, bool) error{"show": c.show, "grant": c.grant, "withdraw": c.withdraw, "fits": c.fits, "verify": c.verify}
	run, known := actions[action]
	if c.flags.Ledger == "" {
		return &privacy.FieldError{Field: "--ledger", Wanted: "a file or postgres://..", Got: "nothing", Fix: "for instance --ledger budgets.db"}
	}
	if action == "init" {
		return c.init(ctx, out, asJSON)
	}
	if !known {
		return &privacy.FieldError{Field: "ledger", Wanted: "init, grant, withdraw, show, fits or verify", Got: strconv.Quote(action), Fix: "gauze ledger --help says what each does"}
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
		return &privacy.FieldError{Field: "grant", Wanted: "--dataset, --epsilon and --delta", Got: "not all of them", Fix: "for instance --dataset visits-2026 --epsilon 3 --delta 1e-5"}
	}
	return c.change(ctx, l, out, asJSON, func(w *ledger.Tx) (ledger.Balance, error) {
		b, err := w.Grant(c.flags.Dataset, ledger.Amount{Epsilon: c.epsilon, Delta: c.delta})
		if err == nil && !c.force {
			err = b.Granted.Reasonable(c.rows)
		}
		return b, err
	})
}

func (c *Command) withdraw(ctx context.Context, l *ledger.Ledger, out io.Writer, asJSON bool) error {
	if c.flags.Dataset == "" {
		return &privacy.FieldError{Field: "withdraw", Wanted: "--dataset", Got: "nothing", Fix: "for instance --dataset visits-2026: all that is unspent, or so much of it as --epsilon says"}
	}
	if c.set.Changed("epsilon") && !(c.epsilon > 0) || c.set.Changed("delta") && !(c.delta > 0) {
		return &privacy.FieldError{Field: "withdraw", Wanted: "what is taken back, above 0", Got: fmt.Sprintf("%v and %v", c.epsilon, c.delta), Fix: "leave both out for all that is unspent"}
	}
	return c.change(ctx, l, out, asJSON, func(w *ledger.Tx) (ledger.Balance, error) {
		_, b, err := w.Withdraw(c.flags.Dataset, ledger.Amount{Epsilon: c.epsilon, Delta: c.delta})
		var refused *ledger.RefusedError
		if errors.As(err, &refused) { // a mistake of the command, as no fit was refused
			err = &privacy.FieldError{Field: "withdraw", Wanted: "what is unspent", Got: refused.Why, Fix: "gauze ledger show says what is spent"}
		}
		return b, err
	})
}

// errDryRun takes back what was only to be shown.
var errDryRun = errors.New("nothing is written")

// change changes what is granted, and prints the account after it.
func (c *Command) change(ctx context.Context, l *ledger.Ledger, out io.Writer, asJSON bool, how func(*ledger.Tx) (ledger.Balance, error)) error {
	var b ledger.Balance
	err := l.Write(ctx, func(w *ledger.Tx) (err error) {
		if b, err = how(w); err == nil && c.dryRun {
			err = errDryRun
		}
		return err
	})
	if err != nil && !errors.Is(err, errDryRun) {
		return err
	}
	if err != nil && !asJSON {
		fmt.Fprintln(out, "this is how it would be; nothing was written (--dry-run)")
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

// fits prints what was asked of the fits that were charged, and how they ended.
func (c *Command) fits(ctx context.Context, l *ledger.Ledger, out io.Writer, asJSON bool) error {
	all, err := l.Fits(ctx, c.flags.Dataset)
	if err != nil {
		return err
	}
	for i := range all {
		all[i].Method = cmp.Or(all[i].Method, "auto")
	}
	if asJSON {
		return write(out, map[string]any{"fits": all})
	}
	if len(all) == 0 {
		_, err := fmt.Fprintln(out, "no fit was charged yet")
		return err
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "fit\tdata set\twhen\tasked\tmethod\toutcome")
	for _, f := range all {
		asked := amount(ledger.Amount{Epsilon: f.Epsilon, Delta: f.Delta})
		if f.Rho > 0 {
			asked = fmt.Sprintf("rho = %.4g", f.Rho)
		}
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\t%s\n", f.Number, f.Dataset, f.Time, asked, f.Method, f.Outcome)
	}
	return t.Flush()
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
	spent := false
	for _, b := range all {
		spent = spent || b.Fits > 0
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
	if err := t.Flush(); err != nil || !spent {
		return err
	}
	_, err := fmt.Fprintln(out, ledger.WhyNotAdd)
	return err
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
			return &privacy.FieldError{Field: "--head", Wanted: "ENTRIES:HASH", Got: strconv.Quote(c.head), Fix: "gauze ledger verify prints it"}
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
	_, err = fmt.Fprintf(out, "intact: every entry is there and as it was written. Keep this line: --head detects a restored old copy:\n%d:%s\n",
		head.Entries, head.Hash)
	return err
}

func write(out io.Writer, v any) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}
