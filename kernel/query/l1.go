package query

import (
	"math"

	"github.com/gauze-dp/gauze/kernel/privacy"
)

// An L1Sum is a Sum of counts that states its L1 sensitivity too: what Laplace noise is measured
// by. All weights and units are 1.
type L1Sum interface {
	Sum
	// L1 is the L1 sensitivity of the answer, in integer units; +Inf for Parts of queries that
	// state none.
	L1(privacy.Relation) float64
}

// oneBin is the L1 sensitivity of counts of which each row enters at most one: 2 under replace-one,
// where it leaves one for another, 1 under add-or-remove-one.
func oneBin(r privacy.Relation) float64 {
	if r == privacy.AddRemoveOne {
		return 1
	}
	return 2
}

// L1 is 1 under both relations: it is one count.
func (Count) L1(privacy.Relation) float64 { return 1 }

// L1 is 2 or 1: a row is in at most one of the cells counted.
func (CellCounts) L1(r privacy.Relation) float64 { return oneBin(r) }

// L1 is A under add-or-remove-one and max(A, B, 2A) under replace-one, 2A only if there are two
// leaves, where A and B are the leaf's queries' own under add-or-remove-one and replace-one. As in
// the type's comment: a row that moves between two leaves changes the answers of both by at most A
// each, in different places; one that stays in its leaf changes it by at most B; one that enters or
// leaves all leaves by at most A.
func (q Parts) L1(r privacy.Relation) float64 {
	a, b := 0.0, 0.0
	for _, part := range q.Queries {
		p, ok := part.(L1Sum)
		if !ok {
			return math.Inf(1)
		}
		a, b = max(a, p.L1(privacy.AddRemoveOne)), max(b, p.L1(privacy.ReplaceOne))
	}
	if r == privacy.AddRemoveOne {
		return a
	}
	if len(q.Queries) > 1 {
		a *= 2
	}
	return max(a, b)
}
