package kernel

import (
	"github.com/gauze-dp/gauze/kernel/internal/core"
	"github.com/gauze-dp/gauze/kernel/internal/engine"
	"github.com/gauze-dp/gauze/kernel/internal/noise"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// SumPairs measures q over fresh secret pairs of rows with privacy loss mu: mu-GDP.
//
// Theorem: as for SubBudget.Sum, given the draws of the pairs; query.Pairs proves that, given them,
// one row changes the answer by at most q.Sensitivity, and that the draws, which are never
// released, do not weaken this.
func SumPairs(a *core.SubBudget, step string, q query.Pairs, mu float64) (core.Answer, error) {
	return core.Gaussian(a, step, q, mu, ExactPairs)
}

// ExactPairs draws the pairs and returns the answer of a valid q before noise.
func ExactPairs(d *core.Draw, q query.Pairs) (sums []int64) {
	t := d.Rows()
	in := func() []int32 { return engine.Leaves(d.Engine(), t, q.Partition) }
	for leaf, pairs := range drawPairs(d.Source(), d.Relation(), q, t.Len(), in) {
		sums = append(sums, engine.SumPairs(d.Engine(), t, q.Queries[leaf], pairs)...)
	}
	return sums
}

// drawPairs draws disjoint secret pairs of row numbers for every leaf, given the leaf of every row.
// It does not call leaves where all n rows are paired whatever they hold. query.Pairs states how
// pairs are drawn, and why one row changes at most one pair of a leaf.
func drawPairs(src noise.Source, r privacy.Relation, q query.Pairs, n int, leaves func() []int32) [][][2]int32 {
	if r == privacy.ReplaceOne && q.Partition.Whole() {
		return [][][2]int32{drawMatching(src, n)}
	}
	return drawBuckets(src, leaves(), q.Buckets)
}

// drawMatching draws a uniformly random perfect matching of n rows, less one of them, uniformly
// random too, if n is odd: whatever has been drawn, the partner of one row that is left is as
// likely any of the others. (That row is the last one, so that most are read in their order.)
func drawMatching(src noise.Source, n int) [][2]int32 {
	pairs := make([][2]int32, (n+1)/2)
	row := func(i int) *int32 { return &pairs[i/2][i%2] }
	for i := range n {
		*row(i) = int32(i)
	}
	for i := (n - 1) &^ 1; i > 0; i -= 2 { // the row at i+1, if there is one, stays in place
		a, b := row(i), row(int(noise.Uniform(src, uint64(i+1))))
		*a, *b = *b, *a
	}
	return pairs[:n/2]
}

// drawBuckets draws a bucket of its leaf and a tag for every row that is in a leaf, and pairs the
// two rows of smallest tag in each bucket. (Of rows with equal tags, which hardly ever happens, the
// first in the table counts as smaller, and still one row more changes one pair: the order of the
// common rows is the same on both sides.)
//
// The number of buckets may be mostly noise, and memory follows the rows: a leaf has room for twice
// as many buckets as it has rows, in which a bucket stands at its number or, where there are more
// buckets than room, at the next free place.
func drawBuckets(src noise.Source, leaves []int32, buckets []int) [][][2]int32 {
	type entry struct{ row, tag uint64 } // of row row-1, or of none
	type bucket struct {
		first, second entry
		number        uint64
	}
	filled, rows, pairs := make([][]bucket, len(buckets)), make([]int, len(buckets)), make([][][2]int32, len(buckets))
	for _, l := range leaves {
		if l >= 0 {
			rows[l]++
		}
	}
	for l, n := range buckets {
		filled[l] = make([]bucket, min(n, 2*rows[l]))
	}
	for i, l := range leaves {
		if l < 0 {
			continue
		}
		in, number := filled[l], noise.Uniform(src, uint64(buckets[l]))
		at := number % uint64(len(in))
		for in[at].first.row > 0 && in[at].number != number {
			at = (at + 1) % uint64(len(in))
		}
		b, e := &in[at], entry{uint64(i) + 1, noise.Tag(src)}
		b.number = number
		if b.first.row == 0 || e.tag < b.first.tag {
			b.first, e = e, b.first
		}
		if e.row > 0 && (b.second.row == 0 || e.tag < b.second.tag) {
			b.second = e
		}
	}
	for l := range filled {
		for _, b := range filled[l] {
			if b.second.row > 0 {
				pairs[l] = append(pairs[l], [2]int32{int32(b.first.row) - 1, int32(b.second.row) - 1})
			}
		}
	}
	return pairs
}
