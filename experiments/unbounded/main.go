// Command unbounded measures how methods of gauze fit learn mixtures of unbounded Gaussians, of one
// column, of axis-aligned components and of general ones: how many rows they need, how far from the
// truth they end, and what scales, overlap, nesting, weights and the number of components do to
// them. The experiments follow Sections 7 and 7.2 of the restatement of [AAL21] and [AMN24], on
// random mixtures that internal/problems draws; a run has a mixture of its own.
//
//	go run ./experiments/unbounded                                   # the named cells, each by the practical method for it, printed
//	go run ./experiments/unbounded -method univariate -cells k=3     # cells whose name has that in it
//	go run ./experiments/unbounded -cells U5,F2 -n 2000,4000 -runs 40 printed
//	go run ./experiments/unbounded -out docs/experiments/unbounded all
//
// Seeds are fresh unless -seed is given; the page says which they were.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
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
	methods  []string // instead of the cells' own
	cells    []string // parts of names; none for all
	rows     []int    // instead of the cells' own numbers of rows
	runs     int
	seed     uint64
	workers  int
	tvRows   int
	verbose  bool
	resume   bool
	out      string
	stdout   io.Writer
}

func main() {
	o, chosen, err := parse(os.Args[1:])
	if err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		err = run(ctx, o, chosen)
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
func parse(args []string) (o options, chosen []experiment, err error) {
	o.relation, o.stdout = privacy.ReplaceOne, os.Stdout
	f := flag.NewFlagSet("unbounded", flag.ContinueOnError)
	f.Usage = func() {
		fmt.Fprintf(f.Output(), "usage: unbounded [flags] [experiment..], experiments being %s, or all; default named\n", strings.Join(experimentNames(), ", "))
		f.PrintDefaults()
	}
	f.Float64Var(&o.budget.Epsilon, "eps", 1, "epsilon, where the cell does not say")
	f.Float64Var(&o.budget.Delta, "delta", 1e-6, "delta")
	f.IntVar(&o.runs, "runs", 0, "runs of each cell, 0 for the experiment's own number")
	f.Uint64Var(&o.seed, "seed", 0, "seed of the first run's mixture and rows, 0 for a fresh one; noise has no seed")
	f.IntVar(&o.workers, "workers", runtime.GOMAXPROCS(0), "runs at a time")
	f.IntVar(&o.tvRows, "tv-rows", 20_000, "rows of the Monte-Carlo total variation, in several columns")
	f.BoolVar(&o.verbose, "v", false, "print every run")
	f.BoolVar(&o.resume, "resume", false, "go on with the results in the output folder; needs the -seed of those")
	f.StringVar(&o.out, "out", "", "folder for pages and results; none: print only")
	methods := f.String("method", "", "methods of gauze fit, with commas, instead of the cells' own; cells that they cannot fit are left out")
	cells := f.String("cells", "", "parts of names of cells, with commas: those that have one of them are run")
	rows := f.String("n", "", "numbers of rows, with commas, instead of the cells' own")
	relation := f.String("relation", o.relation.String(), "neighbouring relation")
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
	if o.seed == 0 {
		o.seed = uint64(time.Now().UnixMicro())
	}
	chosen, err = chooseExperiments(f.Args())
	return o, chosen, err
}

func split(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

func chooseExperiments(names []string) ([]experiment, error) {
	if len(names) == 0 {
		names = []string{experiments[0].name}
	}
	if slices.Equal(names, []string{"all"}) {
		return experiments, nil
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

// run makes the experiments one after another; one that fails does not keep the others from being
// made.
func run(ctx context.Context, o options, chosen []experiment) error {
	progress := harness.NewProgress(os.Stderr, time.Now, o.verbose)
	var faults []error
	for _, e := range chosen {
		if err := e.run(ctx, o, progress); err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", e.name, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(faults...)
}
