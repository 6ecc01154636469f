package main

import (
	"encoding/json"
	"errors"

	"github.com/spf13/pflag"

	"github.com/gauze-dp/gauze/model"
)

// defaultCompareRows gives tv a standard error of at most 0.0016.
const defaultCompareRows = 100_000

func compareCommand() command {
	f := &rowsFlags{}
	register := func(flags *pflag.FlagSet) {
		f.set = flags
		flags.IntVar(&f.rows, "rows", defaultCompareRows, "rows to estimate distances from")
		flags.Uint64Var(&f.seed, "seed", 0, "seed of the estimate (default: none)")
		f.registerBackground(flags)
	}
	return command{
		use: "compare A B [--rows N]", short: "distances between two models, as JSON",
		least: 2, most: 2, flags: register,
		run: func(e *env, args []string) error { return compare(e, args[0], args[1], f) },
	}
}

func compare(e *env, pathA, pathB string, f *rowsFlags) error {
	if pathA == stdinName && pathB == stdinName {
		return wrong("compare", "at most one model on stdin", "both", "write one of them to a file")
	}
	a, errA := f.read(e, pathA)
	b, errB := f.read(e, pathB)
	if err := errors.Join(errA, errB); err != nil {
		return err
	}
	c, err := model.Compare(e.ctx, a.Model, b.Model, f.rows, f.rng())
	if err != nil {
		return err
	}
	return printJSON(e, c)
}

// printJSON writes an answer to stdout.
func printJSON(e *env, v any) error {
	encoder := json.NewEncoder(e.stdout)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}
