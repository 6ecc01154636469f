// Package engine runs experiments: problems, contenders, a measure and a summary. A [Study] has
// experiments of one kind; each is a list of lines, a problem given to a contender at some numbers
// of rows. The engine makes every line's runs, in parallel, keeps the results in a file, so that an
// interrupted experiment goes on where it stopped, and writes a page that says of itself what ran.
//
// The rows of a run are a function of its seed. The noise is that of the kernel and has none: a
// repetition of an experiment agrees with it up to chance, which the intervals show. The noise of a
// run that is taken from the file is not drawn again.
package engine

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Pages is the folder of the pages, from the root of the repository.
const Pages = "docs/experiments"

// A Study is experiments whose cells are of the type C, and what their pages have in common.
type Study[C any] struct {
	Name  string
	About string
	// Seed is that of the first run, unless another is asked for; 0 takes a fresh one. Unseeded
	// says that no run has one.
	Seed     uint64
	Unseeded bool
	// PassRate is the part of the runs that must succeed at a sufficient number of rows.
	PassRate float64
	// Grid is where a search looks for the smallest sufficient number of rows, at most Farthest
	// steps from its start if that is not 0.
	Grid     []int
	Farthest int

	Experiments []Experiment[C]
	// Custom, if set, makes an experiment of arguments that are not the names of any.
	Custom func(args []string) (Experiment[C], error)

	// Lead says what holds for all cells of a page, and Legend how the table of all runs is read.
	Lead   func(*Results[C]) string
	Legend string
	// Columns are those of that table that come after cell, contender and n.
	Columns []Column
	// Noisy matches released numbers in the reasons of runs without a model: they differ between
	// runs, and are written as N.
	Noisy *regexp.Regexp
	// Printed are the values that -v prints of every run.
	Printed []string
	// Prints, if set, says which runs -v prints.
	Prints func(Result) bool
	// Keep, if set, takes the place of the page.
	Keep func(*Results[C]) error
}

// A Column sums up the runs of a line at a number of rows.
type Column struct {
	Head string
	Show func(runs []Result) any
}

// An Experiment is a list of lines, run several times each.
type Experiment[C any] struct {
	Name, Title string
	About       string // what is run and what counts as success
	// Lines lists them; note is what the page has to say of the contenders.
	Lines func(o Options) (lines []*Line[C], note string)
	Runs  int // of each line
	// Search looks for the smallest sufficient number of rows, from the line's first one; otherwise
	// all of the line's are run.
	Search bool
	// Summary, if set, writes what there is to say before the table of all runs.
	Summary func(*Page, *Results[C])
}

// A Line is all runs of a cell by one contender.
type Line[C any] struct {
	Cell C
	Name string // of the cell, unique in its experiment
	By   string // the contender
	// Rows are the numbers of rows to run; a search starts at the first one.
	Rows []int
	// Runs, if not 0, takes the place of the experiment's number. Once says that the line is made
	// once, and that the command line's number of runs is its own matter.
	Runs int
	Once bool
	// Params is what the names stand for, as the results keep it.
	Params any
	// Make makes a run. A fault of a fit is a reason to be written down, not an error.
	Make func(ctx context.Context, n int, seed uint64) (Outcome, error)

	series
}

// Results are all lines of an experiment after their runs.
type Results[C any] struct {
	Study      *Study[C]
	Experiment Experiment[C]
	Options    Options
	Lines      []*Line[C]
	Note       string
}

// Title returns the study in one line.
func (s *Study[C]) Title() (name, about string) { return s.Name, s.About }

// Names returns the names of the experiments.
func (s *Study[C]) Names() (names []string) {
	for _, e := range s.Experiments {
		names = append(names, e.Name)
	}
	return names
}

// Run makes the experiments named, or all, one after another; one that fails does not keep the
// others from being made.
func (s *Study[C]) Run(ctx context.Context, o Options, names []string) error {
	chosen, err := s.choose(names)
	if err != nil {
		return err
	}
	if o.Out == "" && o.Whole() {
		o.Out = filepath.Join(filepath.FromSlash(Pages), s.Name)
	}
	if o.Seed == 0 {
		o.Seed = s.Seed
	}
	if o.Seed == 0 {
		o.Seed = uint64(time.Now().UnixMicro())
	}
	var faults []error
	for _, e := range chosen {
		if err := s.one(ctx, o, e); err != nil {
			faults = append(faults, fmt.Errorf("%s %s: %w", s.Name, e.Name, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(faults...)
}

func (s *Study[C]) choose(names []string) (out []Experiment[C], err error) {
	if len(names) == 0 && len(s.Experiments) > 0 || slices.Equal(names, []string{"all"}) {
		return s.Experiments, nil
	}
	for _, name := range names {
		i := slices.Index(s.Names(), name)
		if i < 0 && s.Custom != nil {
			e, err := s.Custom(names)
			return []Experiment[C]{e}, err
		}
		if i < 0 {
			return nil, fmt.Errorf("%s: wanted some of %s, or all, got %q: %w", s.Name, strings.Join(s.Names(), ", "), name, ErrUsage)
		}
		out = append(out, s.Experiments[i])
	}
	if out == nil {
		return nil, fmt.Errorf("%s: wanted arguments: %w", s.Name, ErrUsage)
	}
	return out, nil
}

// one makes an experiment and writes what came out.
func (s *Study[C]) one(ctx context.Context, o Options, e Experiment[C]) error {
	r := &Results[C]{Study: s, Experiment: e, Options: o}
	all, note := e.Lines(o)
	r.Note = note
	for _, l := range all {
		if o.matches(l.Name) {
			r.Lines = append(r.Lines, l)
		}
	}
	if len(r.Lines) == 0 {
		return nil // another experiment may have the cells asked for
	}
	if o.Quick {
		r.Lines = few(r.Lines)
	}
	if err := s.measure(ctx, o, e, r.Lines); err != nil {
		return err
	}
	if s.Keep != nil {
		return errors.Join(s.Keep(r), r.faults())
	}
	return errors.Join(r.write(), r.faults())
}

// measure makes the runs of all lines, as many at a time as there are workers.
func (s *Study[C]) measure(ctx context.Context, o Options, e Experiment[C], lines []*Line[C]) error {
	progress := &meter{Out: o.Stderr, Now: time.Now}
	file := ""
	if o.Out != "" {
		file = filepath.Join(o.Out, "results", fileName(e.Name)+".jsonl")
	}
	store, err := openStore(file, o.Resume)
	if err != nil {
		return err
	}
	defer store.Close()
	runner := newRunner(o.Workers, store)
	runner.Each = func(r Result, fromFile bool) {
		if o.Verbose && (s.Prints == nil || s.Prints(r)) {
			printRun(o.Stdout, r, s.Printed)
		}
		progress.Run(r, fromFile)
	}
	w := sweep{seed: o.Seed, passRate: s.PassRate}
	if e.Search && o.Rows == nil {
		w.grid, w.most = s.Grid, s.Farthest
		if o.Quick {
			w.most = 1
		}
	}
	var all []*series
	for _, l := range lines {
		l.start(o, e)
		all = append(all, &l.series)
	}
	return w.run(ctx, runner, o.Workers, all, progress)
}

// quickRuns is how many runs a line of a quick experiment has.
const quickRuns = 2

// start makes the line's series.
func (l *Line[C]) start(o Options, e Experiment[C]) {
	l.series = series{Try: l.Rows, repeats: e.Runs}
	switch {
	case l.Once:
		l.repeats = 1
	case o.Runs > 0:
		l.repeats = o.Runs
	case o.Quick:
		l.repeats, l.Try = quickRuns, l.Rows[:1]
	case l.Runs > 0:
		l.repeats = l.Runs
	}
	if o.Rows != nil {
		l.Try = o.Rows
	}
	l.trial = func(n int, seed uint64) task {
		return task{Key: Key{e.Name, l.Name, l.By, n, seed}, Params: l.Params, Commit: o.Commit,
			Run: func(ctx context.Context) (Outcome, error) { return l.Make(ctx, n, seed) }}
	}
}

// few picks some cells with few rows, from the first to the last, with all of their contenders.
func few[C any](lines []*Line[C]) (out []*Line[C]) {
	const cells, rows = 4, 15_000
	small := distinct(lines, func(l *Line[C]) string {
		if l.Rows[0] > rows {
			return ""
		}
		return l.Name
	})
	for i := range min(cells, len(small)) {
		name := small[i*(len(small)-1)/max(1, min(cells, len(small))-1)]
		for _, l := range lines {
			if l.Name == name {
				out = append(out, l)
			}
		}
	}
	return out
}

// distinct lists what get returns of the lines, in their order, each once, and nothing that is
// empty.
func distinct[C any](lines []*Line[C], get func(*Line[C]) string) (out []string) {
	for _, l := range lines {
		if v := get(l); v != "" && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// Distinct lists what get returns of the lines, in their order, each once, and nothing that is
// empty.
func (r *Results[C]) Distinct(get func(*Line[C]) string) []string { return distinct(r.Lines, get) }

// Contenders returns the names of the contenders.
func (r *Results[C]) Contenders() []string {
	return r.Distinct(func(l *Line[C]) string { return l.By })
}

// Of returns the line of a cell by a contender, or nil.
func (r *Results[C]) Of(cell, by string) *Line[C] {
	i := slices.IndexFunc(r.Lines, func(l *Line[C]) bool { return l.Name == cell && l.By == by })
	if i < 0 {
		return nil
	}
	return r.Lines[i]
}

// By returns the lines of a contender.
func (r *Results[C]) By(by string) (out []*Line[C]) {
	for _, l := range r.Lines {
		if l.By == by {
			out = append(out, l)
		}
	}
	return out
}

// faultMark begins the reason of a run that ended in an error: a long experiment goes on, and ends
// with it.
const faultMark = "fault: "

// faults returns the first error of a fit, if there is one.
func (r *Results[C]) faults() error {
	for _, l := range r.Lines {
		for _, n := range l.Ran() {
			for _, run := range l.Results[n] {
				if strings.HasPrefix(run.Why, faultMark) {
					return fmt.Errorf("%s %s n=%d seed=%d: %s", run.Cell, run.Method, n, run.Seed, run.Why)
				}
			}
		}
	}
	return nil
}
