// Package papers holds the queries that only algorithms as printed in papers ask: scores, which
// rate lists of options by the rows and by which kernel/pure selects; second moments, spreads and
// distances of pairs; and spacing histograms whose buckets do not overlap.
package papers

import (
	"fmt"
	"reflect"

	"github.com/gauze-dp/gauze/kernel/internal/rowkernels"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// A Score rates a finite, public list of options by an integer computed from the rows of one leaf.
// The exponential mechanism and the sparse vector technique select by it.
//
// Every score of this package first maps each row by itself to its image and drops null rows and
// rows whose image is not finite. So one row replaced is one image replaced, added or removed, and
// Sensitivity under replace-one covers all three.
type Score interface {
	// Kind returns the score's name; for plans see SelectionOf.
	Kind() string
	// Validate returns an error if the score cannot be computed from a table of d columns; it sees
	// no data.
	Validate(d int) error
	// Options returns the number of options, at least 1.
	Options() int
	// Sensitivity returns the most that one row of the leaf can change the score of any one option,
	// in integer units, at least 1: by being replaced in the leaf, or by being added to it or
	// removed.
	Sensitivity(privacy.Relation) int64
	// Scores returns the options' scores, each of magnitude below 2^60, from the row-major rows of
	// the leaf.
	Scores(rows []float64, d int) []int64
}

// A Selection asks every leaf of a partition, all at once, for one option of its own score,
// computed from the rows in the leaf alone.
//
// Privacy: see Sensitivity, and the kernel's Select and AboveThreshold. A row is kept with
// probability Keep by a coin of its own, fresh, secret and independent of all rows; rows that are
// not kept count as removed. The coins attach to rows, so under either relation the common rows of
// two neighbours have the same coins, and given all coins two neighbours stay neighbours or become
// equal. What holds for each outcome of the coins holds for their mixture: pure DP because ratios
// of averages lie between the ratios averaged, GDP because trade-off functions are convex. No
// amplification is claimed: Keep is there to save time.
//
// Caller must ensure: nothing.
//
// Source: [KSSU19] Sections A.3 and B.1 of the restatement.
type Selection struct {
	Partition query.Partition // the zero Partition: one leaf with all rows
	Scores    []Score         // one per leaf, by value, of one type; their fields may differ
	Keep      float64         // in (0, 1], to a multiple of 2^-63; 0 means 1, all rows
}

// Kind returns the kind of the scores, with "select: " before it.
func (q Selection) Kind() string {
	if len(q.Scores) == 0 || q.Scores[0] == nil {
		return SelectionOf("nothing")
	}
	return SelectionOf(q.Scores[0].Kind())
}

// SelectionOf returns the kind of a Selection whose scores have the given kind.
func SelectionOf(kind string) string { return "select: " + kind }

// Leaves returns the number of leaves.
func (q Selection) Leaves() int { return q.Partition.Leaves() }

// Validate returns an error if the partition or the scores cannot be used.
func (q Selection) Validate(d int) error {
	if err := q.Partition.OrWhole().Validate(d); err != nil {
		return err
	}
	if len(q.Scores) != q.Leaves() {
		return fmt.Errorf("query: Selection.Scores: want one score per leaf (%d), got %d", q.Leaves(), len(q.Scores))
	}
	options := 0
	for i, s := range q.Scores {
		if s == nil {
			return fmt.Errorf("query: Selection.Scores: want a score for every leaf, got none for leaf %d", i)
		}
		if reflect.TypeOf(s) != reflect.TypeOf(q.Scores[0]) {
			return fmt.Errorf("query: Selection.Scores: want one kind of score, got %q and %q", q.Scores[0].Kind(), s.Kind())
		}
		if err := s.Validate(d); err != nil {
			return err
		}
		options += s.Options()
	}
	if options > query.MaxCells {
		return fmt.Errorf("query: Selection: want at most %d options in all leaves, got %d", query.MaxCells, options)
	}
	if !(q.Keep >= 0 && q.Keep <= 1) {
		return fmt.Errorf("query: Selection.Keep: want a probability, got %v", q.Keep)
	}
	return nil
}

// Sensitivity returns an S such that, if leaf i's mechanism is e-DP for scores that change by at
// most S_i, for every i, all leaves together, with independent noise, are e-DP, provided that for
// scores that change by at most s <= S_i leaf i's mechanism is (e s/S_i)-DP.
//
// With A and B the score's own sensitivities under add-or-remove-one and replace-one:
//   - add-or-remove-one: one leaf changes, by at most A: S = A;
//   - replace-one, one leaf: a row of the leaf is replaced, or enters or leaves it: S = max(A, B);
//   - replace-one, more leaves: in one leaf a row is replaced, or enters, or leaves it: at most
//     max(A, B), a cost of at most e if S >= max(A, B); or the row moves from leaf i to leaf j: at
//     most A_i and A_j, a cost of e A_i/S_i + e A_j/S_j <= e/2 + e/2 if S >= 2A. Hence S = max(2A,
//     B).
func (q Selection) Sensitivity(r privacy.Relation, leaf int) int64 {
	a := q.Scores[leaf].Sensitivity(privacy.AddRemoveOne)
	if r == privacy.AddRemoveOne {
		return a
	}
	if len(q.Scores) > 1 {
		a *= 2
	}
	return max(a, q.Scores[leaf].Sensitivity(privacy.ReplaceOne))
}

// images maps rows by f and returns the finite images, row-major.
func images(f query.Affine, rows []float64, d int) (z []float64) {
	v := f.View(d)
	v.Each(rows, func(n int) {
	next:
		for r := range n {
			if v.Null(r) {
				continue
			}
			for i := range v.Z {
				if !rowkernels.Finite(v.Z[i][r]) {
					continue next
				}
			}
			for i := range v.Z {
				z = append(z, v.Z[i][r])
			}
		}
	})
	return z
}
