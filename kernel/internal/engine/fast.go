package engine

import (
	"math/bits"
	"slices"

	"github.com/gauze-dp/gauze/kernel/query"
)

// Logarithms of the number of rank bins: at most 2^columnWidth of one column, so that one scan
// decides all octaves, and about 2^tableWidth of all columns, so that the counts stay in a
// processor's cache. Found by trial.
const columnWidth, tableWidth = 13, 17

// Sum returns PlainSum(e, t, q), by one of four short cuts where one applies:
//   - the bins of a column whose sorted values, in the same leaves, are known are counted there;
//   - the number of good rows is known to the table, which counted them as they came in;
//   - a histogram that is asked for twice, and the rank counts that give column counts, are kept
//     until others are asked for;
//   - for presence only the partial rows are scanned: all good rows have the same image, all ones,
//     and its vector is added once for each of them.
func Sum(e Engine, t *Table, q query.Sum) []int64 {
	if bins, ok := q.(histogram); ok {
		if cut, column, one := bins.Cut(); one {
			if sorted := t.Recall(Sorted{Cut: cut, Column: column}, nil); sorted != nil {
				return bins.OfSorted(sorted.([][]float64))
			}
		}
	}
	switch q := q.(type) {
	case query.Count:
		return []int64{int64(t.Good())}
	case query.Counts:
		switch q.Kind() {
		case query.Histogram:
			return slices.Clone(kept(e, t, q))
		case query.ColumnCounts:
			ranks := q.Ranks(max(1, min(columnWidth, tableWidth-bits.Len(uint(t.Columns())))))
			sum := make([]int64, q.Size())
			q.OfRanks(sum, ranks, kept(e, t, ranks))
			return sum
		}
	case query.Partial:
		if q.As == query.Presence {
			return ofPresence(e, t, q)
		}
	}
	return PlainSum(e, t, q)
}

// A histogram of one column, in all good rows or in leaves, can be computed from the sorted values.
type histogram interface {
	Cut() (cut any, column int, one bool)
	OfSorted(sorted [][]float64) []int64
}

// kept returns the scan's sum, from the table's memory if it is there. The caller must not change
// it.
func kept(e Engine, t *Table, of query.Mapped) []int64 {
	return t.Recall(of, func() (any, bool) {
		total := e.Scan(t, query.Summed{Of: of}).(*query.Total)
		return total.Sum, total.Read == t.Len()*t.Columns()
	}).([]int64)
}

// ofPresence scans the partial rows only.
func ofPresence(e Engine, t *Table, q query.Partial) []int64 {
	of := query.Summed{Of: q}
	one, sum := of.Start(t.Columns()).(*query.Total), e.Scan(Marks{Table: t}, of).(*query.Total).Sum
	one.Add(0, slices.Repeat([]float64{1}, t.Columns()))
	for i, v := range one.Sum {
		sum[i] += v * int64(t.Good())
	}
	return sum
}
