package spectral

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/dense"
)

// TestOrthonormalize: rows are orthonormal and span what they did; one that is zero stays.
func TestOrthonormalize(t *testing.T) {
	g := rand.New(rand.NewPCG(3, 7))
	for n := 1; n <= 12; n++ {
		a := make([]float64, n*12)
		for i := range a {
			a[i] = g.NormFloat64()
		}
		was := slices.Clone(a)
		orthonormalize(a, n, 12)
		for i := range n {
			for j := range i + 1 {
				want := 0.0
				if i == j {
					want = 1
				}
				if x := dense.Dot(a[i*12:i*12+12], a[j*12:]); math.Abs(x-want) > 1e-14 {
					t.Errorf("n = %d: rows %d and %d have the product %v", n, i, j, x)
				}
			}
			left := was[i*12 : i*12+12]
			for j := range i + 1 {
				dense.Reject(left, a[j*12:j*12+12])
			}
			if x := dense.Norm(left); x > 1e-13 {
				t.Errorf("n = %d: %v of row %d lies outside the span", n, x, i)
			}
		}
	}
	a := []float64{3, 0, 0, 0, 0, 2}
	if orthonormalize(a, 3, 2); !slices.Equal(a, []float64{1, 0, 0, 0, 0, 1}) {
		t.Errorf("got %v", a)
	}
}
