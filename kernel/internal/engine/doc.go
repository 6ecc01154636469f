// Package engine holds the raw rows of a protected table, and computes exact aggregates over them,
// without noise.
//
// Only packages below kernel can import it: that is how the compiler keeps every other package from
// ever reading a row.
//
// What reads the rows is an [Engine]: [Local], on the cores of this machine, or the one of package
// kernel/sharded. [PlainSum] scans the rows for each query, and is what the proofs are of. [Sum]
// returns the same sooner; it is trusted as the scan is, and tests compare both for hostile tables
// and any order of questions. [Leaves], [EachSorted] and [SumPairs] read the rows leaf by leaf, and
// by pairs.
package engine
