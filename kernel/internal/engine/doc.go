// Package engine holds the raw rows of a protected table, and computes exact aggregates over them,
// without noise.
//
// Only packages below kernel can import it: that is how the compiler keeps every other package from
// ever reading a row.
//
// An [Engine] reads the rows: [Local], on the cores of this machine, or the one of package
// kernel/sharded. [PlainSum] scans the rows for each query; the proofs are about it. [Sum] returns
// the same integers sooner; tests compare both for hostile tables and any order of queries.
// [Leaves], [EachSorted] and [SumPairs] read the rows leaf by leaf, and by pairs.
package engine
