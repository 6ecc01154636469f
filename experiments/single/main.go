// Command single measures how methods of gauze fit learn one distribution: how far from the truth
// they end beside what the rows allow without privacy, how many rows they need, and what condition
// numbers, tails, exact rank, atoms and stray rows do to them. The experiments follow the
// restatement [TYLERPRESS], on random distributions that harness/problem draws.
//
//	go run ./experiments/single kappa                  # writes docs/experiments/single/kappa.md
//	go run ./experiments/single -resume all            # all of them; goes on after an interruption
//	go run ./experiments/single -quick                 # a minute of everything, printed and not written
//	go run ./experiments/single -cells '10/*' -n 3000 -repeats 20 -v smallest
//
// A part of an experiment (-cells, -n, -repeats, -quick) is printed and not written, unless -out
// says where.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/experiments/harness"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// options are the command line.
type options struct {
	budget   privacy.Budget
	relation privacy.Relation
	methods  []string // instead of the experiment's own
	cells    []string // patterns; none for all
	rows     []int    // instead of the numbers of rows of the experiment
	repeats  int
	seed     uint64
	workers  int
	quick    bool
	verbose  bool
	resume   bool
	out      string
	stdout   io.Writer
}

func main() {
	o, runs, err := parse(os.Args[1:])
	if err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		err = run(ctx, o, runs)
	}
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// parse reads the command line.
func parse(args []string) (o options, runs []experiment, err error) {
	o.relation, o.stdout = privacy.ReplaceOne, os.Stdout
	f := flag.NewFlagSet("single", flag.ContinueOnError)
	f.Usage = func() {
		fmt.Fprintf(f.Output(), "usage: single [flags] experiment.., experiments being %s, or all\n", strings.Join(experimentNames(), ", "))
		f.PrintDefaults()
	}
	f.Float64Var(&o.budget.Epsilon, "epsilon", 1, "epsilon, where the experiment does not say")
	f.Float64Var(&o.budget.Delta, "delta", 1e-6, "delta, where the experiment does not say")
	f.IntVar(&o.repeats, "repeats", 0, "runs of each cell, 0 for the experiment's own number")
	f.Uint64Var(&o.seed, "seed", 1, "seed of the first run's distribution and rows; noise has no seed")
	f.IntVar(&o.workers, "workers", runtime.GOMAXPROCS(0), "runs at a time")
	f.BoolVar(&o.quick, "quick", false, "two runs of a few small cells of each experiment")
	f.BoolVar(&o.verbose, "v", false, "print every run")
	f.BoolVar(&o.resume, "resume", false, "go on with the results in the output folder")
	f.StringVar(&o.out, "out", "", "folder for results (default docs/experiments/single for whole experiments, none for parts)")
	methods := f.String("methods", "", "methods of gauze fit, with commas, instead of the experiment's own")
	cells := f.String("cells", "", "cells to run, as patterns with commas, like 5/1e+08 or '10/*'")
	rows := f.String("n", "", "numbers of rows, with commas, instead of the experiment's own")
	relation := f.String("relation", o.relation.String(), "neighbouring relation, where the experiment does not say")
	if err := f.Parse(args); err != nil {
		return o, nil, err
	}
	if o.relation, err = privacy.ParseRelation(*relation); err != nil {
		return o, nil, err
	}
	o.methods, o.cells = split(*methods), split(*cells)
	for _, name := range o.methods {
		if _, _, err := gauze.Methods().Choose(name, estimate.Problem{}); err != nil {
			return o, nil, err
		}
	}
	for _, text := range split(*rows) {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return o, nil, fmt.Errorf("-n: wanted numbers of rows, got %q", text)
		}
		o.rows = append(o.rows, n)
	}
	slices.Sort(o.rows)
	whole := o.cells == nil && o.rows == nil && o.methods == nil && o.repeats == 0 && !o.quick
	if o.out == "" && whole {
		o.out = filepath.Join("docs", "experiments", "single")
	}
	names := f.Args()
	if len(names) == 0 && o.quick {
		names = []string{"all"}
	}
	runs, err = chooseExperiments(names)
	return o, runs, err
}

func split(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

func chooseExperiments(names []string) ([]experiment, error) {
	if slices.Equal(names, []string{"all"}) {
		return experiments, nil
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("wanted one or more experiments of %s, or all", strings.Join(experimentNames(), ", "))
	}
	var out []experiment
	for _, name := range names {
		i := slices.IndexFunc(experiments, func(e experiment) bool { return e.name == name })
		if i < 0 {
			return nil, fmt.Errorf("experiment: wanted one of %s, or all, got %q", strings.Join(experimentNames(), ", "), name)
		}
		out = append(out, experiments[i])
	}
	return out, nil
}

func experimentNames() []string {
	var names []string
	for _, e := range experiments {
		names = append(names, e.name)
	}
	return names
}

// run makes the experiments one after another.
func run(ctx context.Context, o options, runs []experiment) error {
	progress := harness.NewProgress(os.Stderr, time.Now, o.verbose)
	for _, e := range runs {
		if err := e.run(ctx, o, progress); err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
	}
	return nil
}
