package coreset

import (
	"context"

	"github.com/gauze-dp/gauze/learner/kmeans"
	"github.com/gauze-dp/gauze/parallel"
)

// weightedPoints are a coreset's points one after another, with what all fits to them share.
type weightedPoints struct {
	q      int
	blocks []block
	weight []float64
	total  float64
	// added to the variances: a part of the mean cell variance, and a little of the whole coreset's
	floor []float64
	mean  []float64
	own   float64 // Coreset.OwnCells
}

func pointsOf(c *Coreset) *weightedPoints {
	p := &weightedPoints{q: c.Dim, blocks: c.blocked(), weight: c.Weights, total: c.Total, floor: c.meanCell(), own: c.OwnCells}
	mean, all := c.moments()
	p.mean = mean
	for l := range p.floor {
		if c.OwnCells > 0 {
			p.floor[l] = 0
			continue
		}
		p.floor[l] = PooledFloor*p.floor[l] + 1e-9*all.At(l, l)
	}
	return p
}

// Parts returns the assignments of the leaves to k components, of every start that of k-means from
// k-means++ centres with uniform's generator; none once ctx is done.
func (c *Coreset) Parts(ctx context.Context, k, starts int, uniform func(start int) func() float64) [][]int {
	out := make([][]int, starts)
	if parallel.Each(ctx, starts, func(i int) {
		s, u := kmeans.New(c.Points, c.Weights, k), uniform(i)
		s.Seed(kmeans.Pick(c.Weights, u()), u)
		s.Lloyd(lloydSteps)
		out[i] = renumbered(s.Part)
	}) != nil {
		return nil
	}
	return out
}

// Nearest returns the assignment of every leaf to the nearest centre.
func (c *Coreset) Nearest(centers [][]float64) []int {
	s := kmeans.New(c.Points, c.Weights, len(centers))
	s.Centers = centers
	s.Assign()
	return s.Part
}
