// Command separated measures how methods of gauze fit learn mixtures of separated Gaussians: how
// many rows they need, how far from the truth they end, and what scales, outliers, tails and
// unequal weights do to them. The experiments follow Sections D and F of the restatement of
// [KSSU19], on random mixtures that internal/problems draws.
//
//	go run ./experiments/separated -run d1                       # writes docs/experiments/separated/d1.md
//	go run ./experiments/separated -run d1 -resume               # goes on after an interruption
//	go run ./experiments/separated -run d1 -cells 5/3/C6sph -n 3000 -repeats 20 -methods general -v
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
	"github.com/gauze-dp/gauze/internal/problems"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// options are the command line.
type options struct {
	budget     privacy.Budget
	relation   privacy.Relation
	methods    []string
	cells      []string // patterns; none for all
	rows       []int    // instead of the numbers of rows of the experiment
	repeats    int
	seed       uint64
	most       int // components where their number is not given
	workers    int
	tvRows     int
	quick      bool
	verbose    bool
	resume     bool
	out        string
	nonPrivate bool
	placement  problems.Placement
	stdout     io.Writer
}

func main() {
	o, runs, err := parse()
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
func parse() (o options, runs []experiment, err error) {
	o.relation, o.stdout = privacy.ReplaceOne, os.Stdout
	f := flag.NewFlagSet("separated", flag.ContinueOnError)
	f.Float64Var(&o.budget.Epsilon, "epsilon", 1, "epsilon")
	f.Float64Var(&o.budget.Delta, "delta", 1e-6, "delta")
	f.IntVar(&o.repeats, "repeats", 0, "runs of each cell, 0 for the experiment's own number")
	f.Uint64Var(&o.seed, "seed", 1, "seed of the first run's mixture and rows; noise has no seed")
	f.IntVar(&o.most, "max-components", 12, "largest number of components where their number is not given")
	f.IntVar(&o.workers, "workers", runtime.GOMAXPROCS(0), "runs at a time")
	f.IntVar(&o.tvRows, "tv-rows", 1000, "rows of the Monte-Carlo estimate of a component's total variation, 0 for none")
	f.BoolVar(&o.quick, "quick", false, "try the tabulated number of rows and one step beside it only")
	f.BoolVar(&o.verbose, "v", false, "print every run")
	f.BoolVar(&o.resume, "resume", false, "go on with the results in the output folder")
	f.BoolVar(&o.nonPrivate, "reference", false, "measure the non-private reference with every run")
	f.StringVar(&o.out, "out", "", "folder for results (default docs/experiments/separated for whole experiments, none for parts)")
	names := f.String("run", "", "experiments, with commas between them: "+strings.Join(experimentNames(), ", ")+", or all")
	methods := f.String("methods", "", "methods of gauze fit, with commas (default separated if there is one, and general)")
	cells := f.String("cells", "", "cells to run, as patterns with commas, like 5/3/C6sph or 5/*/C6*")
	rows := f.String("n", "", "numbers of rows, with commas, instead of the experiment's own")
	relation := f.String("relation", o.relation.String(), "neighbouring relation")
	placement := f.String("placement", problems.Placements[0], "how means are drawn before they are scaled: "+strings.Join(problems.Placements, ", "))
	if err := f.Parse(os.Args[1:]); err != nil {
		return o, nil, err
	}
	if o.relation, err = privacy.ParseRelation(*relation); err != nil {
		return o, nil, err
	}
	o.placement = problems.Placement(slices.Index(problems.Placements, *placement))
	if o.placement < 0 {
		return o, nil, fmt.Errorf("-placement: wanted one of %s, got %q", strings.Join(problems.Placements, ", "), *placement)
	}
	if o.methods, err = chooseMethods(split(*methods)); err != nil {
		return o, nil, err
	}
	o.cells = split(*cells)
	for _, text := range split(*rows) {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return o, nil, fmt.Errorf("-n: wanted numbers of rows, got %q", text)
		}
		o.rows = append(o.rows, n)
	}
	slices.Sort(o.rows)
	whole := o.cells == nil && o.rows == nil && o.repeats == 0 && !o.quick
	if o.out == "" && whole {
		o.out = filepath.Join("docs", "experiments", "separated")
	}
	runs, err = chooseExperiments(split(*names))
	return o, runs, err
}

func split(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

// chooseMethods checks names, or returns the default ones.
func chooseMethods(names []string) ([]string, error) {
	if names == nil {
		if slices.Contains(gauze.Methods().Names(), practical) {
			names = append(names, practical)
		}
		return append(names, "general"), nil
	}
	for _, name := range names {
		if _, _, err := gauze.Methods().Choose(name, estimate.Problem{}); err != nil {
			return nil, err
		}
	}
	return names, nil
}

func chooseExperiments(names []string) ([]experiment, error) {
	if names == nil {
		return nil, fmt.Errorf("-run: wanted one or more of %s, or all", strings.Join(experimentNames(), ", "))
	}
	if slices.Equal(names, []string{"all"}) {
		return experiments, nil
	}
	var out []experiment
	for _, name := range names {
		i := slices.IndexFunc(experiments, func(e experiment) bool { return e.name == name })
		if i < 0 {
			return nil, fmt.Errorf("-run: wanted one or more of %s, got %q", strings.Join(experimentNames(), ", "), name)
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
