// Package local reads a table on all cores of this machine.
package local

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/gauze-dp/gauze/kernel/internal/rows"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parallel"
)

// Engine reads a table with a fixed number of workers.
type Engine struct {
	Workers int // 0 means one per core
}

// Scan hands the pieces out to workers, whoever is free first.
func (e Engine) Scan(s rows.Source, q query.Scan) query.Accumulator {
	workers, total := e.Workers, q.Start(s.Columns())
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	pieces := (s.Len() + rows.PieceRows - 1) / rows.PieceRows
	var next atomic.Int64
	var merging sync.Mutex
	parallel.Run(max(1, min(workers, pieces)), func(int) {
		// made here, so that two workers hardly ever write to one cache line
		own, piece := q.Start(s.Columns()), s.Pieces()
		for i := int(next.Add(1) - 1); i < pieces; i = int(next.Add(1) - 1) {
			own.Add(i*rows.PieceRows, piece(i))
		}
		merging.Lock()
		defer merging.Unlock()
		total.Merge(own)
	})
	return total
}
