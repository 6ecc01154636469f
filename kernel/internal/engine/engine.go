package engine

import (
	"context"

	"github.com/gauze-dp/gauze/kernel/query"
)

// An Engine hands the pieces of a source to accumulators, each piece to one of them, in any order,
// and merges these. What they hold in the end must not depend on who got which piece, so all
// engines give the same answers, bit for bit.
type Engine interface {
	Scan(Source, query.Scan) query.Accumulator
}

// Until is e, but that it reads no further piece once ctx is done: what it answers then is of a
// part of the rows, and must be thrown away.
func Until(ctx context.Context, e Engine) Engine { return until{ctx, e} }

type until struct {
	ctx context.Context
	Engine
}

// Scan hands out empty pieces once the context is done.
func (u until) Scan(s Source, q query.Scan) query.Accumulator {
	return u.Engine.Scan(Stopping{s, u.ctx}, q)
}

// Stopping is a source whose pieces are empty once Context is done.
type Stopping struct {
	Source
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

// PlainSum returns the sum of the query's row vectors over all rows; those of a query.Partial are
// of rows as its view has them. This is what sensitivities are proved for. Production asks Sum,
// which has to return the same integers, and whose tests compare it with this.
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

// Categories is Sum of the one query that sees a table's codes beside its numbers.
func Categories(e Engine, t *Table, q query.CategoryCounts) []int64 {
	return e.Scan(Mixed{Table: t}, query.Summed{Of: query.CategoryMap{Of: q}}).(*query.Total).Sum
}
