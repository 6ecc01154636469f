package main

import "github.com/spf13/pflag"

const simulateUsage = `Draw rows from a public model, as CSV on stdout: test data, whose truth is known.

  gauze simulate MODEL --rows N --seed S

MODEL is a model object written by hand, a release, or - for either on stdin. The same seed draws the same rows.

  gauze simulate truth.json --rows 20000 --seed 1 > rows.csv

A model of one Gaussian, as a file:

  {"kind": "gaussian-mixture", "columns": ["age", "bmi"], "weights": [1],
   "means": [[40, 25]], "covariances": [[[100, 12], [12, 16]]]}`

func simulateCommand() command {
	f := &rowsFlags{}
	return command{
		use: "simulate MODEL --rows N --seed S", short: "draw test rows from a public model, as CSV", long: simulateUsage,
		least: 1, most: 1, flags: func(flags *pflag.FlagSet) { f.register(flags, "seed (required)") },
		run: func(e *env, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			if !f.set.Changed("seed") {
				return &usageError{"--seed: wanted a whole number, got nothing", "a simulation is there to be repeated: --seed 1"}
			}
			m, err := readModel(e, args[0])
			if err != nil {
				return err
			}
			return writeRows(e, m, f.rows, f.rng())
		},
	}
}
