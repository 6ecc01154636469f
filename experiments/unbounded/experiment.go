package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/gauze-dp/gauze/experiments/harness"
)

// An experiment is a grid of cells, each run several times, by the practical method for it or by
// others.
type experiment struct {
	name  string
	title string
	about string // what is run and what is to be seen
	cells func() []cell
	// search looks for the smallest sufficient number of rows, from the cell's first one; otherwise
	// all of the cell's are run.
	search bool
	beside bool // measures the distance from the fit without privacy too
	runs   int
	// summary, if set, writes what there is to say before the table of all cells.
	summary func(*page, *results)
}

// passRate is the part of the runs that must succeed at a sufficient number of rows.
const passRate = .9

// results are all series of an experiment.
type results struct {
	experiment experiment
	options    options
	lines      []line
}

// A line is a cell run by a method.
type line struct {
	cell
	method string
	*harness.Series
}

// run makes the experiment and writes what came out.
func (e experiment) run(ctx context.Context, o options, progress *harness.Progress) error {
	got := &results{experiment: e, options: o}
	for _, c := range e.cells() {
		if !c.matches(o.cells) {
			continue
		}
		if o.rows != nil {
			c.rows = o.rows
		}
		for _, m := range c.methods(o.methods) {
			got.lines = append(got.lines, line{c, m, &harness.Series{Try: c.rows,
				Trial: func(n int, seed uint64) harness.Trial { return e.trial(o, c, m, n, seed) }}})
		}
	}
	if len(got.lines) == 0 {
		if len(o.cells)+len(o.methods) > 0 {
			return nil // another experiment may have them
		}
		return fmt.Errorf("no cells")
	}
	if err := e.measure(ctx, o, got, progress); err != nil {
		return err
	}
	if err := got.write(); err != nil {
		return err
	}
	return got.faults()
}

// faults is the first error of a fit, if there is one.
func (r *results) faults() error {
	for _, l := range r.lines {
		for _, n := range l.Rows() {
			for _, run := range l.Runs[n] {
				if strings.HasPrefix(run.Why, fault) {
					return fmt.Errorf("%s %s n=%d seed=%d: %s", run.Cell, run.Method, n, run.Seed, run.Why)
				}
			}
		}
	}
	return nil
}

// measure runs all lines, as many at a time as there are workers: the runner shares them out.
func (e experiment) measure(ctx context.Context, o options, got *results, progress *harness.Progress) error {
	file := ""
	if o.out != "" {
		file = filepath.Join(o.out, "results", e.name+".jsonl")
	}
	runner, err := harness.OpenRunner(o.workers, file, o.resume, func(r harness.Result, fromFile bool) {
		if o.verbose {
			printRun(o.stdout, r)
		}
		progress.Run(r, fromFile)
	})
	if err != nil {
		return err
	}
	defer runner.Close()
	var all []*harness.Series
	for _, l := range got.lines {
		all = append(all, l.Series)
	}
	sweep := harness.Sweep{Repeats: e.runs, Seed: o.seed, PassRate: passRate}
	if o.runs > 0 {
		sweep.Repeats = o.runs
	}
	if e.search && o.rows == nil {
		sweep.Grid, sweep.Most = fineGrid, farthest
	}
	defer progress.End()
	return sweep.Run(ctx, runner, o.workers, all, progress)
}

// farthest is how far a search goes from its start, in steps of the grid: a factor of 16.
const farthest = 16

// fineGrid are the numbers of rows of searches: steps of 2^(1/4), rounded to three digits.
var fineGrid = []int{
	100, 119, 141, 168, 200, 238, 283, 336, 400, 476, 566, 673, 800, 951, 1130, 1350, 1600, 1900, 2260, 2690, 3200, 3810, 4530, 5380, 6400, 7610,
	9050, 10_800, 12_800, 15_200, 18_100, 21_500, 25_600, 30_400, 36_200, 43_100, 51_200, 60_900, 72_400, 86_100, 102_000,
}
