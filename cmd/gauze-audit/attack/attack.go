// Package attack is the command line of gauze-audit.
package attack

import (
	"embed"
	"errors"
	"fmt"

	"github.com/gauze-dp/gauze/audit"
	"github.com/gauze-dp/gauze/cmd/gauze/fit"
	"github.com/gauze-dp/gauze/cmd/gauze/shell"
)

// attack is what runs an audit; a test plants a fault in what it is asked.
var attack = audit.Run

// Program returns the command line. It calls itself gauze, as who reads its errors typed.
func Program() *shell.Program {
	return &shell.Program{
		Name: "gauze", Short: "attacks on the methods of gauze", Help: embed.FS{},
		Commands: []shell.Command{fit.AuditCommand(run), shell.Version()},
	}
}

func run(e *shell.Env, o *fit.AuditOptions) error {
	request, err := o.Request.Parse()
	if err != nil {
		return err
	}
	for _, name := range fit.AuditOfRows {
		if o.Request.Given(name) {
			return shell.Wrong("--"+name, "nothing of a table", "it", "an audit makes its own tables: --rows and --dim say how large")
		}
	}
	if o.Runs < 1 || o.Columns < 1 || o.Categories < 0 {
		return shell.Wrong("--runs, --dim, --categories", "positive numbers", fmt.Sprintf("%d, %d and %d", o.Runs, o.Columns, o.Categories), "for instance --runs 5000 --dim 1")
	}
	r := audit.Request{Fit: request, Rows: o.Rows, Columns: o.Columns, Categories: o.Categories, Find: o.Find, Runs: o.Runs}
	if shell.IsTerminal(e.Stderr) && !e.JSON {
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
