package spectral

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gauze-dp/gauze/learner/kmeans"
)

// Utility constants of k-means in Learner.
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
	s.Running = true
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

// means are those of the parts, 0 for an empty one.
func means(y [][]float64, part []int, k int) [][]float64 {
	out := make([][]float64, k)
	for j := range out {
		out[j] = make([]float64, len(y[0]))
	}
	kmeans.RunningMeans(out, y, part)
	return out
}
