package tylerpress

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/parts/clip"
	"github.com/gauze-dp/gauze/parts/radial"
)

// TestInvertLaw: the inversion finds mean and covariance of an elliptical law whose clipped moments
// (by other points) it is given.
//
// Shows: [TYLERPRESS] Section 3.
func TestInvertLaw(t *testing.T) {
	const d, r2, least, n = 3, 5.0, .02, 300000
	l := radial.Pearson{D: d, Inverse: .2, Scale: 1}.Law(radial.Edges(d))
	rng := newRand(t)
	delta := []float64{.1, -.2, 0}
	want := mat.NewSymDense(d, []float64{1.3, .2, 0, .2, .8, -.1, 0, -.1, .9})
	_, root := symmetric.FlooredRoot(want, least)
	fresh := clip.Points{D: d, Z: make([]float64, n*d)}
	for i := range n {
		s := 0.0
		for range 5 {
			z := rng.NormFloat64()
			s += z * z / 5
		}
		for j := range d {
			fresh.Z[i*d+j] = rng.NormFloat64() / math.Sqrt(s)
		}
	}
	mean, second := fresh.Moments(delta, root, r2)
	gotDelta, got, _ := invert(t.Context(), l, mean, second, r2, least)
	for i := range d {
		if math.Abs(gotDelta[i]-delta[i]) > .03 {
			t.Errorf("delta %v, want %v", gotDelta, delta)
		}
		for j := range d {
			if math.Abs(got.At(i, j)-want.At(i, j)) > .05 {
				t.Errorf("(%d,%d): %v, want %v", i, j, got.At(i, j), want.At(i, j))
			}
		}
	}
}
