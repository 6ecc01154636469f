// Package l1 has the L1 sensitivities of counts: what Laplace noise is measured by. Only the
// algorithms that papers print ask for it.
package l1

import (
	"math"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/kernel/query/boxes"
	"github.com/gauze-dp/gauze/kernel/query/rings"
)

// Of is the L1 sensitivity of the answer, in integer units; all weights and units are 1. It is +Inf
// for queries that are not counts, and Parts of these.
//
//   - Count: 1 under both relations, as it is one count.
//   - Counts: the number of counts that a row can change times by how much, see query.Counts.
//   - CellCounts: 2 or 1, as a row is in at most one of the cells counted.
//   - Parts: A under add-or-remove-one and max(A, B, 2A) under replace-one, 2A only if there are
//     two leaves, where A and B are the largest of the leaf's queries' own under add-or-remove-one
//     and replace-one. As in the comment of rings.Parts: a row that moves between two leaves
//     changes the answers of both by at most A each, in different places; one that stays in its
//     leaf changes it by at most B; one that enters or leaves all leaves by at most A.
func Of(q query.Sum, r privacy.Relation) float64 {
	switch q := q.(type) {
	case query.Count:
		return 1
	case query.Counts:
		counts, by := q.Changes(r)
		return by * counts
	case rings.CellCounts:
		return OneBin(r)
	case rings.Parts:
		a, b := 0.0, 0.0
		for _, part := range q.Queries {
			a, b = max(a, Of(part, privacy.AddRemoveOne)), max(b, Of(part, privacy.ReplaceOne))
		}
		if r == privacy.AddRemoveOne {
			return a
		}
		if len(q.Queries) > 1 {
			a *= 2
		}
		return max(a, b)
	}
	return math.Inf(1)
}

// OneBin is the L1 sensitivity of counts of which each row enters at most one: 2 under replace-one,
// where it leaves one for another, 1 under add-or-remove-one.
func OneBin(r privacy.Relation) float64 {
	if r == privacy.AddRemoveOne {
		return 1
	}
	return 2
}

// OfBoxes is 2J or J: a row is in one cell of each of the J histograms.
func OfBoxes(q boxes.BoxKeys, r privacy.Relation) float64 {
	return OneBin(r) * float64(q.Histograms())
}
