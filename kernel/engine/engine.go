// Package engine says what a machine for exact aggregates must offer; each has a folder of its own.
package engine

import (
	"github.com/gauze-dp/gauze/kernel/internal/rows"
	"github.com/gauze-dp/gauze/kernel/query"
)

// An Engine computes exact aggregates over a table, without noise. All engines give the same integers, bit for bit.
type Engine interface {
	Sum(*rows.Table, query.Sum) []int64
	SumPairs(*rows.Table, query.PairSum, [][2]int) []int64
	Keys(*rows.Table, query.CellKeys) []map[float64]int64
}
