package spectral

import (
	"math"
	"math/rand/v2"

	"github.com/gauze-dp/gauze/dense"
)

// Utility constants of k-means in Learner.
const (
	restarts   = 5
	lloydSteps = 50
)

// kmeans returns the part of every row: the best of some starts of Lloyd's iteration from k-means++
// centres.
//
// Source: [KSSU19] Section B.11 of the restatement ([practical]).
func kmeans(y [][]float64, k, starts, steps int, rng *rand.Rand) []int {
	var best []int
	least := math.Inf(1)
	for range starts {
		part, cost := lloyd(y, spread(y, k, rng), steps)
		if best == nil || cost < least {
			best, least = part, cost
		}
	}
	return best
}

// spread draws k-means++ centres: each next one a row, with probability proportional to its squared
// distance to those drawn.
func spread(y [][]float64, k int, rng *rand.Rand) [][]float64 {
	centers := [][]float64{y[rng.IntN(len(y))]}
	near := make([]float64, len(y))
	for i := range near {
		near[i] = math.Inf(1)
	}
	for len(centers) < k {
		total := 0.0
		for i, x := range y {
			near[i] = math.Min(near[i], dense.Distance2(x, centers[len(centers)-1]))
			total += near[i]
		}
		at, left := 0, rng.Float64()*total
		for i, v := range near {
			if v > 0 {
				at = i
			}
			if left -= v; left < 0 {
				break
			}
		}
		centers = append(centers, y[at])
	}
	return centers
}

// lloyd iterates until no row changes its part, and returns the parts and the sum of squared
// distances to their centres.
func lloyd(y [][]float64, centers [][]float64, steps int) (part []int, cost float64) {
	part = make([]int, len(y))
	for i := range part {
		part[i] = -1
	}
	for range steps {
		changed := false
		cost = 0
		for i, x := range y {
			at, least := 0, math.Inf(1)
			for j, c := range centers {
				if v := dense.Distance2(x, c); v < least {
					at, least = j, v
				}
			}
			changed = changed || at != part[i]
			part[i] = at
			cost += least
		}
		if !changed {
			break
		}
		centers = means(y, part, centers)
	}
	return part, cost
}

// means are those of the parts; an empty one keeps its centre.
func means(y [][]float64, part []int, old [][]float64) [][]float64 {
	out, counts := make([][]float64, len(old)), make([]float64, len(old))
	for j := range out {
		out[j] = make([]float64, len(y[0]))
	}
	for i, x := range y {
		j := part[i]
		counts[j]++
		for c, v := range x {
			out[j][c] += (v - out[j][c]) / counts[j]
		}
	}
	for j, n := range counts {
		if n == 0 {
			out[j] = old[j]
		}
	}
	return out
}
