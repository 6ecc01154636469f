package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/spf13/pflag"

	"github.com/gauze-dp/gauze/release"
)

// rowsFlags are --rows, --seed and --no-background.
type rowsFlags struct {
	set  *pflag.FlagSet
	rows int
	seed uint64
	// leave out the background of what is read
	noBackground bool
}

func (f *rowsFlags) registerBackground(flags *pflag.FlagSet) {
	flags.BoolVar(&f.noBackground, "no-background", false, "without the background: the components that stand for rows in no group")
}

// read reads a release, and says what becomes of its background.
func (f *rowsFlags) read(e *env, path string) (*release.Release, error) {
	r, err := readRelease(e, path)
	if err != nil {
		return nil, err
	}
	rest, share := r.Model.WithoutBackground()
	switch {
	case share == 0:
	case f.noBackground:
		r.Model = rest
		e.note("note: the background of %s, %.2g%% of the rows, is left out\n", path, 100*share)
	default:
		e.note("note: %s has a background of %.2g%% of the rows, which is in no group; --no-background leaves it out\n", path, 100*share)
	}
	return r, nil
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
		least: 1, most: 1, flags: func(flags *pflag.FlagSet) {
			f.register(flags, "seed, to draw the same rows again (default: none)")
			f.registerBackground(flags)
		},
		run: func(e *env, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			r, err := f.read(e, args[0])
			if err != nil {
				return err
			}
			return writeRows(e, r.Model, f.rows, f.rng())
		},
	}
}
