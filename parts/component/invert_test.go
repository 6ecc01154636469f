package component

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/internal/stattest"
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
	gotDelta, gotRoot, _ := InvertClipping(t.Context(), ClippedRelease{Mean: mean, Second: second, R2: r2, MeanSD: 1e-4, SecondSD: 1e-4}, nil)
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

// evaluations counts how often an inversion asks a view for its gradient or its curve: once each
// for a Newton step and for a step of conjugate gradients.
type evaluations int

func (e *evaluations) Pull([]float64, *mat.SymDense, Change) { *e++ }
func (e *evaluations) Curve(_, _ Change)                     { *e++ }

// An inversion stops with its context, which is asked at every step: from when it is done there is
// no further one.
func TestInvertStops(t *testing.T) {
	const d = 4
	second := symmetric.Identity(d)
	second.ScaleSym(.5, second)
	var steps evaluations
	asks, most := stattest.StopsWhenDone(t, 5, func() (func(context.Context) error, func() int) {
		steps = 0
		return func(ctx context.Context) error {
			_, _, err := InvertClipping(ctx, ClippedRelease{Mean: make([]float64, d), Second: second, R2: d, MeanSD: 1e-6, SecondSD: 1e-6}, []View{&steps})
			return err
		}, func() int { return int(steps) }
	})
	if most > 2 || asks < 10 {
		t.Errorf("asked %d times in %d evaluations, of which %d were between two times", asks, steps, most)
	}
}
