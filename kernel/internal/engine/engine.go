package engine

import (
	"context"

	"github.com/gauze-dp/gauze/kernel/query"
)

// An Engine hands the pieces of a source to accumulators, each piece to one of them, in any order,
// and merges these. The result must not depend on which accumulator got which piece, so all engines
// give the same answers, bit for bit.
type Engine interface {
	Scan(Source, query.Scan) query.Accumulator
}

// Until returns an engine that works like e, but reads no further piece once ctx is done. Its
// answer then covers only a part of the rows and must be discarded.
func Until(ctx context.Context, e Engine) Engine { return until{ctx, e} }

type until struct {
	ctx context.Context
	Engine
}

// Scan reads empty pieces once the context is done.
func (u until) Scan(s Source, q query.Scan) query.Accumulator {
	return u.Engine.Scan(Stopping{s, u.ctx}, q)
}

// Stopping is a source whose pieces are empty once Context is done.
type Stopping struct {
	Source
	Context context.Context
}

// Pieces returns a function that reads piece i, or nothing once Context is done.
func (s Stopping) Pieces() func(i int) []float64 {
	piece := s.Source.Pieces()
	return func(i int) []float64 {
		if s.Context.Err() != nil {
			return nil
		}
		return piece(i)
	}
}

// PlainSum returns the sum of the query's row vectors over all rows; for a query.Partial, over the
// rows as its view shows them. The sensitivities are proved for this sum. Sessions call Sum, which
// has to return the same integers; its tests compare the two.
//
// Sums are taken modulo 2^64. Should a table ever be so long that a sum wraps, the answer is the
// true noisy answer reduced modulo 2^64: post-processing, so privacy holds and no data-dependent
// error is needed.
func PlainSum(e Engine, t *Table, q query.Sum) []int64 {
	source := Source(t)
	if p, ok := q.(query.Partial); ok {
		if source = (Seen{Table: t, Fill: p.Fill}); p.As == query.Presence {
			source = Present{Table: t}
		}
	}
	return e.Scan(source, query.Summed{Of: q}).(*query.Total).Sum
}

// Categories returns the sum of the row vectors of q, the one query that sees a table's codes
// beside its numbers.
func Categories(e Engine, t *Table, q query.CategoryCounts) []int64 {
	return e.Scan(Mixed{Table: t}, query.Summed{Of: query.CategoryMap{Of: q}}).(*query.Total).Sum
}
