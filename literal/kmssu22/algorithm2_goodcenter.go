package kmssu22

import (
	"math"
	"math/rand/v2"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/literal/paper"
	"github.com/gauze-dp/gauze/parts"
)

// goodCenter returns GoodCenter for all reference points at once: for each, the centre of a ball of
// about the radius that holds most of the blocks' projections of it. The rows of pooled hold points
// times dims coordinates. It is bottom (nil) if a coordinate has no cell that passes its threshold.
//
// Along every axis of a random rotation the fullest cell of width 2r/sqrt(dims) is found: a row of
// the ball is in it or beside it, so the centre is off by about 2r.
//
// Privacy: a block's projections are in one cell of each of dims*points histograms: L2 sensitivity
// sqrt(2 dims points).
//
// Source: [KMSSU22] Algorithm 2; Corrections, (iii).
// Differs: one Gaussian release for all points and axes, which share mu and delta, in place of a
// call for every point with epsilon/sqrt(q ln(1/delta)); a cell per axis in place of a box in a
// projection.
func (r *run) goodCenter(pooled *kernel.SubBudget, dims, points int, radius, mu2 float64) ([][]float64, error) {
	rng := rand.New(rand.NewPCG(r.seed(), 0))
	all := dims * points
	width := 2 * radius / math.Sqrt(float64(dims))
	g := query.Grid{Map: query.Affine{Center: make([]float64, all)}, Side: repeat(width, all)}
	for i := range points {
		u := paper.Rotation(rng, dims)
		for a := range dims {
			w := make([]float64, all)
			copy(w[i*dims:], u.RawRowView(a))
			g.Map.W = append(g.Map.W, w)
			g.Offset = append(g.Offset, width*rng.Float64())
		}
	}
	cells, _, err := kernel.StabilityHistogram(pooled, stepCenters, query.BoxKeys{Grids: []query.Grid{g}}, parts.Mu(mu2))
	if err != nil {
		return nil, err
	}
	centers := make([][]float64, points)
	for i := range centers {
		centers[i] = make([]float64, dims)
		for a := i * dims; a < (i+1)*dims; a++ {
			key, ok := fullest(cells, a)
			if !ok {
				return nil, nil
			}
			for j := range centers[i] {
				centers[i][j] += g.Map.W[a][i*dims+j] * (g.Offset[a] + (key+.5)*width)
			}
		}
	}
	return centers, nil
}
