package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/spf13/pflag"
)

// rowsFlags are --rows and --seed.
type rowsFlags struct {
	set  *pflag.FlagSet
	rows int
	seed uint64
}

func (f *rowsFlags) register(flags *pflag.FlagSet, seedHelp string) {
	f.set = flags
	flags.IntVar(&f.rows, "rows", 0, "number of rows (required)")
	flags.Uint64Var(&f.seed, "seed", 0, seedHelp)
}

func (f *rowsFlags) check() error {
	switch {
	case !f.set.Changed("rows"):
		return &usageError{"--rows: wanted a number of rows, got nothing", "for instance --rows 1000"}
	case f.rows < 0:
		return &usageError{fmt.Sprintf("--rows: wanted a number that is not negative, got %d", f.rows), "for instance --rows 1000"}
	}
	return nil
}

func (f *rowsFlags) rng() *rand.Rand {
	if f.set.Changed("seed") {
		return seeded(f.seed)
	}
	return unseeded()
}

func sampleCommand() command {
	f := &rowsFlags{}
	return command{
		use: "sample RELEASE --rows N [--seed S]", short: "draw synthetic rows from a release, as CSV",
		least: 1, most: 1, flags: func(flags *pflag.FlagSet) { f.register(flags, "seed, to draw the same rows again (default: none)") },
		run: func(e *env, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			m, err := readModel(e, args[0])
			if err != nil {
				return err
			}
			return writeRows(e, m, f.rows, f.rng())
		},
	}
}
