package spectral

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gauze-dp/gauze/learner/kmeans"
)

// Utility constants of k-means in Spheres.
const (
	restarts   = 5
	lloydSteps = 50
)

// parted returns the part of every row: the best of some starts of Lloyd's iteration from k-means++
// centres.
//
// Source: [KSSU19] Section B.11 of the restatement ([practical]).
func parted(y [][]float64, k, starts, steps int, rng *rand.Rand) []int {
	s := kmeans.New(y, nil, k)
	sums := zeros(k, len(y[0]))
	// running means keep the digits of points that coincide
	s.Move = func() {
		for j, n := range runningMeans(sums, y, s.Part) {
			if n > 0 {
				copy(s.Centers[j], sums[j])
			}
		}
	}
	var best []int
	least := math.Inf(1)
	for range starts {
		s.Seed(rng.IntN(len(y)), rng.Float64)
		if cost := s.Lloyd(steps); best == nil || cost < least {
			best, least = slices.Clone(s.Part), cost
		}
	}
	return best
}

// means returns those of the parts, 0 for an empty one.
func means(y [][]float64, part []int, k int) [][]float64 {
	out := zeros(k, len(y[0]))
	runningMeans(out, y, part)
	return out
}

// runningMeans writes the mean of every part, 0 for one without points, taken one point at a time,
// and returns the numbers of points.
func runningMeans(means, points [][]float64, part []int) (counts []float64) {
	counts = make([]float64, len(means))
	for _, m := range means {
		clear(m)
	}
	for i, x := range points {
		j := part[i]
		counts[j]++
		for c, v := range x {
			means[j][c] += (v - means[j][c]) / counts[j]
		}
	}
	return counts
}

// zeros returns k vectors of d.
func zeros(k, d int) [][]float64 {
	out := make([][]float64, k)
	for j := range out {
		out[j] = make([]float64, d)
	}
	return out
}
