package parallel

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
)

// Every call is made once.
func TestEveryCall(t *testing.T) {
	const n = 1000
	var run, each [n]atomic.Int64
	Run(n, func(i int) { run[i].Add(1) })
	if err := Each(context.Background(), n, func(i int) { each[i].Add(1) }); err != nil {
		t.Error(err)
	}
	for i := range n {
		if run[i].Load() != 1 || each[i].Load() != 1 {
			t.Fatalf("call %d: Run made it %d times, Each %d times", i, run[i].Load(), each[i].Load())
		}
	}
	Run(0, func(int) { t.Error("no call was wanted") })
}

// The panic of a call is one of the caller, with its place and not with its value; the other calls
// have ended by then.
func TestPanicComesBack(t *testing.T) {
	fault := errors.New("the value of a row")
	var others atomic.Int64
	for name, work := range map[string]func(f func(i int)){
		"Run":   func(f func(i int)) { Run(5, f) },
		"Each":  func(f func(i int)) { Each(context.Background(), 5, f) },
		"Await": func(f func(i int)) { Await(context.Background(), func() { f(2) }) },
		"Run within Each": func(f func(i int)) {
			Each(context.Background(), 1, func(int) { Run(5, f) })
		},
	} {
		func() {
			others.Store(0)
			defer func() {
				p, _ := recover().(*Panic)
				if p == nil || strings.Contains(p.Error(), fault.Error()) || !strings.Contains(p.Error(), "parallel_test.go") {
					t.Errorf("%s: recovered %v", name, p)
				}
				if name == "Run" && others.Load() != 4 {
					t.Errorf("%s: %d of 4 other calls had ended", name, others.Load())
				}
			}()
			work(func(i int) {
				if i == 2 {
					panic(fault)
				}
				others.Add(1)
			})
			t.Errorf("%s returned", name)
		}()
	}
}

// A call that ends its goroutine is one that has ended.
func TestGoexit(t *testing.T) {
	var calls atomic.Int64
	Run(3, func(i int) {
		if calls.Add(1); i == 1 {
			runtime.Goexit()
		}
	})
	if calls.Load() != 3 {
		t.Errorf("%d calls", calls.Load())
	}
	defer func() {
		if recover() == nil {
			t.Error("Each returned without a call")
		}
	}()
	Each(context.Background(), 3, func(int) { runtime.Goexit() })
}

// Once the context is done no call begins.
func TestEachStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var calls, late atomic.Int64
	err := Each(ctx, 1_000_000, func(int) {
		if ctx.Err() != nil {
			late.Add(1) // it was to begin before: one on each core can be
		}
		if calls.Add(1) == 10 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || late.Load() >= int64(runtime.GOMAXPROCS(0)) {
		t.Errorf("%d calls, %d of them late, %v", calls.Load(), late.Load(), err)
	}
	calls.Store(0)
	func() {
		defer func() { recover() }()
		Each(context.Background(), 1_000_000, func(int) { calls.Add(1); panic("now") })
	}()
	if calls.Load() > int64(runtime.GOMAXPROCS(0)) {
		t.Errorf("%d calls after a panic", calls.Load())
	}
}

// What never ends is left behind, and what ends is waited for.
func TestAwait(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := false
	if err := Await(ctx, func() { ended = true }); err != nil || !ended {
		t.Errorf("ended: %v, %v", ended, err)
	}
	if err := Await(ctx, runtime.Goexit); err != nil {
		t.Errorf("a goroutine that ends: %v", err)
	}
	if err := Await(ctx, func() { cancel(); select {} }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
