package engine

import (
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parallel"
)

// SumPairs returns the sum of the query's vectors over the given pairs of row numbers.
func SumPairs(e Engine, t *Table, q query.PairSum, pairs [][2]int32) []int64 {
	return e.Scan(Pairs{Table: t, Of: pairs}, query.Summed{Of: q}).(*query.Total).Sum
}

// Leaves returns the leaf of every row, -1 for rows in none; the zero Partition has one leaf with
// all good rows.
func Leaves(e Engine, t *Table, p query.Partition) []int32 {
	leaves := make([]int32, t.Len())
	e.Scan(t, query.Placing{Partition: p, Column: -1, Leaf: leaves})
	return leaves
}

// EachSorted calls use once for every leaf, for several leaves at the same time, with the sorted
// values of a column of its rows. The table remembers them: see Sum. The caller gives up p.
func EachSorted(e Engine, t *Table, p query.Partition, column int, use func(leaf int, sorted []float64)) {
	sorted := t.Recall(Sorted{Cut: p.Cut(), Column: column}, func() (any, bool) {
		values, at := make([][]float64, p.Leaves()), query.Placing{Partition: p, Column: column, Leaf: make([]int32, t.Len()), Value: make([]float64, t.Len())}
		all := e.Scan(t, at).(*query.Places).Read == t.Len()
		if len(values) == 1 {
			values[0] = at.Value[:0] // in place: a value is written no later than it is read
		}
		for i, leaf := range at.Leaf {
			if leaf >= 0 {
				values[leaf] = append(values[leaf], at.Value[i])
			}
		}
		parallel.Run(len(values), func(leaf int) { SortFloats(values[leaf]) })
		return values, all
	}).([][]float64)
	parallel.Run(len(sorted), func(leaf int) { use(leaf, sorted[leaf]) })
}
