// Gauze-beam fits tables whose rows are read by workers that Apache Beam starts: Prism in this
// process, or a runner that Beam's own flags name.
//
//	gauze-beam fit 'visits/*.csv' --epsilon 1 --delta 1e-8 --columns age,bmi --shards /scratch
//
// It is `gauze fit` but for where rows lie and who reads them, and a program of its own, so that
// gauze stays small. What Beam is told, docs/BEAM.md says.
package main

import (
	"embed"
	"os"
	"time"

	"github.com/gauze-dp/gauze/cmd/gauze/fit"
	"github.com/gauze-dp/gauze/cmd/gauze/shell"
)

func main() {
	if code, ok := asWorker(os.Args[1:]); ok {
		os.Exit(code)
	}
	fit.Collect(os.Getenv, fit.Reading)
	ctx := shell.Begin()
	os.Exit(program(&workers{schedule: scheduler}).Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

//go:embed help
var help embed.FS

func program(w *workers) *shell.Program {
	command := fit.Command{Rows: w, Now: time.Now, Getenv: os.Getenv}
	return &shell.Program{
		Name: "gauze-beam", Short: "gauze fit, by workers that Apache Beam starts", Help: help,
		Commands: []shell.Command{command.Entry(), new(pool).entry(), shell.Version()},
	}
}
