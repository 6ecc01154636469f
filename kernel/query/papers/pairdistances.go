package papers

import (
	"errors"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// PairDistances asks for the histogram of |W(x-y)| of pairs over a finite, fixed list of bins: bin
// b holds the pairs with Edges[b-1] <= |W(x-y)| < Edges[b]; the last bin is unbounded and holds
// pairs whose image overflows as well.
//
// Answer: len(Edges)+1 counts.
// Privacy: a pair is in one bin: PairSensitivity sqrt2. All bins are noised, so no delta is spent.
//
// Source: [KSSU19] Section C.1 (stage A) of the restatement.
type PairDistances struct {
	Map   query.Affine // its Center does not matter
	Edges []float64    // increasing
}

// Kind returns "pair distances".
func (PairDistances) Kind() string { return "pair distances" }

// counts returns the same query, asked of differences.
func (q PairDistances) counts(d int) query.Counts {
	return query.Counts{Map: linear(q.Map, d), Edges: [][]float64{q.Edges}}
}

// Validate returns an error if the frame or the edges cannot be used. (Counts without a frame are
// of columns.)
func (q PairDistances) Validate(d int) error {
	return errors.Join(linear(q.Map, d).Validate(d), q.counts(d).Validate(d))
}

// Size returns the number of bins.
func (q PairDistances) Size() int { return len(q.Edges) + 1 }

// PairSensitivity returns sqrt2.
func (PairDistances) PairSensitivity() float64 { return query.ReplaceFactor(privacy.ReplaceOne) }

// Weight returns 1.
func (PairDistances) Weight(int) float64 { return 1 }

// Unit returns 1.
func (PairDistances) Unit() float64 { return 1 }

// Compile returns the map of differences.
func (q PairDistances) Compile(d int) query.RowMap { return q.counts(d).Compile(d) }

// linear returns the map W x of a table of d columns, without a centre.
func linear(a query.Affine, d int) query.Affine {
	if a.Columns != nil {
		d = len(a.Columns)
	}
	a.Center = make([]float64, d)
	return a
}
