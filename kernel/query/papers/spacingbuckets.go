package papers

import (
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// SpacingBuckets asks for the histogram of the gaps between consecutive values of one column:
// bucket (a, b) counts the gaps g with 2^a <= g < 2^(a+1) at values x, the lower end, with
// floor(x/(N^2 2^a)) = b, N = Rows. Equal values have no gap between them; null rows are no values;
// |x| > 2^900 counts as 2^900 and |x| < 2^-900 as 0.
//
// Privacy. A gap adds 1 to one count. One row less takes away two gaps and makes one, or takes away
// one (an end), or none (an equal value is left): the counts change by at most 3 in L1. Hence the
// L1 sensitivity is 3 under add-or-remove-one and 6 under replace-one, which is attained, whatever
// function of x and g the bucket is; the arithmetic matters to utility only. N is public or
// released, never n itself where n is private. Caller must ensure: nothing.
//
// Source: [AMN24] Algorithm 3 (its buckets); Lemma F.5.
type SpacingBuckets struct {
	Column int
	Rows   int // N, in [1, 2^31)
}

// Kind returns "gap buckets".
func (SpacingBuckets) Kind() string { return "gap buckets" }

// Validate returns an error if the column or the number of rows cannot be used.
func (q SpacingBuckets) Validate(d int) error {
	if q.Rows < 1 || int64(q.Rows) >= 1<<31 {
		return fmt.Errorf("query: SpacingBuckets.Rows: want a number in [1, 2^31), got %d", q.Rows)
	}
	return query.ValidColumn("SpacingBuckets", q.Column, d)
}

// L1 returns the L1 sensitivity of all counts, 6 or 3.
func (SpacingBuckets) L1(r privacy.Relation) float64 {
	if r == privacy.AddRemoveOne {
		return 3
	}
	return 6
}

// Of returns the zero Partition and the column.
func (q SpacingBuckets) Of() (query.Partition, int) { return query.Partition{}, q.Column }

// Masses returns the counts that are not zero.
func (q SpacingBuckets) Masses(leaf int, sorted []float64) []query.SpacingMass {
	var all query.SpacingScales
	n2 := int64(q.Rows) * int64(q.Rows)
	query.EachSpacing(sorted, func(x, g float64) {
		_, e := math.Frexp(g)
		at := int64(math.Floor(math.Ldexp(x, 1-e))) // exact, and below 2^54: |x| <= 2^53 g
		place := at / n2
		if at%n2 < 0 {
			place--
		}
		all.Add(e-1, place, 0, 1)
	})
	return all.Masses(leaf)
}

// Bucket returns the range [low, high) that holds the gaps of bucket (scale, place), and the least
// length of these gaps, up to rounding.
func (q SpacingBuckets) Bucket(scale int, place int64) (gap, low, high float64) {
	n2 := float64(q.Rows) * float64(q.Rows)
	return math.Ldexp(1, scale), math.Ldexp(float64(place)*n2, scale), math.Ldexp(float64(place+1)*n2, scale)
}
