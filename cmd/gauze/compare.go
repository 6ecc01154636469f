package main

import (
	"errors"

	"github.com/spf13/pflag"

	"github.com/gauze-dp/gauze/cmd/gauze/shell"
	"github.com/gauze-dp/gauze/model"
)

// defaultCompareRows gives tv a standard error of at most 0.0016.
const defaultCompareRows = 100_000

func compareCommand() shell.Command {
	f := &rowsFlags{}
	register := func(flags *pflag.FlagSet) {
		f.set = flags
		flags.IntVar(&f.rows, "rows", defaultCompareRows, "rows to estimate distances from")
		flags.Uint64Var(&f.seed, "seed", 0, "seed of the estimate (default: none)")
		f.registerBackground(flags)
	}
	return shell.Command{
		Use: "compare A B [--rows N]", Short: "distances between two models, as JSON",
		Least: 2, Most: 2, Flags: register,
		Run: func(e *shell.Env, args []string) error { return compare(e, args[0], args[1], f) },
	}
}

func compare(e *shell.Env, pathA, pathB string, f *rowsFlags) error {
	if pathA == shell.StdinName && pathB == shell.StdinName {
		return shell.Wrong("compare", "at most one model on stdin", "both", "write one of them to a file")
	}
	a, errA := f.read(e, pathA)
	b, errB := f.read(e, pathB)
	if errA != nil && pathA == pathB { // once is enough
		errB = nil
	}
	if err := errors.Join(errA, errB); err != nil {
		return err
	}
	c, err := model.Compare(e.Ctx, a.Model, b.Model, f.rows, f.rng())
	if err != nil {
		return err
	}
	return e.Print(c)
}
