package engine

import (
	"context"
	"maps"
	"slices"
	"sync"
)

// A series is the runs of a line.
type series struct {
	// Try are the numbers of rows to run; a search starts at the first one.
	Try []int
	// Results are by number of rows.
	Results map[int][]Result
	// Least is the smallest number of rows that passed; 0 if none did.
	Least int

	trial   func(n int, seed uint64) task
	repeats int
}

// Ran returns the numbers of rows that were run, increasing.
func (s *series) Ran() []int { return slices.Sorted(maps.Keys(s.Results)) }

// First returns the results at the only, or first, number of rows.
func (s *series) First() []Result {
	if rows := s.Ran(); len(rows) > 0 {
		return s.Results[rows[0]]
	}
	return nil
}

// LeastText returns the smallest sufficient number of rows of a search, or how far it looked.
func (s *series) LeastText() string {
	if rows := s.Ran(); s.Least == 0 && len(rows) > 0 {
		return "> " + Rows(rows[len(rows)-1])
	}
	return Rows(s.Least)
}

// A sweep says how series are run.
type sweep struct {
	seed     uint64 // of the first run
	passRate float64
	// grid, if not nil, makes it a search for the smallest sufficient number of rows, at most most
	// steps away from the start if most is not 0. Otherwise all numbers of rows are run.
	grid []int
	most int
}

// run runs all series, as many at a time as workers keep busy: the runner shares its own out. The
// first fault ends them all.
func (w sweep) run(ctx context.Context, runner *runner, workers int, all []*series, progress *meter) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	progress.Cells(len(all))
	// One series more than workers keeps them busy while a series waits for its last run.
	var wg sync.WaitGroup
	slots := make(chan struct{}, workers+1)
	for _, s := range all {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			if ctx.Err() != nil {
				return
			}
			if err := w.one(ctx, runner, s); err != nil {
				cancel(err)
			}
			progress.Cell()
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// one searches, or runs every number of rows.
func (w sweep) one(ctx context.Context, runner *runner, s *series) error {
	allowed := int(float64(s.repeats)*(1-w.passRate) + 1e-9)
	s.Results = map[int][]Result{}
	try := func(n, stopAfter int) (bool, error) {
		var trials []task
		for i := range s.repeats {
			trials = append(trials, s.trial(n, w.seed+uint64(i)))
		}
		got, err := runner.Run(ctx, trials, stopAfter)
		if err != nil {
			return false, err
		}
		s.Results[n] = got
		return len(got)-Count(got) <= allowed, nil
	}
	if w.grid != nil {
		var err error
		s.Least, _, err = smallest(w.grid, s.Try[0], w.most, func(n int) (bool, error) { return try(n, allowed) })
		return err
	}
	for _, n := range s.Try {
		pass, err := try(n, -1)
		if err != nil {
			return err
		}
		if pass && s.Least == 0 {
			s.Least = n
		}
	}
	return nil
}
