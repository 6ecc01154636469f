package rows

import (
	"sync"
	"sync/atomic"
)

// Workers are goroutines that see rows. If one of them panics, Wait does, with a constant: what a
// panic says may depend on rows, and nobody could recover it in a goroutine of its own.
type Workers struct {
	group  sync.WaitGroup
	failed atomic.Bool
}

// Go starts one more.
func (w *Workers) Go(do func()) {
	w.group.Go(func() {
		defer func() {
			if recover() != nil {
				w.failed.Store(true)
			}
		}()
		do()
	})
}

// Wait waits for all.
func (w *Workers) Wait() {
	w.group.Wait()
	if w.failed.Load() {
		panic("rows: a worker failed")
	}
}
