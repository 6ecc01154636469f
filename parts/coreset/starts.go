package coreset

import (
	"math"

	"github.com/gauze-dp/gauze/dense"
)

// weightedPoints are a coreset's points one after another, with what all fits to them share.
type weightedPoints struct {
	q      int
	at     []float64 // n x q
	weight []float64
	total  float64
	// added to the variances: a part of the mean cell variance, and a little of the whole coreset's
	floor []float64
	// own is Coreset.OwnCells, cell the variances within the leaves.
	own  float64
	cell [][]float64
	// few are the points, filled up with zeros, if they have few coordinates.
	few [][fewCoordinates]float64
}

func pointsOf(c *Coreset) *weightedPoints {
	p := &weightedPoints{q: c.Dim, weight: c.Weights, total: c.Total, floor: c.MeanCell(), own: c.OwnCells, cell: c.Cells}
	for _, x := range c.Points {
		p.at = append(p.at, x...)
	}
	p.fill()
	_, all := c.Moments()
	for l := range p.floor {
		if c.OwnCells > 0 {
			p.floor[l] = 0
			continue
		}
		p.floor[l] = PooledFloor*p.floor[l] + 1e-9*all.At(l, l)
	}
	return p
}

// point is point i.
func (p *weightedPoints) point(i int) []float64 { return p.at[i*p.q : (i+1)*p.q] }

// seeds draws k centres by k-means++ on the weighted points.
func (p *weightedPoints) seeds(k int, uniform func() float64) [][]float64 {
	pick := func(mass []float64) int {
		total := 0.0
		for _, m := range mass {
			total += m
		}
		u := uniform() * total
		for i, m := range mass {
			if u -= m; u < 0 {
				return i
			}
		}
		return len(mass) - 1
	}
	near := make([]float64, len(p.weight))
	mass := append([]float64(nil), p.weight...)
	for i := range near {
		near[i] = math.Inf(1)
	}
	var centers [][]float64
	for range k {
		center := append([]float64(nil), p.point(pick(mass))...)
		centers = append(centers, center)
		for i := range near {
			near[i] = math.Min(near[i], dense.Distance2(p.point(i), center))
			mass[i] = p.weight[i] * near[i]
		}
	}
	return centers
}

// kmeans runs Lloyd's iteration and returns the hard assignment.
func (p *weightedPoints) kmeans(centers [][]float64) []int {
	assign := make([]int, len(p.weight))
	sum := make([][]float64, len(centers))
	mass := make([]float64, len(centers))
	for j := range sum {
		sum[j] = make([]float64, p.q)
	}
	for step := range lloydSteps {
		moved := step == 0
		clear(mass)
		for j := range sum {
			clear(sum[j])
		}
		for i, w := range p.weight {
			x := p.point(i)
			at := nearest(x, centers)
			moved = moved || at != assign[i]
			assign[i] = at
			mass[at] += w
			for l, v := range x {
				sum[at][l] += w * v
			}
		}
		if !moved {
			break // nor would any step more
		}
		for j := range centers {
			for l := range sum[j] {
				if mass[j] > 0 {
					centers[j][l] = sum[j][l] / mass[j]
				}
			}
		}
	}
	return assign
}

// nearest is the assignment of every point to the nearest centre.
func (p *weightedPoints) nearest(centers [][]float64) []int {
	assign := make([]int, len(p.weight))
	for i := range assign {
		assign[i] = nearest(p.point(i), centers)
	}
	return assign
}

// nearest is the first of the centres that are nearest to x.
func nearest(x []float64, centers [][]float64) int {
	best, at := math.Inf(1), 0
	for j, m := range centers {
		if d := dense.Distance2(x, m); d < best {
			best, at = d, j
		}
	}
	return at
}
