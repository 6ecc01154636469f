package engine

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"
)

// A task is a run to be made.
type task struct {
	Key
	Params any
	Commit string
	// Run makes it. An error ends the experiment; a fit that ends without a model is an Outcome.
	Run func(context.Context) (Outcome, error)
}

// A runner makes trials in parallel. It may be used by several goroutines: all of them share its
// workers.
type runner struct {
	store   *store
	slots   chan struct{}
	telling sync.Mutex
	// Each, if set, is called with every result as it comes, one at a time.
	Each func(r Result, fromFile bool)
}

// newRunner returns a runner with that many workers. A nil store keeps nothing.
func newRunner(workers int, store *store) *runner {
	return &runner{store: store, slots: make(chan struct{}, max(1, workers))}
}

// Run makes the trials in their order, as many at a time as there are workers, and returns the
// results in that order. Trials that the store knows are not made again.
//
// With stopAfter >= 0 no trial is started once more than so many have failed: the answer "not often
// enough" stands by then. Results are then those of the trials started, which are too few failures
// to estimate a rate from.
func (r *runner) Run(ctx context.Context, trials []task, stopAfter int) ([]Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make([]Result, len(trials))
	var (
		mu      sync.Mutex
		failed  int
		fault   error
		started int
		wg      sync.WaitGroup
	)
	for i, t := range trials {
		r.slots <- struct{}{}
		mu.Lock()
		enough := stopAfter >= 0 && failed > stopAfter || fault != nil
		mu.Unlock()
		if enough || ctx.Err() != nil {
			<-r.slots
			break
		}
		started++
		wg.Go(func() {
			defer func() { <-r.slots }()
			got, err := r.one(ctx, t)
			mu.Lock()
			defer mu.Unlock()
			results[i] = got
			switch {
			case err != nil && fault == nil:
				fault = fmt.Errorf("%s %s %s n=%d seed=%d: %w", t.Experiment, t.Cell, t.Method, t.N, t.Seed, err)
				cancel()
			case err == nil && !got.Success:
				failed++
			}
		})
	}
	wg.Wait()
	if fault == nil {
		fault = ctx.Err()
	}
	return results[:started], fault
}

// one looks a trial up or makes it.
func (r *runner) one(ctx context.Context, t task) (Result, error) {
	got, known, err := r.store.Lookup(t.Key, t.Params)
	if err != nil {
		return Result{}, err
	}
	if !known {
		outcome, err := t.Run(ctx)
		if err != nil {
			return Result{}, err
		}
		got = Result{Key: t.Key, Params: t.Params, Commit: t.Commit, Outcome: outcome}
		if err := r.store.Append(got); err != nil {
			return Result{}, err
		}
	}
	if r.Each != nil {
		r.telling.Lock()
		defer r.telling.Unlock()
		r.Each(got, known)
	}
	return got, nil
}

// A meter says now and then how far an experiment is. It may be used by several goroutines.
type meter struct {
	Out io.Writer
	Now func() time.Time

	mu              sync.Mutex
	last            time.Time
	runs, ok, known int
	cells, of       int
	busy            float64 // seconds of all fits
}

// between is the time between two lines of a meter at least.
const between = 20 * time.Second

// Cells adds to the number of cells to be done.
func (p *meter) Cells(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.of += n
}

// Cell counts a cell that is done.
func (p *meter) Cell() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cells++
}

// Run counts a run and writes the line when it is time to.
func (p *meter) Run(r Result, fromFile bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.Now()
	if p.last.IsZero() {
		p.last = now
	}
	p.runs++
	if r.Success {
		p.ok++
	}
	if fromFile {
		p.known++
	} else {
		p.busy += r.Seconds
	}
	if now.Sub(p.last) >= between {
		p.last = now
		fmt.Fprintf(p.Out, "%s: %d of %d cells, %d runs (%d succeeded, %d from the file), %.2f s per fit\n", r.Experiment, p.cells, p.of, p.runs, p.ok, p.known, p.busy/float64(max(1, p.runs-p.known)))
	}
}
