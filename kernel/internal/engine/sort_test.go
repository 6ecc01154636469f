package engine

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSort: as slices.Sort does, whatever the values and however many, with zeros of either sign,
// infinities and denormals.
func TestSort(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	odd := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), 5e-324, -5e-324, math.MaxFloat64, -math.MaxFloat64, 1, -1}
	for _, n := range []int{0, 1, 2, 100, fewValues - 1, fewValues, 3*fewValues + 1} {
		for _, draw := range []func() float64{
			rng.NormFloat64,
			func() float64 { return odd[rng.IntN(len(odd))] },
			func() float64 { return 3 },
			func() float64 { return math.Exp(500*rng.NormFloat64()) * float64(1-2*rng.IntN(2)) },
			func() float64 { return float64(int64(1<<52) + int64(rng.IntN(1000))) },
		} {
			values := make([]float64, n)
			for i := range values {
				values[i] = draw()
			}
			want := slices.Clone(values)
			slices.Sort(want)
			if SortFloats(values); !slices.Equal(values, want) {
				t.Fatalf("%d values such as %v are not sorted", n, want[:min(n, 3)])
			}
		}
	}
}
