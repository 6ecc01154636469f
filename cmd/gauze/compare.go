package main

import (
	"encoding/json"
	"errors"

	"github.com/spf13/pflag"

	"github.com/gauze-dp/gauze/model"
)

const compareUsage = `Measure the distances between two models, as JSON on stdout.

  gauze compare A B [--rows N]

A and B are releases or bare models; one of them may be - for stdin. Columns are matched by name. tv, hellinger and the two kl are
estimated from N rows drawn from the two models, where they have no closed form (one Gaussian each has one for all but tv); tv_stderr is
the standard error of tv. An infinite distance is null. Components are matched so that the largest distance of a pair is least.

  gauze compare release.json truth.json
  gauze compare release.json truth.json --rows 1000000 --seed 1`

// defaultCompareRows gives tv a standard error of at most 0.0016.
const defaultCompareRows = 100_000

func compareCommand() command {
	f := &rowsFlags{}
	register := func(flags *pflag.FlagSet) {
		f.set = flags
		flags.IntVar(&f.rows, "rows", defaultCompareRows, "rows to estimate distances from")
		flags.Uint64Var(&f.seed, "seed", 0, "seed of the estimate (default: none)")
	}
	return command{
		use: "compare A B [--rows N]", short: "distances between two models, as JSON", long: compareUsage,
		least: 2, most: 2, flags: register,
		run: func(e *env, args []string) error { return compare(e, args[0], args[1], f) },
	}
}

func compare(e *env, pathA, pathB string, f *rowsFlags) error {
	if pathA == stdinName && pathB == stdinName {
		return &usageError{"compare: wanted at most one model on stdin, got both", "write one of them to a file"}
	}
	a, errA := readModel(e, pathA)
	b, errB := readModel(e, pathB)
	if err := errors.Join(errA, errB); err != nil {
		return err
	}
	c, err := model.Compare(e.ctx, a, b, f.rows, f.rng())
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
