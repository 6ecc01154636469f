package coreset

import "github.com/gauze-dp/gauze/learner/kmeans"

// weightedPoints are a coreset's points one after another, with what all fits to them share.
type weightedPoints struct {
	q      int
	blocks []block
	weight []float64
	total  float64
	// added to the variances: a part of the mean cell variance, and a little of the whole coreset's
	floor  []float64
	mean   []float64
	own    float64     // Coreset.OwnCells
	points [][]float64 // the points as they were
}

func pointsOf(c *Coreset) *weightedPoints {
	p := &weightedPoints{q: c.Dim, blocks: c.blocked(), points: c.Points, weight: c.Weights, total: c.Total, floor: c.meanCell(), own: c.OwnCells}
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

// parted is k-means from k-means++ centres.
func (p *weightedPoints) parted(k int, uniform func() float64) []int {
	s := kmeans.New(p.points, p.weight, k)
	s.Seed(kmeans.Pick(p.weight, uniform()), uniform)
	s.Lloyd(lloydSteps)
	return s.Part
}

// nearest is the assignment of every point to the nearest centre.
func (p *weightedPoints) nearest(centers [][]float64) []int {
	s := kmeans.New(p.points, p.weight, len(centers))
	s.Centers = centers
	s.Assign()
	return s.Part
}
