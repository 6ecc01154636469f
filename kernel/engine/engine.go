// Package engine computes exact aggregates over a table, without noise. What reads the rows is an
// Engine; each has a folder of its own.
package engine

import (
	"context"

	"github.com/gauze-dp/gauze/kernel/internal/rows"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parallel"
)

// An Engine hands the pieces of a source to accumulators, each piece to one of them, in any order,
// and merges these. What they hold in the end must not depend on who got which piece, so all
// engines give the same answers, bit for bit.
type Engine interface {
	Scan(rows.Source, query.Scan) query.Accumulator
}

// Until is e, but that it reads no further piece once ctx is done: what it answers then is of a
// part of the rows, and must be thrown away.
func Until(ctx context.Context, e Engine) Engine { return until{ctx, e} }

type until struct {
	ctx context.Context
	Engine
}

// Scan hands out empty pieces once the context is done.
func (u until) Scan(s rows.Source, q query.Scan) query.Accumulator {
	return u.Engine.Scan(stopping{s, u.ctx}, q)
}

type stopping struct {
	rows.Source
	ctx context.Context
}

// Pieces returns what reads piece i, or nothing.
func (s stopping) Pieces() func(i int) []float64 {
	piece := s.Source.Pieces()
	return func(i int) []float64 {
		if s.ctx.Err() != nil {
			return nil
		}
		return piece(i)
	}
}

// Sum returns the sum of the query's row vectors over all rows.
//
// Sums are taken modulo 2^64. Should a table ever be so long that a sum wraps, the answer is the
// true noisy answer reduced modulo 2^64: post-processing, so privacy holds and no data-dependent
// error is needed.
func Sum(e Engine, t *rows.Table, q query.Sum) []int64 {
	if counts := ofSorted(t, q); counts != nil {
		return counts
	}
	return sum(e, t, q)
}

// ofSorted counts the bins of a single column that has been sorted already: the same integers as a
// scan, at once. Otherwise it returns nil.
func ofSorted(t *rows.Table, q query.Sum) []int64 {
	if bins, ok := q.(query.Counts); ok {
		if column, one := bins.OneColumn(); one {
			if sorted := t.IfSorted(column); sorted != nil {
				return bins.OfSorted(sorted)
			}
		}
	}
	return nil
}

// SumPairs returns the sum of the query's vectors over the given pairs of row numbers.
func SumPairs(e Engine, t *rows.Table, q query.PairSum, pairs [][2]int) []int64 {
	return sum(e, rows.Pairs{Table: t, Of: pairs}, q)
}

func sum(e Engine, s rows.Source, q query.Mapped) []int64 {
	return e.Scan(s, query.Summed{Of: q}).(*query.Total).Sum
}

// Leaves returns the leaf of every row, -1 for rows in none; the zero Partition has one leaf with
// all good rows.
func Leaves(e Engine, t *rows.Table, p query.Partition) []int {
	leaves := make([]int, t.Len())
	e.Scan(t, p).(*query.Places).Put(leaves)
	return leaves
}

// Gather returns, for every leaf, copies of the rows in it whose number is in kept (nil: all),
// row-major and in the order of the table.
func Gather(e Engine, t *rows.Table, p query.Partition, kept []bool) [][]float64 {
	gathered := make([][]float64, p.Leaves())
	for i, leaf := range Leaves(e, t, p) {
		if leaf >= 0 && (kept == nil || kept[i]) {
			gathered[leaf] = append(gathered[leaf], t.Row(i)...)
		}
	}
	return gathered
}

// EachSorted calls use once for every leaf, leaves at the same time, with the values of a column of
// its rows in order.
func EachSorted(e Engine, t *rows.Table, p query.Partition, column int, use func(leaf int, sorted []float64)) {
	if p.Whole() {
		use(0, t.Sorted(column))
		return
	}
	values := make([][]float64, p.Leaves())
	for i, leaf := range Leaves(e, t, p) {
		if leaf >= 0 {
			values[leaf] = append(values[leaf], t.Row(i)[column])
		}
	}
	parallel.Run(len(values), func(leaf int) {
		rows.Sort(values[leaf])
		use(leaf, values[leaf])
	})
}
