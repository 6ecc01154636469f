package sharded

import (
	"slices"

	"github.com/gauze-dp/gauze/kernel/query"
)

// Places is what says the leaves of rows: see rings.Places.
type places interface{ Put(leaf []int32) (all bool) }

// placed are the leaves of all rows of a table.
type placed struct {
	query.Accumulator // of the rows that no worker can read
	leaf              []int32
}

// Put writes the leaf of every row.
func (p placed) Put(leaf []int32) (all bool) { return copy(leaf, p.leaf) == len(leaf) }

// mergeLeaves puts the leaves that workers say beside those of the rows here, false if they are not
// of all rows, or no leaves.
func mergeLeaves(n int, here query.Accumulator, answers []*answer, l *layout) (query.Accumulator, bool) {
	all := placed{here, make([]int32, l.rows)}
	here.(places).Put(all.leaf)
	for i, a := range answers {
		own := a.Leaves
		for _, c := range l.own[i].Chunks {
			if len(own) < c.Rows {
				return nil, false
			}
			copy(all.leaf[c.First:], own[:c.Rows])
			own = own[c.Rows:]
		}
		if len(own) > 0 {
			return nil, false
		}
	}
	odd := slices.ContainsFunc(all.leaf, func(leaf int32) bool { return leaf < -1 || leaf >= int32(n) })
	return all, !odd
}
