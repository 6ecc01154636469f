package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/experiments/harness"
)

// experiments are all of them, in the order in which help shows them.
var experiments = []experiment{
	kappa, ample, smallest, privacyLevels, coinpressMean, coinpressCovariance, heavy, curves, rank, falseOK, atoms, literal,
}

// An experiment is a grid of cells, each run several times by every contender.
type experiment struct {
	name    string
	title   string
	about   string // what is run and what counts as success
	cells   func() []cell
	repeats int
	// contenders, if not nil, replace practical; those whose method is not in the catalog are left
	// out, and the page says so.
	contenders []contender
	success    func(harness.Values, cell) bool
	// search looks for the smallest sufficient number of rows, from the cell's first one; otherwise
	// all of the cell's are run.
	search bool
	// summary writes what there is to say before the table of all cells.
	summary func(*page, *results)
}

// practical is the method that the experiments are about.
var practical = contender{name: "gaussian", method: "gaussian"}

// passRate is the part of the runs that must succeed at a sufficient number of rows.
const passRate = .85

// grid is where the smallest sufficient number of rows is looked for: steps of 2^(1/4), finer than
// the runs can tell.
var grid = func() []int {
	var out []int
	for n := 50.; n < 2e6; n *= 1.189207115002721 {
		step := 10.
		if n >= 2000 {
			step = 100
		}
		out = append(out, int(step*float64(int(n/step+.5))))
	}
	return out
}()

// results are all series of an experiment.
type results struct {
	experiment experiment
	options    options
	contenders []contender
	cells      []cell
	series     map[string]map[string]*harness.Series // by cell and contender
	missing    []string                              // methods that the catalog does not have
}

// of is a series, or nil if the cell leaves the contender out.
func (r *results) of(c cell, name string) *harness.Series { return r.series[c.name][name] }

// choose lists the contenders whose methods there are.
func (e experiment) choose(o options) (here []contender, missing []string) {
	all := e.contenders
	if all == nil {
		all = []contender{practical}
	}
	if o.methods != nil {
		all = nil
		for _, m := range o.methods {
			all = append(all, contender{name: m, method: m, told: true})
		}
	}
	names := gauze.Methods().Names()
	for _, c := range all {
		if c.estimator != nil || slices.Contains(names, c.method) {
			here = append(here, c)
		} else if !slices.Contains(missing, c.method) {
			missing = append(missing, c.method)
		}
	}
	return here, missing
}

// run makes the experiment and writes what came out.
func (e experiment) run(ctx context.Context, o options, progress *harness.Progress) error {
	got := &results{experiment: e, options: o, series: map[string]map[string]*harness.Series{}}
	got.contenders, got.missing = e.choose(o)
	for _, c := range e.cells() {
		if c.matches(o.cells) {
			if o.rows != nil {
				c.rows = o.rows
			}
			got.cells = append(got.cells, c)
		}
	}
	if len(got.cells) == 0 {
		return fmt.Errorf("-cells: no cell matches; the experiment has cells like %s", e.cells()[0].name)
	}
	if o.quick {
		got.cells = few(got.cells)
	}
	if err := e.measure(ctx, o, got, progress); err != nil {
		return err
	}
	return got.write()
}

// quickCells is how many cells of an experiment a quick run makes, and quickNumbers the largest
// table, in numbers.
const (
	quickCells   = 4
	quickNumbers = 150_000
)

// few picks some small cells, from the first to the last.
func few(cells []cell) []cell {
	var small []cell
	for _, c := range cells {
		c.rows = c.rows[:1]
		if c.rows[0]*c.pop.Columns <= quickNumbers {
			small = append(small, c)
		}
	}
	var out []cell
	for i := range min(quickCells, len(small)) {
		out = append(out, small[i*(len(small)-1)/max(1, min(quickCells, len(small))-1)])
	}
	return out
}

// measure runs all series.
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
	for _, c := range got.cells {
		got.series[c.name] = map[string]*harness.Series{}
		for _, by := range got.contenders {
			if c.only != nil && o.methods == nil && !slices.Contains(c.only, by.name) {
				continue
			}
			s := &harness.Series{Try: c.rows, Trial: func(n int, seed uint64) harness.Trial { return e.trial(o, c, by, n, seed) }}
			if o.repeats == 0 && !o.quick {
				s.Repeats = c.repeats
			}
			got.series[c.name][by.name] = s
			all = append(all, s)
		}
	}
	defer progress.End()
	return e.sweep(o).Run(ctx, runner, o.workers, all, progress)
}

// sweep searches, or runs every number of rows.
func (e experiment) sweep(o options) harness.Sweep {
	w := harness.Sweep{Repeats: e.repeats, Seed: o.seed, PassRate: passRate}
	if o.quick {
		w.Repeats = 2
	}
	if o.repeats > 0 {
		w.Repeats = o.repeats
	}
	if e.search && o.rows == nil {
		w.Grid = grid
		if o.quick {
			w.Most = 1
		}
	}
	return w
}

// note says which methods are left out.
func (r *results) note() string {
	if r.missing == nil {
		return ""
	}
	return "Not in the catalog, and left out: `" + strings.Join(r.missing, "`, `") + "`."
}
