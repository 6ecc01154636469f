// Package canceltest checks that long computations stop when their context is done.
package canceltest

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
