package local

import (
	"github.com/gauze-dp/gauze/kernel/internal/rows"
	"github.com/gauze-dp/gauze/kernel/query"
)

// ofSorted counts the bins of a single column that has been sorted already: the same integers as a
// scan, at once. Otherwise it returns nil.
func ofSorted(t *rows.Table, q query.Sum) []int64 {
	if bins, ok := q.(query.BinCounts); ok {
		if column, one := bins.OneColumn(); one {
			if sorted := t.IfSorted(column); sorted != nil {
				return bins.OfSorted(sorted)
			}
		}
	}
	return nil
}

// Gaps returns the buckets that are not empty, by leaf, scale and place.
func (e Engine) Gaps(t *rows.Table, q query.GapQuery) (masses []query.GapMass) {
	p, column := q.Of()
	if p.Regions == nil && p.Components == nil { // the zero Partition
		return q.Masses(0, t.Sorted(column))
	}
	values := make([][]float64, p.Leaves())
	for i, leaf := range e.Leaves(t, p) {
		if leaf >= 0 {
			values[leaf] = append(values[leaf], t.Row(i)[column])
		}
	}
	own := make([][]query.GapMass, len(values))
	e.share(len(values), func() (func(int), func()) {
		return func(leaf int) {
			rows.Sort(values[leaf])
			own[leaf] = q.Masses(leaf, values[leaf])
		}, func() {}
	})
	for _, m := range own {
		masses = append(masses, m...)
	}
	return masses
}
