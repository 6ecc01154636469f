package main

import (
	"github.com/spf13/pflag"

	"github.com/gauze-dp/gauze/cmd/gauze/shell"
	"github.com/gauze-dp/gauze/model/synthetic"
)

func simulateCommand() shell.Command {
	f := &rowsFlags{}
	return shell.Command{
		Use: "simulate MODEL --rows N --seed S", Short: "draw test rows from a public model, as CSV",
		Least: 1, Most: 1, Flags: func(flags *pflag.FlagSet) { f.register(flags, "seed (required)") },
		Run: func(e *shell.Env, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			if !f.set.Changed("seed") {
				return shell.Wrong("--seed", "a whole number", "nothing", "simulate draws the same rows for the same seed: --seed 1")
			}
			r, err := readRelease(e, args[0])
			if err != nil {
				return err
			}
			return writeRows(e, []drawn{{synthetic.Part{Model: r.Model}, nil}}, nil, f.rows, f.rng())
		},
	}
}
