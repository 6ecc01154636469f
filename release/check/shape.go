package check

import (
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// A Shape holds the public numbers that the sensitivity of a query depends on, besides its kind,
// the law of the noise and the relation.
type Shape struct {
	// The number of leaves of the partition, for a query in parts and for a selection.
	Parts int `json:"parts,omitempty"`
	// The number of lists of edges (histograms: a row is in a bin of each), of edges (column and
	// tail counts), of columns (pair octaves, category values, and category counts, or of pairs of
	// columns) or of histograms (stability histograms); t (of balls and their radii); the reach of
	// popular numbers; or the form of clipped moments (1 full, 2 diagonal, 3 spherical,
	// 4 completed and 5 of columns).
	Of int `json:"of,omitempty"`
	// By how much replacing a row can change one count, if not by 1: 2 for the balance of an edge,
	// the rows not above it minus those above.
	By int `json:"by,omitempty"`
	// The length of the answer, where sums have Laplace noise.
	Numbers int `json:"numbers,omitempty"`
	// The number of estimates of every block, if there are several: one row of the protected table
	// can change this many rows of the table of estimates.
	Estimates int `json:"estimates,omitempty"`
	// The quantity that an integer of the answer stands for; 0 means 1. Privacy does not depend on
	// it: sensitivity and noise both contain it.
	Unit float64 `json:"unit,omitempty"`
}

// Of returns the Shape of a session's query, for kernel.Terms: group is how many rows of the
// session's table one row of the protected table can change. Numbers matters for Laplace noise
// only.
func Of(q any, group int) any {
	s := of(q)
	if sums, ok := q.(interface{ Size() int }); ok {
		s.Numbers = sums.Size()
	}
	if group > 1 {
		s.Estimates = group
	}
	return s
}

func of(q any) (s Shape) {
	switch q := q.(type) {
	case query.Partial:
		return of(q.Sum)
	case query.Counts:
		counts, _ := q.Changes(privacy.AddRemoveOne)
		s.Of = int(counts)
		if q.As == query.Balance {
			s.By = 2
		}
	case query.ClippedMoments:
		s.Of = int(q.Form)
	case query.CategoryCounts:
		s.Of = q.Lists()
	case query.Parts:
		s = of(q.Queries[0])
		s.Parts = len(q.Queries)
	case query.Pairs:
		if s = of(q.Queries[0]); !q.Partition.Whole() {
			s.Parts = len(q.Queries)
		}
	case query.PairOctaves:
		s.Of = q.Columns
	case interface{ Histograms() int }:
		s.Of = q.Histograms()
	case interface{ Covers() int64 }:
		s.Of = int(q.Covers())
	case selection:
		s.Parts = q.Leaves()
		for leaf := range s.Parts { // 2t - 1, which is 1 for scores without t
			s.Of = max(s.Of, int(q.Sensitivity(privacy.AddRemoveOne, leaf)+1)/2)
		}
	}
	if unit, ok := q.(interface{ Unit() float64 }); ok {
		s.Unit = unit.Unit()
	}
	return s
}

// A selection is a query that chooses in every leaf.
type selection interface {
	Leaves() int
	Sensitivity(r privacy.Relation, leaf int) int64
}
