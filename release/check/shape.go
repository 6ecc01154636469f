package check

import (
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// A Shape is what the sensitivity of a query depends on, beside its kind, the law of the noise and
// the relation: public numbers, all of them.
type Shape struct {
	// The leaves of the partition, for a query in parts and for a selection.
	Parts int `json:"parts,omitempty"`
	// How many lists of edges a row is in a bin of (histograms), how many edges it may be above of
	// (column and tail counts), how many columns (pair octaves, category counts) or histograms
	// (stability histograms) there are, t (of balls and their radii), how far popular numbers are
	// apart, or the form of clipped moments: 1 full, 2 diagonal, 3 spherical, 4 completed.
	Of int `json:"of,omitempty"`
	// By how much replacing a row can change one count, if not by 1: 2 for the balance of an edge,
	// of how many are not above it and how many are.
	By int `json:"by,omitempty"`
	// How many numbers were answered, where sums have Laplace noise.
	Numbers int `json:"numbers,omitempty"`
	// The estimates of every block, if there are several: so many rows of the table that is asked
	// one row of the protected one can change.
	Estimates int `json:"estimates,omitempty"`
	// What an integer of the answer stands for; 0 means 1. Privacy does not depend on it:
	// sensitivity and noise are both in it.
	Unit float64 `json:"unit,omitempty"`
}

// Of is the Shape of a query that a session has asked, for kernel.Terms: group is how many rows of
// the table one row of the protected table can change. Its Numbers are for Laplace noise alone.
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
		s.Of = len(q.Values)
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
