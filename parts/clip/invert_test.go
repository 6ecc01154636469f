package clip

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/internal/canceltest"
	"gonum.org/v1/gonum/mat"
)

// TestInvert: the inversion finds the Gaussian whose clipped moments (by other points) it is given.
//
// Shows: [TYLERPRESS] Section 4.3.
func TestInvert(t *testing.T) {
	const d, r2 = 3, 4.0
	delta := []float64{.1, -.2, 0}
	cov := mat.NewSymDense(d, []float64{1.3, .2, 0, .2, .8, -.1, 0, -.1, 1})
	_, root := symmetric.FlooredRoot(cov, LeastEigen)
	rng := rand.New(rand.NewPCG(1, 2))
	fresh := Points{D: d, Z: make([]float64, 400000*d)}
	for i := range fresh.Z {
		fresh.Z[i] = rng.NormFloat64()
	}
	mean, second := fresh.Moments(delta, root, r2)
	gotDelta, gotRoot, _ := Invert(t.Context(), Release{Mean: mean, Second: second, R2: r2, MeanSD: 1, SecondSD: 1}, nil)
	var got mat.Dense
	got.Mul(gotRoot, gotRoot)
	for i := range d {
		if math.Abs(gotDelta[i]-delta[i]) > .02 {
			t.Errorf("delta %v, want %v", gotDelta, delta)
		}
		for j := range d {
			if math.Abs(got.At(i, j)-cov.At(i, j)) > .04 {
				t.Errorf("covariance (%d,%d) = %v, want %v", i, j, got.At(i, j), cov.At(i, j))
			}
		}
	}
}

// An inversion in many columns stops with its context.
func TestInvertStops(t *testing.T) {
	const d = 400
	second := symmetric.Identity(d)
	second.ScaleSym(.5, second)
	canceltest.Stops(t, func(ctx context.Context) error {
		_, _, err := Invert(ctx, Release{Mean: make([]float64, d), Second: second, R2: d, MeanSD: 1, SecondSD: 1}, nil)
		return err
	})
}
