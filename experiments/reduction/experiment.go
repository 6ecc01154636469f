package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/gauze-dp/gauze/experiments/harness"
)

// An experiment is a grid of cells, each run several times.
type experiment struct {
	name  string
	title string
	about string // what is run and what is to be seen
	cells func() []cell
	// search looks for the smallest sufficient number of rows, from the cell's first one; otherwise
	// all of the cell's are run.
	search bool
	// open runs the learners alone on all rows, without privacy.
	open bool
	runs int
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

// A line is a cell run by a method with a learner.
type line struct {
	cell
	method, learner string
	*harness.Series
}

// label names method and learner.
func (l line) label() string {
	switch {
	case l.learner == "":
		return l.method
	case l.method == "":
		return l.learner
	}
	return l.method + ", " + l.learner
}

// linesOf are those of a cell.
func (e experiment) linesOf(o options, c cell) (out []line) {
	add := func(method, learner string) {
		l := line{cell: c, method: method, learner: learner}
		l.Series = &harness.Series{Try: c.rows, Repeats: c.runs, Trial: func(n int, seed uint64) harness.Trial { return e.trial(o, l, n, seed) }}
		if o.runs > 0 {
			l.Series.Repeats = o.runs
		}
		out = append(out, l)
	}
	methods := first(o.methods, c.methods, []string{blackBox})
	if e.open {
		methods = []string{""}
	}
	for _, method := range methods {
		if !e.open && !runsLearner(method) {
			add(method, "")
			continue
		}
		for _, name := range first(o.learners, c.learners, []string{byEM}) {
			if c.trim == 0 || name == byEM { // the others leave nothing out
				add(method, name)
			}
		}
	}
	return out
}

// first is the first list that is set.
func first(lists ...[]string) []string {
	for _, l := range lists {
		if l != nil {
			return l
		}
	}
	return nil
}

// run makes the experiment and writes what came out.
func (e experiment) run(ctx context.Context, o options, progress *harness.Progress) error {
	got := &results{experiment: e, options: o}
	cells := o.custom
	if cells == nil {
		cells = e.cells()
	}
	for _, c := range cells {
		if !c.matches(o.cells) {
			continue
		}
		if o.rows != nil {
			c.rows = o.rows
		}
		if o.trim >= 0 {
			c.trim = o.trim
		}
		got.lines = append(got.lines, e.linesOf(o, c)...)
	}
	if len(got.lines) == 0 && len(cells) > 0 {
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
	if o.out != "" && len(got.lines) > 0 {
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
	if e.search && o.rows == nil {
		sweep.Grid, sweep.Most = grid, farthest
	}
	defer progress.End()
	return sweep.Run(ctx, runner, o.workers, all, progress)
}

// grid are the numbers of rows of searches: steps of 2^(1/2), rounded to three digits.
var grid = []int{500, 707, 1000, 1410, 2000, 2830, 4000, 5660, 8000, 11_300, 16_000, 22_600, 32_000, 45_300, 64_000, 90_500, 128_000, 181_000, 256_000, 362_000,
	512_000, 724_000, 1_020_000, 1_450_000, 2_050_000, 2_900_000, 4_100_000, 5_800_000, 8_200_000}

// farthest is how far a search goes from its start, in steps of the grid: a factor of 4.
const farthest = 4
