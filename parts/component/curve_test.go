package component

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
)

// TestCurve: with its second order the law says what clipping does to Gaussians some way off, where
// its first order does not.
func TestCurve(t *testing.T) {
	for _, d := range []int{1, 2, 5, 10} {
		points := NewPoints(d)
		for _, share := range []float64{.6, 1, 2} {
			law := ClippedGaussian(d, share*float64(d))
			cov := symmetric.Of(d, func(i, j int) float64 {
				if i == j {
					return 1.15 + .3*math.Cos(float64(i))
				}
				return .1 * math.Sin(float64(i+j))
			})
			_, root := symmetric.FlooredRoot(cov, 1e-9)
			zero := make([]float64, d)
			_, base := points.Moments(zero, symmetric.Identity(d), law.R2)
			_, got := points.Moments(zero, root, law.R2)
			more, ok := law.Curve(cov)
			if !ok {
				t.Fatalf("%d columns: too uneven", d)
			}
			first, second := 0.0, 0.0
			for i := range d {
				for j := range d {
					e := cov.At(i, j)
					want := got.At(i, j) - base.At(i, j)
					if i == j {
						e--
						want -= law.B2 * (mat.Trace(cov) - float64(d))
					}
					off := want - law.B1*e
					first += sq(off)
					second += sq(off - more.At(i, j))
				}
			}
			if !(math.Sqrt(second) < .25*math.Sqrt(first)+.002*float64(d)) { // the points' own error
				t.Errorf("d=%d R2=%.1f: first order off by %.4f, second by %.4f", d, law.R2, math.Sqrt(first), math.Sqrt(second))
			}
		}
	}
}

// TestCurveDiagonal: it is the diagonal of Curve's matrix, and there is none where that has none.
func TestCurveDiagonal(t *testing.T) {
	rng, none := newRand(t), 0
	for range 200 {
		d := 1 + rng.IntN(8)
		v, m := make([]float64, d), make([]float64, d)
		for i := range v {
			v[i], m[i] = math.Exp(.5*rng.NormFloat64()), .2*rng.NormFloat64()
		}
		whole := symmetric.Diagonal(v)
		whole.SymRankOne(whole, 1, mat.NewVecDense(d, m))
		law := ClippedGaussian(d, float64(d)*(.5+rng.Float64()))
		want, is := law.Curve(whole)
		got, ok := law.CurveDiagonal(v, m)
		if ok != is {
			t.Fatalf("%v, want %v", ok, is)
		}
		if !ok {
			none++
			continue
		}
		for i := range got {
			if math.Abs(got[i]-want.At(i, i)) > 1e-10*(1+math.Abs(want.At(i, i))) {
				t.Fatalf("entry %d is %v, want %v", i, got[i], want.At(i, i))
			}
		}
	}
	if none == 0 || none == 200 {
		t.Errorf("%d of 200 have none", none)
	}
}
