// Package local computes exact aggregates of a query over the rows of a table, on all cores,
// without any noise.
//
// Sums are integers, so neither the number of workers nor the order in which they read chunks can
// change an answer.
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

// grain is the number of rows a worker takes at a time: whole panels of the queries, whole pieces
// of a chunk.
const grain = 1008

// share hands out the numbers of pieces to workers. start makes what one worker does with a piece,
// and with what it has gathered once there is none left; workers are never in finish at the same
// time.
func (e Engine) share(pieces int, start func() (work func(piece int), finish func())) {
	workers := e.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	var finishing sync.Mutex
	for range min(workers, pieces) {
		wg.Go(func() {
			// made here, so that two workers hardly ever write to one cache line
			work, finish := start()
			for i := int(next.Add(1) - 1); i < pieces; i = int(next.Add(1) - 1) {
				work(i)
			}
			finishing.Lock()
			defer finishing.Unlock()
			finish()
		})
	}
	wg.Wait()
}

// scan shares out the rows of the table, piece by piece; first is the number of a piece's first
// row.
func (e Engine) scan(t *rows.Table, start func() (work func(first int, piece []float64), finish func())) {
	d := t.Columns()
	pieces := split(t.Chunks(), grain*d)
	firsts := make([]int, len(pieces))
	for i := 1; i < len(pieces); i++ {
		firsts[i] = firsts[i-1] + len(pieces[i-1])/d
	}
	e.share(len(pieces), func() (func(int), func()) {
		work, finish := start()
		return func(i int) { work(firsts[i], pieces[i]) }, finish
	})
}

// Sum returns the sum of the query's row vectors over all rows, one scan.
//
// Sums are taken modulo 2^64. Should a table ever be so long that a sum wraps, the answer is the
// true noisy answer reduced modulo 2^64: post-processing, so privacy holds and no data-dependent
// error is needed.
func (e Engine) Sum(t *rows.Table, q query.Sum) []int64 {
	if counts := ofSorted(t, q); counts != nil {
		return counts
	}
	total := make([]int64, q.Size())
	e.scan(t, func() (func(int, []float64), func()) {
		m, sum := q.Compile(t.Columns()), make([]int64, q.Size())
		return func(_ int, piece []float64) { m.Add(sum, piece) }, func() { addTo(total, sum) }
	})
	return total
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

// SumPairs returns the sum of the query's vectors over the given pairs of row numbers. The query
// sees differences: of two good rows they may be infinite but never NaN, of a null row and any
// other they are NaN.
func (e Engine) SumPairs(t *rows.Table, q query.PairSum, pairs [][2]int) []int64 {
	total := make([]int64, q.Size())
	e.share((len(pairs)+grain-1)/grain, func() (func(int), func()) {
		m, sum := q.Compile(t.Columns()), make([]int64, q.Size())
		differences := make([]float64, 0, grain*t.Columns())
		return func(i int) {
			differences = differences[:0]
			for _, p := range pairs[i*grain : min((i+1)*grain, len(pairs))] {
				y := t.Row(p[1])
				for j, x := range t.Row(p[0]) {
					differences = append(differences, x-y[j])
				}
			}
			m.Add(sum, differences)
		}, func() { addTo(total, sum) }
	})
	return total
}

func addTo(total, sum []int64) {
	for i, v := range sum {
		total[i] += v
	}
}

// Leaves returns the leaf of every row.
func (e Engine) Leaves(t *rows.Table, p query.Partition) []int {
	leaves := make([]int, t.Len())
	e.scan(t, func() (func(int, []float64), func()) {
		s := p.Sorter(t.Columns())
		return func(first int, piece []float64) { s.Sort(leaves[first:first+len(piece)/t.Columns()], piece) }, func() {}
	})
	return leaves
}

// Boxes counts the cells that are not empty.
func (e Engine) Boxes(t *rows.Table, q query.BoxKeys) []map[query.Box]int64 {
	empty := func() []map[query.Box]int64 {
		counts := make([]map[query.Box]int64, len(q.Grids)*q.Histograms())
		for j := range counts {
			counts[j] = map[query.Box]int64{}
		}
		return counts
	}
	total := empty()
	e.scan(t, func() (func(int, []float64), func()) {
		m, counts := q.Compile(t.Columns()), empty()
		return func(_ int, piece []float64) { m.Add(counts, piece) }, func() {
			for j, own := range counts {
				if len(total[j]) == 0 {
					total[j] = own
					continue
				}
				for box, n := range own {
					total[j][box] += n
				}
			}
		}
	})
	return total
}

// Gather returns the kept rows of every leaf, in the order of the table.
func (e Engine) Gather(t *rows.Table, q query.Selection, kept []bool) [][]float64 {
	d := t.Columns()
	g, leaves := q.Gatherer(d), make([][]float64, q.Leaves())
	row := 0
	var some []float64
	for _, piece := range split(t.Chunks(), grain*d) {
		if kept == nil {
			g.Add(leaves, piece)
			continue
		}
		some = some[:0]
		for ; len(piece) > 0; piece = piece[d:] {
			if kept[row] {
				some = append(some, piece[:d]...)
			}
			row++
		}
		g.Add(leaves, some)
	}
	return leaves
}
