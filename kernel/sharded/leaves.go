package sharded

import (
	"slices"

	"github.com/gauze-dp/gauze/kernel/query"
)

// placing is what a worker writes the leaves and values of a shard's rows to.
func placing(q query.Placing, rows int) query.Scan {
	q.Leaf = make([]int32, rows)
	if q.Column >= 0 {
		q.Value = make([]float64, rows)
	}
	return q
}

// placed puts what workers say beside the leaves and values of the rows here, false if it is not of
// all rows, or no leaves.
func placed(here *query.Places, answers []*answer, l *layout) bool {
	leaves := int32(here.Partition.Leaves())
	for i, a := range answers {
		n := l.own[i].rows()
		values := n
		if here.Column < 0 {
			values = 0
		}
		odd := func(leaf int32) bool { return leaf < -1 || leaf >= leaves }
		if len(a.Leaves) != n || len(a.Values) != values || slices.ContainsFunc(a.Leaves, odd) {
			return false
		}
		at := 0
		for _, c := range l.own[i].Chunks {
			copy(here.Leaf[c.First:], a.Leaves[at:at+c.Rows])
			if here.Column >= 0 {
				copy(here.Value[c.First:], a.Values[at:at+c.Rows])
			}
			at += c.Rows
		}
		here.Read += n
	}
	return true
}
