package sharded

import (
	"slices"

	"github.com/gauze-dp/gauze/kernel/query"
)

// placing returns the scan that writes the leaves and values of a shard's rows, with room for them.
func placing(q query.Placing, rows int) query.Scan {
	q.Leaf = make([]int32, rows)
	if q.Column >= 0 {
		q.Value = make([]float64, rows)
	}
	return q
}

// placed adds the workers' leaves and values to those of the rows here. It returns false if they do
// not cover all rows, or are no leaves.
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
