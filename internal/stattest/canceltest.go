package stattest

import (
	"context"
	"errors"
	"testing"
	"time"
)

// Into the work and not at its start, a signal must be obeyed so soon, on any machine.
const (
	into = 50 * time.Millisecond
	soon = 2 * time.Second
)

// Stops cancels the context of work that takes far longer, and wants it to return the context's
// error soon.
func Stops(tb testing.TB, work func(context.Context) error) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), into)
	defer cancel()
	start := time.Now()
	err := work(ctx)
	if took := time.Since(start); took > into+soon {
		tb.Errorf("it ended %v after it began, %v after its context", took, took-into)
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		tb.Errorf("got %v, want the context's error; was the work done before?", err)
	}
}

// A counted context is done from the until-th time on that it is asked for its error, whatever the
// time: a slow machine has no part in what it shows.
type counted struct {
	context.Context
	until, asked int
	done         func() int
	last, most   int // of done, when it was asked last, and between two times
}

func (c *counted) Err() error {
	if c.asked++; c.asked > c.until {
		return context.Canceled
	}
	now := c.done()
	c.most, c.last = max(c.most, now-c.last), now
	if c.asked == c.until {
		return context.Canceled
	}
	return nil
}

// StopsWhenDone begins work again and again, on one goroutine, with contexts that are done from the
// first time on that they are asked for their error, from a later one, every so many, until it ends
// before. What was stopped must return the context's error, ask at most twice more, and leave what
// done counts as it was. Of work that was not stopped: how often it asks, and the most that was
// done between two times.
func StopsWhenDone(tb testing.TB, every int, begin func() (work func(context.Context) error, done func() int)) (asks, most int) {
	tb.Helper()
	for until := 1; ; until += every {
		work, done := begin()
		c := &counted{Context: tb.Context(), until: until, done: done}
		err := work(c)
		switch {
		case c.asked < until && err == nil:
			return c.asked, c.most
		case !errors.Is(err, context.Canceled):
			tb.Fatalf("stopped when asked %d times: got %v, want the context's error", until, err)
		case c.asked > until+2 || done() != c.last:
			tb.Fatalf("stopped when asked %d times: it asked %d times more, and did %d more", until, c.asked-until, done()-c.last)
		}
	}
}
