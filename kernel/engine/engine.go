// Package engine computes exact aggregates over a table, without noise. What reads the rows is an
// Engine; each has a folder of its own.
package engine

import (
	"context"
	"math/bits"
	"slices"

	"github.com/gauze-dp/gauze/kernel/internal/rows"
	"github.com/gauze-dp/gauze/kernel/query"
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
	return u.Engine.Scan(Stopping{s, u.ctx}, q)
}

// Stopping is a source whose pieces are empty once Context is done.
type Stopping struct {
	rows.Source
	Context context.Context
}

// Pieces returns what reads piece i, or nothing.
func (s Stopping) Pieces() func(i int) []float64 {
	piece := s.Source.Pieces()
	return func(i int) []float64 {
		if s.Context.Err() != nil {
			return nil
		}
		return piece(i)
	}
}

// How many bins there are of ranks, log2: at most of a column, so that one scan tells all octaves,
// and about of all columns, so that the counts stay in a processor's cache. By a trial or two.
const columnWidth, tableWidth = 13, 17

// Sum returns the sum of the query's row vectors over all rows; those of a query.Partial are of
// rows as its view has them. The bins of a column that has been put in order in the same leaves are
// counted there, and column counts are told from ranks, which the table keeps until others are
// asked for, as it does a histogram that is asked for twice: the same integers as a scan for them,
// at once.
//
// How many rows are good the table knows, so that asking for it takes no scan; nor does what is
// asked of presence but one of the partial rows, as the vectors of all good rows are one, their
// image being ones: it is added as often.
//
// Sums are taken modulo 2^64. Should a table ever be so long that a sum wraps, the answer is the
// true noisy answer reduced modulo 2^64: post-processing, so privacy holds and no data-dependent
// error is needed.
func Sum(e Engine, t *rows.Table, q query.Sum) []int64 {
	if bins, ok := q.(histogram); ok {
		if cut, column, one := bins.Cut(); one {
			if sorted := t.Recall(rows.Sorted{Cut: cut, Column: column}, nil); sorted != nil {
				return bins.OfSorted(sorted.([][]float64))
			}
		}
	}
	kept := func(of query.Mapped) []int64 {
		return t.Recall(of, func() (any, bool) {
			total := e.Scan(t, query.Summed{Of: of}).(*query.Total)
			return total.Sum, total.Read == t.Len()*t.Columns()
		}).([]int64)
	}
	source, of := rows.Source(t), query.Summed{Of: q}
	switch q := q.(type) {
	case query.Count:
		return []int64{int64(t.Good())}
	case query.Counts:
		switch q.Kind() {
		case query.Histogram:
			return slices.Clone(kept(q))
		case query.ColumnCounts:
			ranks := q.Ranks(max(1, min(columnWidth, tableWidth-bits.Len(uint(t.Columns())))))
			sum := make([]int64, q.Size())
			q.OfRanks(sum, ranks, kept(ranks))
			return sum
		}
	case query.Partial:
		if source = (rows.Seen{Table: t, Fill: q.Fill}); q.As == query.Presence {
			one, sum := of.Start(t.Columns()).(*query.Total), e.Scan(rows.Marks{Table: t}, of).(*query.Total).Sum
			one.Add(0, slices.Repeat([]float64{1}, t.Columns()))
			for i, v := range one.Sum {
				sum[i] += v * int64(t.Good())
			}
			return sum
		}
	}
	return e.Scan(source, of).(*query.Total).Sum
}

// A histogram of one column, in all good rows or in leaves, can be told from the values in order.
type histogram interface {
	Cut() (cut any, column int, one bool)
	OfSorted(sorted [][]float64) []int64
}
