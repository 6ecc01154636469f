package engine

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parallel"
)

// Local reads a table with a fixed number of workers.
type Local struct {
	Workers int // 0 means one per core
}

// Scan hands the pieces to workers as they become free.
func (e Local) Scan(s Source, q query.Scan) query.Accumulator {
	workers, total := e.Workers, q.Start(s.Columns())
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	pieces := (s.Len() + PieceRows - 1) / PieceRows
	var next atomic.Int64
	var merging sync.Mutex
	parallel.Run(max(1, min(workers, pieces)), func(int) {
		// made here, so that two workers hardly ever write to one cache line
		own, piece := q.Start(s.Columns()), s.Pieces()
		for i := int(next.Add(1) - 1); i < pieces; i = int(next.Add(1) - 1) {
			own.Add(i*PieceRows, piece(i))
		}
		merging.Lock()
		defer merging.Unlock()
		total.Merge(own)
	})
	return total
}
