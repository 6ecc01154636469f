// Command expected measures the errors that `gauze plan` expects of the methods for one
// distribution, and writes them into the table that is embedded in estimate/expected.
//
//	go run ./experiments/expected                       # all methods: some 25 minutes of CPU time
//	go run ./experiments/expected -resume               # goes on after an interruption
//	go run ./experiments/expected -methods gaussian     # one method: its lines are replaced, the others stay
//	go run ./experiments/expected -runs 3 -out /dev/stdout
//
// Every run is a line of docs/experiments/expected/results/METHOD.jsonl, which is not part of the
// repository.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gauze-dp/gauze/estimate/expected"
	"github.com/gauze-dp/gauze/experiments/harness"
)

// options are the command line.
type options struct {
	methods      []entry
	columns      int // the most; 0 for all
	runs         int // of each setting; 0 for the grid's own
	seed         uint64
	workers      int
	resume       bool
	out, results string
}

func main() {
	o, err := parse(os.Args[1:])
	if err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		err = run(ctx, o)
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
func parse(args []string) (o options, err error) {
	var known []string
	for _, e := range entries {
		known = append(known, e.method)
	}
	f := flag.NewFlagSet("expected", flag.ContinueOnError)
	methods := f.String("methods", strings.Join(known, ","), "methods to measure, with commas")
	f.IntVar(&o.columns, "columns", 0, "largest number of columns, 0 for all")
	f.IntVar(&o.runs, "runs", 0, "runs of each setting, 0 for the grid's own number")
	f.Uint64Var(&o.seed, "seed", 1, "seed of the first run's distribution and rows; noise has no seed")
	f.IntVar(&o.workers, "workers", runtime.GOMAXPROCS(0), "runs at a time")
	f.BoolVar(&o.resume, "resume", false, "go on with the results that there are")
	f.StringVar(&o.out, "out", filepath.Join("estimate", "expected", "measured.csv"), "the table; lines of other methods stay")
	f.StringVar(&o.results, "results", filepath.Join("docs", "experiments", "expected", "results"), "folder for the results of runs")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	for _, name := range strings.Split(*methods, ",") {
		i := slices.Index(known, name)
		if i < 0 {
			return o, fmt.Errorf("-methods: wanted some of %s, got %q", strings.Join(known, ", "), name)
		}
		o.methods = append(o.methods, entries[i])
	}
	return o, nil
}

// run measures the methods one after another; what is done is in the table when a later one is
// interrupted.
func run(ctx context.Context, o options) error {
	progress := &harness.Progress{Out: os.Stderr, Now: time.Now, Every: 20 * time.Second}
	for _, e := range o.methods {
		points, err := e.measure(ctx, o, progress)
		if err != nil {
			return fmt.Errorf("%s: %w", e.method, err)
		}
		if err := replace(o.out, e.method, points); err != nil {
			return err
		}
	}
	return nil
}

// replace writes a table in which the lines of a method are replaced. The methods are in the order
// of entries.
func replace(name, method string, points []expected.Point) error {
	text, err := os.ReadFile(name)
	switch {
	case errors.Is(err, os.ErrNotExist) || err == nil && len(text) == 0:
	case err != nil:
		return err
	default:
		old, err := expected.Parse(string(text))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		points = append(slices.DeleteFunc(old.Points(), func(p expected.Point) bool { return p.Method == method }), points...)
	}
	place := func(p expected.Point) int {
		return slices.IndexFunc(entries, func(e entry) bool { return e.method == p.Method })
	}
	slices.SortStableFunc(points, func(a, b expected.Point) int { return place(a) - place(b) })
	return os.WriteFile(name, []byte(expected.Format(points)), 0o666)
}
