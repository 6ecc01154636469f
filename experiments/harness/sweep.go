package harness

import (
	"context"
	"maps"
	"slices"
	"sync"
)

// A Series is all runs of a cell by one method.
type Series struct {
	// Try are the numbers of rows to run; a search starts at the first one.
	Try []int
	// Trial is the run of a seed at a number of rows.
	Trial func(n int, seed uint64) Trial
	// Repeats, if not 0, takes the place of the sweep's.
	Repeats int
	// Runs are the results by number of rows.
	Runs map[int][]Result
	// Least is the smallest number of rows that passed; 0 if none did.
	Least int
}

// Rows are the numbers of rows that were run, rising.
func (s *Series) Rows() []int { return slices.Sorted(maps.Keys(s.Runs)) }

// A Sweep says how series are run.
type Sweep struct {
	Repeats int
	Seed    uint64 // of the first run
	// PassRate is the part of the runs that must succeed at a sufficient number of rows.
	PassRate float64
	// Grid, if not nil, makes it a search for the smallest sufficient number of rows, at most Most
	// steps away from the start if Most is not 0. Otherwise all numbers of rows are run.
	Grid []int
	Most int
}

// Run runs all series, as many at a time as workers keep busy: the runner shares its own out. The
// first fault ends them all.
func (w Sweep) Run(ctx context.Context, runner *Runner, workers int, series []*Series, progress *Progress) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	progress.Cells(len(series))
	// One series more than workers keeps them busy while a series waits for its last run.
	var wg sync.WaitGroup
	slots := make(chan struct{}, workers+1)
	for _, s := range series {
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
func (w Sweep) one(ctx context.Context, runner *Runner, s *Series) error {
	repeats := w.Repeats
	if s.Repeats > 0 {
		repeats = s.Repeats
	}
	allowed := int(float64(repeats)*(1-w.PassRate) + 1e-9)
	s.Runs = map[int][]Result{}
	try := func(n, stopAfter int) (bool, error) {
		var trials []Trial
		for i := range repeats {
			trials = append(trials, s.Trial(n, w.Seed+uint64(i)))
		}
		got, err := runner.Run(ctx, trials, stopAfter)
		if err != nil {
			return false, err
		}
		s.Runs[n] = got
		return len(got)-Count(got) <= allowed, nil
	}
	if w.Grid != nil {
		var err error
		s.Least, _, err = Smallest(w.Grid, s.Try[0], w.Most, func(n int) (bool, error) { return try(n, allowed) })
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
