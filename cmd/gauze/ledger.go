package main

import (
	"time"

	"github.com/gauze-dp/gauze/cmd/gauze/budget"
)

func ledgerCommand() command {
	c := &budget.Command{}
	return command{
		use: "ledger init|grant|show|verify --ledger FILE|postgres://.. [flags]", short: "budgets of data sets", least: 1, most: 1, flags: c.Register,
		run: func(e *env, args []string) error { return c.Run(e.ctx, args[0], e.stdout, e.json, time.Now) },
	}
}
