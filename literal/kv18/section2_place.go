package kv18

import (
	"math"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
)

// findPlace takes the fullest bin of width r.width among those that pass the threshold or, where
// facts leave finitely many, among all of them.
//
// Source: [KV18] Section 2 of the restatement. Differs: Gaussian noise.
func (r *run) findPlace() (doubt string, err error) {
	if r.reach.bins > 0 {
		return r.findNear()
	}
	grid := query.Grid{Map: query.Affine{Center: []float64{0}, W: [][]float64{{1}}}, Side: []float64{r.width}, Offset: []float64{0}}
	cells, _, err := kernel.StabilityHistogram(r.SubBudget, stepPlace, query.BoxKeys{Grids: []query.Grid{grid}}, math.Sqrt(r.share.place*r.Mu2))
	if err != nil {
		return "", err
	}
	if len(cells) == 0 {
		return "no bin as wide as the scale holds enough rows", nil
	}
	best := cells[0]
	for _, c := range cells {
		if c.Count > best.Count {
			best = c
		}
	}
	if r.center = (best.Key[0] + .5) * r.width; !dense.Finite(r.center) {
		return "the rows lie where numbers end: record the column in another unit", nil
	}
	return "", nil
}

// findNear returns findPlace where the mean is bounded: the bins are few enough for noise on each,
// and no delta is spent.
//
// Source: [KV18] Section 2 of the restatement, the bounded case. Differs: Gaussian noise, but
// where delta is 0.
func (r *run) findNear() (doubt string, err error) {
	edges := r.reach.edges(r.width)
	answer, err := r.sum(stepPlace, query.Counts{Edges: [][]float64{edges}}, r.share.place*r.Mu2)
	if err != nil {
		return "", err
	}
	inside := answer.Values[1 : len(answer.Values)-1]
	best := 0
	for bin, count := range inside {
		if count > inside[best] {
			best = bin
		}
	}
	if inside[best] < seen(r.Problem, r.reach.bins)*answer.Sigma {
		return "no bin as wide as the scale holds enough rows, within the stated bound on the mean", nil
	}
	r.center = (edges[best] + edges[best+1]) / 2
	return "", nil
}
