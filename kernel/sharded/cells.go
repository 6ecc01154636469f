package sharded

import (
	"maps"
	"slices"

	"github.com/gauze-dp/gauze/kernel/query"
)

// A histogram holds the cells of one that are not empty, in the order of their keys, so that equal
// maps have equal texts.
type histogram struct {
	Keys   []float64 // query.MostBoxColumns for each
	Counts []int64
}

func histogramsOf(counts []map[query.Box]int64) (all []histogram) {
	for _, own := range counts {
		var h histogram
		for _, box := range slices.SortedFunc(maps.Keys(own), func(x, y query.Box) int { return slices.Compare(x[:], y[:]) }) {
			h.Keys, h.Counts = append(h.Keys, box[:]...), append(h.Counts, own[box])
		}
		all = append(all, h)
	}
	return all
}

// counted adds the workers' counts to the cells of the rows here. It returns false if an answer
// does not have all histograms.
func counted(here *query.Boxes, answers []*answer) bool {
	for _, a := range answers {
		if len(a.Cells) != len(here.Counts) {
			return false
		}
		for i, h := range a.Cells {
			if len(h.Keys) != query.MostBoxColumns*len(h.Counts) {
				return false
			}
			for k, n := range h.Counts {
				here.Counts[i][query.Box(h.Keys[k*query.MostBoxColumns:])] += n
			}
		}
	}
	return true
}
