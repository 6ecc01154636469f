package main

import "github.com/spf13/pflag"

func simulateCommand() command {
	f := &rowsFlags{}
	return command{
		use: "simulate MODEL --rows N --seed S", short: "draw test rows from a public model, as CSV",
		least: 1, most: 1, flags: func(flags *pflag.FlagSet) { f.register(flags, "seed (required)") },
		run: func(e *env, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			if !f.set.Changed("seed") {
				return wrong("--seed", "a whole number", "nothing", "a simulation is there to be repeated: --seed 1")
			}
			r, err := readRelease(e, args[0])
			if err != nil {
				return err
			}
			return writeRows(e, []drawn{{model: r.Model}}, nil, f.rows, f.rng())
		},
	}
}
