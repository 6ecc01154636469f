// Package engine computes exact aggregates over a table, without noise. What reads the rows is an
// Engine; each has a folder of its own.
package engine

import (
	"context"

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

// Sum returns the sum of the query's row vectors over all rows; those of a query.Partial are of
// rows as its view has them.
//
// Sums are taken modulo 2^64. Should a table ever be so long that a sum wraps, the answer is the
// true noisy answer reduced modulo 2^64: post-processing, so privacy holds and no data-dependent
// error is needed.
func Sum(e Engine, t *rows.Table, q query.Sum) []int64 {
	if counts := ofSorted(t, q); counts != nil {
		return counts
	}
	source := rows.Source(t)
	if p, ok := q.(query.Partial); ok {
		source = rows.Seen{Table: t, Present: p.As == query.Presence, Fill: p.Fill}
	}
	return e.Scan(source, query.Summed{Of: q}).(*query.Total).Sum
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
