package main

import (
	"time"

	"github.com/gauze-dp/gauze/cmd/gauze/budget"
	"github.com/gauze-dp/gauze/cmd/gauze/shell"
)

func ledgerCommand() shell.Command {
	c := &budget.Command{}
	return shell.Command{
		Use: "ledger init|grant|withdraw|show|fits|verify --ledger FILE|postgres://.. [flags]", Short: "budgets of data sets", Least: 1, Most: 1, Flags: c.Register,
		Words: [][]string{{"init", "grant", "withdraw", "show", "fits", "verify"}},
		Run:   func(e *shell.Env, args []string) error { return c.Run(e.Ctx, args[0], e.Stdout, e.JSON, time.Now) },
	}
}
