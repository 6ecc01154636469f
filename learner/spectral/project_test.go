package spectral

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/learner/kmeans"
)

// TestProject: columns of sds 10, 5 and 1 in the first three of eight rotated directions, the
// others .1: two coordinates of the projection hold the sum of squares of the two leading
// directions, and the same as any orthonormal basis of them would.
func TestProject(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const d, n = 8, 400
	flat, axes := make([]float64, d*d), make([][]float64, d)
	for i := range flat {
		flat[i] = rng.NormFloat64()
	}
	orthonormalize(flat, d, d)
	for i := range axes {
		axes[i] = flat[i*d : i*d+d]
	}
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, d)
		for c, a := range axes {
			v := rng.NormFloat64() * []float64{10, 5, 1, .1, .1, .1, .1, .1}[c]
			for j := range a {
				rows[i][j] += 1e3 + v*a[j]
			}
		}
	}
	y := project(rows, 2)
	for i, r := range rows {
		for j := range rows[:i] {
			full, seen := 0.0, kmeans.Distance2(y[i], y[j])
			for _, a := range axes[:2] {
				diff := dense.Dot(a, r) - dense.Dot(a, rows[j])
				full += diff * diff
			}
			// The leading directions of the sample are those of the law to about sd 1/5/sqrt(n),
			// times at most six sds in the others.
			if got := math.Abs(math.Sqrt(full) - math.Sqrt(seen)); got > .5 {
				t.Fatalf("rows %d and %d are %v apart in the projection, want %v", i, j, math.Sqrt(seen), math.Sqrt(full))
			}
		}
	}
	basis := leading(scatter(rows, 1e4), d)
	for i, u := range basis {
		for j, v := range basis[:i+1] {
			want := 0.0
			if i == j {
				want = 1
			}
			if math.Abs(dense.Dot(u, v)-want) > 1e-12 {
				t.Errorf("vectors %d and %d have the inner product %v", i, j, dense.Dot(u, v))
			}
		}
	}
}
