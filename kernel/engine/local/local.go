// Package local computes exact aggregates of a query over the rows of a table, on all cores, without any noise.
//
// Sums are integers, so neither the number of workers nor the order in which they read chunks can change an answer.
package local

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/gauze-dp/gauze/kernel/internal/rows"
	"github.com/gauze-dp/gauze/kernel/query"
)

// Engine reads a table with a fixed number of workers.
type Engine struct {
	Workers int // 0 means one per core
}

// grain is the number of rows a worker takes at a time.
const grain = 1024

// Sum returns the sum of the query's row vectors over all rows, one scan.
//
// Sums are taken modulo 2^64. Should a table ever be so long that a sum wraps, the answer is the true noisy answer reduced
// modulo 2^64: post-processing, so privacy holds and no data-dependent error is needed.
func (e Engine) Sum(t *rows.Table, q query.Sum) []int64 {
	d := t.Columns()
	pieces := split(t.Chunks(), grain*d)
	workers := e.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	workers = max(1, min(workers, len(pieces)))
	sums := make([][]int64, workers)
	var next atomic.Int64
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			// Made here, so that two workers hardly ever write to one cache line.
			m, sum := q.Compile(d), make([]int64, q.Size())
			for i := next.Add(1) - 1; int(i) < len(pieces); i = next.Add(1) - 1 {
				m.Add(sum, pieces[i])
			}
			sums[w] = sum
		})
	}
	wg.Wait()
	for _, s := range sums[1:] {
		for i, v := range s {
			sums[0][i] += v
		}
	}
	return sums[0]
}

func split(chunks [][]float64, size int) [][]float64 {
	var pieces [][]float64
	for _, c := range chunks {
		for len(c) > size {
			pieces = append(pieces, c[:size:size])
			c = c[size:]
		}
		if len(c) > 0 {
			pieces = append(pieces, c)
		}
	}
	return pieces
}

// SumPairs returns the sum of the query's pair vectors over the given pairs of row numbers.
func (e Engine) SumPairs(t *rows.Table, q query.PairSum, pairs [][2]int) []int64 {
	sum := make([]int64, q.Size())
	for _, p := range pairs {
		q.AddPair(sum, t.Row(p[0]), t.Row(p[1]))
	}
	return sum
}

// Keys counts the non-empty cells of every column: one map per column.
func (e Engine) Keys(t *rows.Table, q query.CellKeys) []map[float64]int64 {
	counts := make([]map[float64]int64, q.Histograms())
	for j := range counts {
		counts[j] = make(map[float64]int64)
	}
	for i := range t.Len() {
		for j := range counts {
			if k, ok := q.Key(j, t.Row(i)); ok {
				counts[j][k]++
			}
		}
	}
	return counts
}
