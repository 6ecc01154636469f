package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"github.com/gauze-dp/gauze/experiments/harness"
	"github.com/gauze-dp/gauze/experiments/harness/problem"
)

// An experiment is a grid of cells, each run several times with every method.
type experiment struct {
	name  string
	title string
	about string // what is run and what counts as success
	cells func() []cell
	// search looks for the smallest sufficient number of rows, from the cell's first one; otherwise all of the cell's are run.
	search    bool
	repeats   int
	reference bool // measures the non-private reference too
	// methods, if set, replaces the methods asked for.
	methods func(asked []string) ([]string, string)
	success func(problem.Score, cell) bool
	// summary, if set, writes what there is to say before the table of all cells.
	summary func(*page, *results)
}

// passRate is the part of the runs that must succeed at a sufficient number of rows.
const passRate = .9

// A series is all runs of a cell by one method.
type series struct {
	cell   cell
	method string
	runs   map[int][]harness.Result // by number of rows
	least  int                      // smallest number of rows that passed; 0 if none did
}

// rows are the numbers of rows that were run, rising.
func (s *series) rows() []int {
	var out []int
	for n := range s.runs {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

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
	var store *harness.Store
	if o.out != "" {
		var err error
		if store, err = harness.OpenStore(filepath.Join(o.out, "results", e.name+".jsonl"), o.resume); err != nil {
			return err
		}
		defer store.Close()
	}
	runner := harness.NewRunner(o.workers, store)
	var mu sync.Mutex
	runner.Each = func(r harness.Result, fromFile bool) {
		mu.Lock()
		defer mu.Unlock()
		if o.verbose {
			printRun(o.stdout, r)
		}
		progress.Run(r, fromFile)
	}
	for _, c := range got.cells {
		got.series[c.name] = map[string]*series{}
		for _, m := range got.methods {
			got.series[c.name][m] = &series{cell: c, method: m, runs: map[int][]harness.Result{}}
		}
	}
	progress.Cells(len(got.cells) * len(got.methods))
	defer progress.End()
	return e.measureAll(ctx, o, got, runner, progress)
}

// measureAll measures all series; the first fault ends them all.
func (e experiment) measureAll(ctx context.Context, o options, got *results, runner *harness.Runner, progress *harness.Progress) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// One series more than workers keeps them busy while a series waits for its last run.
	var wg sync.WaitGroup
	slots := make(chan struct{}, o.workers+1)
	for _, c := range got.cells {
		for _, m := range got.methods {
			slots <- struct{}{}
			wg.Go(func() {
				defer func() { <-slots }()
				if ctx.Err() != nil {
					return
				}
				if err := e.measureSeries(ctx, o, got.of(c, m), runner); err != nil {
					cancel(err)
				}
				progress.Cell()
			})
		}
	}
	wg.Wait()
	return context.Cause(ctx)
}

// measureSeries searches, or runs every number of rows.
func (e experiment) measureSeries(ctx context.Context, o options, s *series, runner *harness.Runner) error {
	repeats := e.repeats
	if o.repeats > 0 {
		repeats = o.repeats
	}
	allowed := int(float64(repeats)*(1-passRate) + 1e-9)
	try := func(n, stopAfter int) (bool, error) {
		var trials []harness.Trial
		for i := range repeats {
			trials = append(trials, e.trial(o, s.cell, s.method, n, o.seed+uint64(i)))
		}
		got, err := runner.Run(ctx, trials, stopAfter)
		if err != nil {
			return false, err
		}
		s.runs[n] = got
		return len(got)-harness.Count(got) <= allowed, nil
	}
	if e.search && o.rows == nil {
		most := 0
		if o.quick {
			most = 1
		}
		var err error
		s.least, _, err = harness.Smallest(harness.Grid, s.cell.rows[0], most, func(n int) (bool, error) { return try(n, allowed) })
		return err
	}
	for _, n := range s.cell.rows {
		pass, err := try(n, -1)
		if err != nil {
			return err
		}
		if pass && s.least == 0 {
			s.least = n
		}
	}
	return nil
}
