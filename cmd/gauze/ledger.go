package main

import (
	"time"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/cmd/gauze/budget"
	"github.com/gauze-dp/gauze/source"
)

func ledgerCommand() command {
	c := &budget.Command{}
	return command{
		use: "ledger init|grant|show|verify --ledger FILE|postgres://.. [flags]", short: "budgets of data sets", least: 1, most: 1, flags: c.Register,
		run: func(e *env, args []string) error { return c.Run(e.ctx, args[0], e.stdout, e.json, time.Now) },
	}
}

// reserve takes what the fit can cost from its data set's budget, before a row is read; nil where
// no ledger is named.
func (o *fitOptions) reserve(e *env, input string, r gauze.Request, schema *source.Schema) (*budget.Fit, error) {
	if o.budget.Ledger == "" {
		if o.budget.Dataset != "" || o.budget.Key != "" {
			return nil, &usageError{"--ledger: wanted the ledger that the data set is in, got nothing", "for instance --ledger budgets.db"}
		}
		return nil, nil
	}
	fit, err := o.budget.Begin(e.ctx, r, schema, input, time.Now)
	if err == nil {
		for _, text := range fit.Notes {
			e.note("%s\n", text)
		}
	}
	return fit, err
}

// settle records in the ledger how a fit ended, before anything of it is written.
func settle(e *env, counted *budget.Fit, result *gauze.Result, err error) {
	if counted == nil {
		return
	}
	said := len(counted.Notes)
	if fault := counted.End(e.ctx, result, err, again); fault != nil {
		e.note("warning: the ledger could not be told how the fit ended (%v); what was reserved stays spent\n", fault)
	}
	for _, text := range counted.Notes[said:] {
		e.note("%s\n", text)
	}
}

// How often, and how far apart, something is tried again that a database's restart can spoil.
const (
	tries = 12
	pause = time.Second
)

// again tries f until it succeeds.
func again(f func() error) (err error) {
	for range tries {
		if err = f(); err == nil {
			return nil
		}
		time.Sleep(pause)
	}
	return err
}
