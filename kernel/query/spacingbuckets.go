package query

import "math"

// A SpacingQuery makes buckets with integer masses from the sorted values of one column of the rows
// of each leaf.
type SpacingQuery interface {
	Of() (p Partition, column int)
	// Masses returns the buckets of one leaf that are not empty, by scale and place, given the
	// values of its good rows in order.
	Masses(leaf int, sorted []float64) []SpacingMass
}

// A SpacingMass is a bucket of gaps that is not empty.
type SpacingMass struct {
	Leaf, Scale int
	Place, Mass int64 // Mass > 0
}

// EachSpacing calls visit with the lower end and the size of every gap between consecutive
// different values, in order. Within the sizes that it lets through no difference overflows or
// underflows, so rounding keeps order: a gap is never below the distance of neighbouring numbers
// there.
func EachSpacing(sorted []float64, visit func(x, g float64)) {
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

// SpacingScales collects masses scale by scale. Invariant: within a scale, places never decrease,
// as values come in order, so only the masses of two places, at-1 and at, can still grow.
type SpacingScales [2048]*gapScale // Exponents of numbers are in [-1074, 1024).

type gapScale struct {
	at           int64
	before, here int64
	done         []SpacingMass
}

// Add adds to the masses of the places at-1 and at.
func (a *SpacingScales) Add(scale int, at, before, here int64) {
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

// close finishes the places before at.
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
		s.done = append(s.done, SpacingMass{Scale: scale, Place: place, Mass: mass})
	}
}

// Masses returns the collected masses, and ends the collection.
func (a *SpacingScales) Masses(leaf int) (all []SpacingMass) {
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
