package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/gauze-dp/gauze/experiments/harness"
	"github.com/gauze-dp/gauze/internal/problems"
)

// An experiment is a grid of cells, each run several times with every method.
type experiment struct {
	name  string
	title string
	about string // what is run and what counts as success
	cells func() []cell
	// search looks for the smallest sufficient number of rows, from the cell's first one; otherwise
	// all of the cell's are run.
	search    bool
	repeats   int
	reference bool // measures the non-private reference too
	// methods, if set, replaces the methods asked for.
	methods func(asked []string) ([]string, string)
	success func(problems.Score, cell) bool
	// summary, if set, writes what there is to say before the table of all cells.
	summary func(*page, *results)
}

// passRate is the part of the runs that must succeed at a sufficient number of rows.
const passRate = .9

type series = harness.Series

// results are all series of an experiment.
type results struct {
	experiment experiment
	options    options
	methods    []string
	cells      []cell
	series     map[string]map[string]*series // by cell and method
	note       string
}

func (r *results) of(c cell, method string) *series { return r.series[c.name][method] }

// run makes the experiment and writes what came out.
func (e experiment) run(ctx context.Context, o options, progress *harness.Progress) error {
	got := &results{experiment: e, options: o, methods: o.methods, series: map[string]map[string]*series{}}
	if e.methods != nil {
		got.methods, got.note = e.methods(o.methods)
	}
	for _, c := range e.cells() {
		if c.matches(o.cells) {
			if o.rows != nil {
				c.rows = o.rows
			}
			c.spec.Placement = o.placement
			got.cells = append(got.cells, c)
		}
	}
	if len(got.cells) == 0 {
		return fmt.Errorf("-cells: no cell matches; the experiment has cells like %s", e.cells()[0].name)
	}
	if len(got.methods) > 0 {
		if err := e.measure(ctx, o, got, progress); err != nil {
			return err
		}
	}
	return got.write()
}

// measure runs all series, as many at a time as there are workers: the runner shares them out.
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
	var all []*series
	for _, c := range got.cells {
		got.series[c.name] = map[string]*series{}
		for _, m := range got.methods {
			s := &series{Try: c.rows, Trial: func(n int, seed uint64) harness.Trial { return e.trial(o, c, m, n, seed) }}
			got.series[c.name][m] = s
			all = append(all, s)
		}
	}
	defer progress.End()
	return e.sweep(o).Run(ctx, runner, o.workers, all, progress)
}

// sweep searches, or runs every number of rows.
func (e experiment) sweep(o options) harness.Sweep {
	w := harness.Sweep{Repeats: e.repeats, Seed: o.seed, PassRate: passRate}
	if o.repeats > 0 {
		w.Repeats = o.repeats
	}
	if e.search && o.rows == nil {
		w.Grid = harness.Grid
		if o.quick {
			w.Most = 1
		}
	}
	return w
}
