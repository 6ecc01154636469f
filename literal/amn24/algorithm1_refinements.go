package amn24

import (
	"math"

	"github.com/gauze-dp/gauze/literal/paper"
)

// around returns the mixtures around m, as far as the guard allows.
func (c Constants) around(m mixture, moved paper.Move, h float64, weights bool) *paper.List {
	list, err := paper.Around(m.pairs, m.weights, moved, h, weights, c.MostHypotheses)
	if err != nil {
		panic(err) // Plan refuses k for which there are too many
	}
	return list
}

// movable reports that the neighbours of k pairs in d columns by one step, with all weights, are
// within the guard.
func (c Constants) movable(d, k int) bool {
	pairs := func(numbers int) float64 { return math.Pow(paper.CountMoved(numbers, 1), float64(k)) }
	most := math.Max(pairs(d)*float64(k*(k-1)+1), pairs(d*(d+1)/2))
	return c.Refinements == 0 || most <= float64(c.MostHypotheses)
}
