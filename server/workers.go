package server

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/gauze-dp/gauze/server/store"
)

// A Runner runs a fit and returns the outcome.
type Runner func(ctx context.Context, d store.Dataset, request json.RawMessage, day time.Time) store.Outcome

// Workers run fits on the slots of [store.Slot]: each worker one after the other, from the start of
// a fit's slot until the end at which it shows.
//
// A worker whose fit is over early waits, and stores nothing of it until the slot's end is near. So
// the time when the next fit begins, or when something is written, does not depend on the rows. A
// fit that is not over at its slot's last end is stopped, and has failed.
type Workers struct {
	Store *store.Store
	Run   Runner
	Now   func() time.Time
	Log   *slog.Logger
	Count int

	mu      sync.Mutex
	wake    chan struct{} // closed, and made anew, to wake all
	running map[string]context.CancelFunc
}

// NewWorkers returns workers that have not started.
func NewWorkers(s *store.Store, run Runner, now func() time.Time, log *slog.Logger, count int) *Workers {
	return &Workers{Store: s, Run: run, Now: now, Log: log, Count: count, wake: make(chan struct{}), running: map[string]context.CancelFunc{}}
}

// Wake tells all workers to look for a fit.
func (w *Workers) Wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.wake)
	w.wake = make(chan struct{})
}

// Stop ends the computation of a fit, if it runs. Its worker stays busy until its slot ends.
func (w *Workers) Stop(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if stop := w.running[id]; stop != nil {
		stop()
	}
}

// idle is the longest time that a worker waits before it looks again.
const idle = time.Second

// wait waits until a time, or until the workers are woken.
func (w *Workers) wait(ctx context.Context, until time.Time) {
	w.mu.Lock()
	wake := w.wake
	w.mu.Unlock()
	timed, done := context.WithTimeout(ctx, until.Sub(w.Now()))
	defer done()
	select {
	case <-timed.Done():
	case <-wake:
	}
}

// Work runs one worker. It ends with ctx, except for a fit that runs then, which goes on
// until compute ends.
func (w *Workers) Work(ctx, compute context.Context, worker int) {
	for ctx.Err() == nil {
		f, err := w.Store.Next(ctx, worker)
		switch {
		case ctx.Err() != nil:
		case errors.Is(err, store.ErrNotFound):
			w.wait(ctx, w.Now().Add(idle))
		case err != nil:
			w.Log.Error("the database does not answer", "error", err.Error())
			w.pause(ctx, w.Now().Add(idle))
		case f.Slot.Start.After(w.Now()):
			w.wait(ctx, f.Slot.Start)
		default:
			w.one(ctx, compute, f)
		}
	}
}

// pause waits until a time, even if the workers are woken.
func (w *Workers) pause(ctx context.Context, until time.Time) {
	timed, done := context.WithTimeout(ctx, until.Sub(w.Now()))
	defer done()
	<-timed.Done()
}

// late is how much later than its slot's start a fit may begin without moving the slot. A guess.
const late = 250 * time.Millisecond

// one runs a fit on its slot, and returns when the worker is free again.
func (w *Workers) one(ctx, compute context.Context, f store.Fit) {
	if now := w.Now(); now.Sub(f.Slot.Start) > late { // the previous fit was put off, or the server was down
		f.Slot.Start = now
	}
	for {
		err := w.Store.Begin(ctx, f.ID, f.Slot.Start)
		if err == nil {
			break
		}
		if errors.Is(err, store.ErrNotFound) || ctx.Err() != nil { // it is no longer wanted
			return
		}
		w.Log.Error("a fit cannot begin", "fit", f.ID, "error", err.Error())
		w.pause(ctx, w.Now().Add(idle))
	}
	out := w.run(compute, f)
	if out.Fault != "" && compute.Err() != nil {
		out.Fault = "the server ended while it ran"
	}
	shows := f.Slot.Shows(w.Now())
	if shows.After(f.Slot.End(0)) {
		w.Log.Warn("a fit took longer than its slot: longer slots hide more", "fit", f.ID)
	}
	w.pause(ctx, f.Slot.Keep(shows))
	// a server that is ending still records it, and one whose database is away waits for it
	keep, done := context.WithTimeout(context.WithoutCancel(ctx), keepFor)
	defer done()
	for {
		err := w.Store.End(keep, f, out, shows)
		if err == nil || errors.Is(err, store.ErrNotFound) {
			break
		}
		w.Log.Error("what a fit ended in cannot be kept yet", "fit", f.ID, "error", err.Error())
		if keep.Err() != nil || store.Replaced(err) {
			break // the next server start finds it as interrupted
		}
		w.pause(keep, w.Now().Add(idle))
		shows = f.Slot.Shows(w.Now())
	}
	w.pause(ctx, shows)
}

// keepFor is how long storing an outcome is tried. A guess.
const keepFor = 10 * time.Minute

// run runs a fit until its slot's last end.
func (w *Workers) run(ctx context.Context, f store.Fit) store.Outcome {
	d, err := w.Store.Dataset(ctx, f.Dataset)
	for store.Away(err) && ctx.Err() == nil && w.Now().Before(w.lastOf(f.Slot)) {
		w.pause(ctx, w.Now().Add(idle)) // its cost is spent: waiting for the database to come back is worth it
		d, err = w.Store.Dataset(ctx, f.Dataset)
	}
	if err != nil {
		return store.Outcome{State: store.Failed, Fault: err.Error()}
	}
	limited, stop := context.WithDeadline(ctx, w.lastOf(f.Slot))
	defer stop()
	w.mu.Lock()
	w.running[f.ID] = stop
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		delete(w.running, f.ID)
		w.mu.Unlock()
	}()
	return w.Run(limited, d, f.Request, f.Slot.Start)
}

// lastOf leaves room for keeping that a fit was ended, before the slot's last end.
func (w *Workers) lastOf(s store.Slot) time.Time { return s.Last().Add(-s.Length / 4) }
