package rings

import (
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// A GapQuery makes buckets with integer masses from the sorted values of one column of the rows of
// each leaf.
type GapQuery interface {
	Of() (p Partition, column int)
	// Masses returns the buckets of one leaf that are not empty, by scale and place, given the
	// values of its good rows in order.
	Masses(leaf int, sorted []float64) []GapMass
}

// A GapMass is a bucket of gaps that is not empty.
type GapMass struct {
	Leaf, Scale int
	Place, Mass int64 // Mass > 0
}

// GapBuckets asks for the histogram of the gaps between consecutive values of one column: bucket
// (a, b) counts the gaps g with 2^a <= g < 2^(a+1) at values x, the lower end, with floor(x/(N^2
// 2^a)) = b, N = Rows. Equal values have no gap between them; null rows are no values; |x| > 2^900
// counts as 2^900 and |x| < 2^-900 as 0.
//
// Privacy. A gap adds 1 to one count. One row less takes away two gaps and makes one, or takes away
// one (an end), or none (an equal value is left): the counts change by at most 3 in L1. Hence the
// L1 sensitivity is 3 under add-or-remove-one and 6 under replace-one, which is attained, whatever
// function of x and g the bucket is; the arithmetic matters to utility only. N is public or
// released, never n itself where n is private. Caller must ensure: nothing.
//
// Source: [AMN24] Algorithm 3 (its buckets); Lemma F.5.
type GapBuckets struct {
	Column int
	Rows   int // N, in [1, 2^31)
}

// Kind is "gap buckets".
func (GapBuckets) Kind() string { return "gap buckets" }

// Validate reports a column or a number of rows that cannot be used.
func (q GapBuckets) Validate(d int) error {
	if q.Rows < 1 || q.Rows >= 1<<31 {
		return fmt.Errorf("query: GapBuckets.Rows: want a number in [1, 2^31), got %d", q.Rows)
	}
	return validColumn("GapBuckets", q.Column, d)
}

// L1 is the L1 sensitivity of all counts, 6 or 3.
func (GapBuckets) L1(r privacy.Relation) float64 { return 3 * query.OneBin(r) }

// Of is the zero Partition and the column.
func (q GapBuckets) Of() (Partition, int) { return Partition{}, q.Column }

// Masses returns the counts that are not zero.
func (q GapBuckets) Masses(leaf int, sorted []float64) []GapMass {
	var all gapScales
	n2 := int64(q.Rows) * int64(q.Rows)
	eachGap(sorted, func(x, g float64) {
		_, e := math.Frexp(g)
		at := int64(math.Floor(math.Ldexp(x, 1-e))) // exact, and below 2^54: |x| <= 2^53 g
		place := at / n2
		if at%n2 < 0 {
			place--
		}
		all.add(e-1, place, 0, 1)
	})
	return all.masses(leaf)
}

// Bucket is where the gaps of bucket (scale, place) lie, [low, high), and the least length they
// have, up to rounding.
func (q GapBuckets) Bucket(scale int, place int64) (gap, low, high float64) {
	n2 := float64(q.Rows) * float64(q.Rows)
	return math.Ldexp(1, scale), math.Ldexp(float64(place)*n2, scale), math.Ldexp(float64(place+1)*n2, scale)
}

// eachGap visits the gaps between consecutive values that differ, in order, and their lower ends.
// Of the sizes that it lets through no difference overflows or underflows; so rounding keeps order:
// a gap is never below the distance of neighbouring numbers there.
func eachGap(sorted []float64, visit func(x, g float64)) {
	const least, most = 0x1p-900, 0x1p900
	var last float64
	for i, x := range sorted {
		if x > -least && x < least {
			x = 0
		}
		x = max(-most, min(most, x))
		if i > 0 && x > last {
			visit(last, x-last)
		}
		last = x
	}
}

// gapScales collects masses scale by scale. Invariant: within a scale, places never decrease, as
// values come in order, so only the masses of two places, at-1 and at, can still grow.
type gapScales [2048]*gapScale // Exponents of numbers are in [-1074, 1024).

type gapScale struct {
	at           int64
	before, here int64
	done         []GapMass
}

func (a *gapScales) add(scale int, at, before, here int64) {
	slot := &a[scale+len(a)/2]
	if *slot == nil {
		*slot = &gapScale{at: at}
	}
	s := *slot
	if at != s.at {
		s.close(scale, at)
	}
	s.before += before
	s.here += here
}

// close moves on to a later place.
func (s *gapScale) close(scale int, at int64) {
	s.put(scale, s.at-1, s.before)
	if s.before = s.here; at > s.at+1 {
		s.put(scale, s.at, s.here)
		s.before = 0
	}
	s.at, s.here = at, 0
}

func (s *gapScale) put(scale int, place, mass int64) {
	if mass > 0 {
		s.done = append(s.done, GapMass{Scale: scale, Place: place, Mass: mass})
	}
}

// masses ends the collection.
func (a *gapScales) masses(leaf int) (all []GapMass) {
	for i, s := range a {
		if s == nil {
			continue
		}
		s.close(i-len(a)/2, math.MaxInt64)
		for _, m := range s.done {
			m.Leaf = leaf
			all = append(all, m)
		}
	}
	return all
}
