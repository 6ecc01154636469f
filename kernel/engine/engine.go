// Package engine says what a machine for exact aggregates must offer; each has a folder of its own.
package engine

import (
	"github.com/gauze-dp/gauze/kernel/internal/rows"
	"github.com/gauze-dp/gauze/kernel/query"
)

// An Engine computes exact aggregates over a table, without noise. All engines give the same
// integers, bit for bit.
type Engine interface {
	Sum(*rows.Table, query.Sum) []int64
	// SumPairs sums over pairs of row numbers.
	SumPairs(*rows.Table, query.PairSum, [][2]int) []int64
	// Leaves returns the leaf of every row, -1 for rows in none; the zero Partition has one leaf
	// with all good rows.
	Leaves(*rows.Table, query.Partition) []int
	// Boxes counts the cells that are not empty, one map per histogram: those of the first leaf,
	// then those of the second, ..
	Boxes(*rows.Table, query.BoxKeys) []map[query.Box]int64
	// Gaps returns the buckets that are not empty, by leaf, scale and place.
	Gaps(*rows.Table, query.GapQuery) []query.GapMass
	// Gather returns, for every leaf of the selection, copies of the rows in it whose number is in
	// kept (nil: all), row-major.
	Gather(t *rows.Table, q query.Selection, kept []bool) [][]float64
}
