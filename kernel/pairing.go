package kernel

import (
	"github.com/gauze-dp/gauze/kernel/internal/noise"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// drawPairs draws disjoint secret pairs of row numbers.
//
// Replace-one (n public): a uniformly random permutation, cut into consecutive pairs. The permutation is independent of the
// rows, so for each value of it one replaced row changes the content of one pair.
//
// Add-or-remove-one (n private): every row draws, by itself, a uniform bucket in [0, buckets) and a uniform 64-bit tag; the two
// rows of smallest tag in a bucket are its pair. Given the draws of the common rows, one more row changes one bucket's pair.
// buckets is public or released.
//
// In both cases the draws are never released; a mixture over equal draws keeps GDP because trade-off functions are convex.
//
// Source: [KSSU19] Section A.3 of the restatement.
func drawPairs(src noise.Source, r privacy.Relation, n, buckets int) [][2]int {
	if r == privacy.ReplaceOne {
		order := make([]int, n)
		for i := range order {
			order[i] = i
		}
		for i := n - 1; i > 0; i-- {
			j := int(noise.Uniform(src, uint64(i+1)))
			order[i], order[j] = order[j], order[i]
		}
		pairs := make([][2]int, n/2)
		for i := range pairs {
			pairs[i] = [2]int{order[2*i], order[2*i+1]}
		}
		return pairs
	}
	type entry struct {
		row int
		tag uint64
	}
	first, second := make([]entry, buckets), make([]entry, buckets)
	for b := range first {
		first[b].row, second[b].row = -1, -1
	}
	for i := range n {
		b := noise.Uniform(src, uint64(buckets))
		e := entry{i, noise.Tag(src)}
		if first[b].row < 0 || e.tag < first[b].tag {
			first[b], e = e, first[b]
		}
		if e.row >= 0 && (second[b].row < 0 || e.tag < second[b].tag) {
			second[b] = e
		}
	}
	var pairs [][2]int
	for b := range first {
		if second[b].row >= 0 {
			pairs = append(pairs, [2]int{first[b].row, second[b].row})
		}
	}
	return pairs
}
