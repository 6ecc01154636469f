// Package server attacks `gauze serve`: what it lets in, what an analyst who measures everything
// learns of a row, what is left after it was killed, and what it bears. Each page is of a server
// process of its own, which is asked over HTTP and of which nothing else is known.
package server

import (
	"context"

	"github.com/gauze-dp/gauze/experiments/engine"
)

// Study is the study.
var Study = &engine.Report{Name: "server", About: "attacks on gauze serve: security, neighbouring tables, kills, load", Seed: 22, Tasks: []engine.Task{
	attack("security", "What the server lets in", 1, security),
	attack("neighbours", "What an analyst who measures everything learns of a row", 40, neighbours),
	attack("chaos", "What is left after the server was killed", 100, chaos),
	attack("load", "What the server bears", 1, load),
}}

// attack returns a task with a server of its own.
func attack(name, title string, usual int, make func(ctx context.Context, f *field, p *engine.Page, runs int) error) engine.Task {
	return engine.Task{Name: name, Title: title, Runs: usual, Make: func(ctx context.Context, o engine.Options, p *engine.Page) error {
		f, err := newField(ctx, o.Seed)
		if err != nil {
			return err
		}
		defer f.close()
		if err := make(ctx, f, p, o.Runs); err != nil {
			return err
		}
		p.Text("The machine's load of one minute was " + busy() + " at the end, on two cores.")
		return nil
	}}
}
