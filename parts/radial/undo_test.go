package radial

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/parts/clip"
)

// TestInvertLaw: the inversion finds mean and covariance of an elliptical law whose clipped moments
// (by other points) it is given.
func TestInvertLaw(t *testing.T) {
	const d, r2, least, n = 3, 5.0, .02, 300000
	l := Pearson{D: d, Inverse: .2, Scale: 1}.Law(Edges(d))
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
	gotDelta, got, _ := l.invert(t.Context(), mean, second, r2, least)
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

// TestUndo: both ways give back to the trace what clipping took from it; in proportion, or such
// that the shape is the law's own.
func TestUndo(t *testing.T) {
	const d, r2 = 3, 5.0
	l := Pearson{D: d, Inverse: .2, Scale: 1}.Law(Edges(d))
	want := mat.NewSymDense(d, []float64{1.3, .2, 0, .2, .8, -.1, 0, -.1, .9})
	_, root := symmetric.FlooredRoot(want, 0)
	mean, second := l.sample().Moments([]float64{.1, -.2, 0}, root, r2)
	_, zero := l.sample().Moments(make([]float64, d), symmetric.Identity(d), r2)
	// what the points are off by at (0, I), which the inversion expects nobody else to be
	for i := range d {
		for j := i; j < d; j++ {
			second.SetSym(i, j, second.At(i, j)-zero.At(i, j)+l.Clip(r2).A*symmetric.Identity(d).At(i, j))
		}
	}
	trace := mat.Trace(second) + l.Clip(r2).Excess

	same, cov := l.Proportional(mean, second, r2)
	before := mat.NewSymDense(d, nil)
	before.SymRankOne(second, -1, mat.NewVecDense(d, mean))
	before.ScaleSym(1+l.Clip(r2).Excess/mat.Trace(before), before)
	if got := mat.Trace(cov) + dense.Norm2(same); math.Abs(got-trace) > 1e-9 || !mat.EqualApprox(cov, before, 1e-9) {
		t.Errorf("in proportion: %v of trace %v with the mean's, want %v", mat.Formatted(cov), got, trace)
	}

	delta, cov, _ := l.Elliptical(t.Context(), mean, second, r2, .02)
	if got := mat.Trace(cov) + dense.Norm2(delta); math.Abs(got-trace) > 1e-9 {
		t.Errorf("elliptical: trace %v with the mean's, want %v", got, trace)
	}
	cov.ScaleSym(mat.Trace(want)/mat.Trace(cov), cov)
	if !mat.EqualApprox(cov, want, 1e-3) {
		t.Errorf("elliptical: shape %v, want %v", mat.Formatted(cov), mat.Formatted(want))
	}
}
