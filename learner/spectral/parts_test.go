package spectral

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/learner/kmeans"
)

// TestRunningMeans: points that coincide have their place as mean, to the last bit.
func TestRunningMeans(t *testing.T) {
	x := slices.Repeat([][]float64{{.1, 1e9 + .1}}, 7)
	means := [][]float64{{5, 5}, {5, 5}}
	counts := runningMeans(means, x, make([]int, 7))
	if !slices.Equal(counts, []float64{7, 0}) || !slices.Equal(means[0], x[0]) || !slices.Equal(means[1], []float64{0, 0}) {
		t.Errorf("counts %v, means %v", counts, means)
	}
}

// TestParted: of Lloyd's iteration with running means every point ends in the part whose mean is
// nearest.
func TestParted(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	for range 60 {
		k, x := 1+rng.IntN(5), zeros(20+rng.IntN(100), 1+rng.IntN(4))
		for i, y := range x {
			for c := range y {
				y[c] = rng.NormFloat64() + 5*float64(i%k)
			}
		}
		part := parted(x, k, 2, 200, rng)
		centers := means(x, part, k)
		for i, y := range x {
			own := kmeans.Distance2(y, centers[part[i]])
			for j, c := range centers {
				if v := kmeans.Distance2(y, c); slices.Contains(part, j) && v < own*(1-1e-12) && !(math.Abs(v-own) < 1e-12) {
					t.Fatalf("point %d is %v from its centre and %v from that of part %d", i, own, v, j)
				}
			}
		}
	}
}
