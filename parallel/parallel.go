// Package parallel runs work on several cores and loses no panic.
//
// A panic ends the process if its own goroutine does not recover it, and then nothing reports what
// a fit has spent. So every goroutine that computes is started here: its panic is raised again in
// the caller that waits for the work, as if the call had been an ordinary one.
package parallel

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
)

// A Panic is the value of the panic on the caller's goroutine. It holds where a function panicked
// but not the panic's value, which may be a part of a row that the caller must not see.
type Panic struct{ places []string }

// Error returns the places of the calls that led to the panic, the innermost first.
func (p *Panic) Error() string {
	return "a goroutine panicked:\n\t" + strings.Join(p.places, "\n\t")
}

// here returns the panic whose deferred functions are running.
func here() *Panic {
	const most = 32
	var counters [most]uintptr
	frames := runtime.CallersFrames(counters[:runtime.Callers(3, counters[:])])
	p := &Panic{}
	for {
		f, more := frames.Next()
		p.places = append(p.places, fmt.Sprintf("%s (%s:%d)", f.Function, f.File, f.Line))
		if !more {
			return p
		}
	}
}

// Run calls f(0), .., f(n-1) concurrently, each on a goroutine of its own, and returns when all
// have ended. It panics if one of them did.
func Run(n int, f func(i int)) {
	var wg sync.WaitGroup
	var first atomic.Pointer[Panic]
	for i := range n {
		wg.Go(func() {
			defer func() {
				v := recover()
				p, passedOn := v.(*Panic)
				if v != nil && !passedOn {
					p = here()
				}
				if p != nil {
					first.CompareAndSwap(nil, p)
				}
			}()
			debug.SetPanicOnFault(true) // for a mapped file that cannot be read any more
			f(i)
		})
	}
	wg.Wait()
	if p := first.Load(); p != nil {
		panic(p)
	}
}

// Each calls f(0), .., f(n-1), each once, on as many goroutines as there are cores, and returns
// when all have ended. The calls come in no fixed order: each must write only what belongs to its
// own i.
//
// Once ctx is done, or a call panics, no further call begins. The error is ctx's; without one every
// call was made.
func Each(ctx context.Context, n int, f func(i int)) error {
	var next atomic.Int64
	var stop atomic.Bool
	Run(min(n, runtime.GOMAXPROCS(0)), func(int) {
		ended := false
		defer func() {
			if !ended {
				stop.Store(true)
			}
		}()
		for i := int(next.Add(1) - 1); i < n && !stop.Load() && ctx.Err() == nil; i = int(next.Add(1) - 1) {
			f(i)
		}
		ended = true
	})
	if stop.Load() {
		panic("parallel: Each: a call ended its goroutine")
	}
	return ctx.Err()
}

// Await calls f on a goroutine of its own and returns when it has ended, or ctx's error when ctx is
// done: then f goes on in the background, and what it writes must not be read. It panics if f
// panicked before.
func Await(ctx context.Context, f func()) error {
	done := make(chan *Panic, 1)
	go func() {
		defer func() {
			p, _ := recover().(*Panic)
			done <- p
		}()
		Run(1, func(int) { f() })
	}()
	select {
	case p := <-done:
		if p != nil {
			panic(p)
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
