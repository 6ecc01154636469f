package dense_test

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
)

func TestLeastSquares(t *testing.T) {
	g := seeded()
	for cols := 1; cols <= 8; cols++ {
		for _, rows := range []int{cols, cols + 1, 40} {
			a, b := random(g, rows, cols), random(g, rows, 1)
			x, ok := dense.LeastSquares(a, b, rows, cols)
			var want mat.VecDense
			if err := want.SolveVec(mat.NewDense(rows, cols, a), mat.NewVecDense(rows, b)); err != nil || !ok {
				t.Fatal(err, ok)
			}
			for i, v := range x {
				if e := math.Abs(v - want.AtVec(i)); e > 1e-9 {
					t.Errorf("%d x %d: off by %v", rows, cols, e)
				}
			}
		}
	}
	for name, a := range map[string][]float64{"dependent": {1, 2, 2, 4, 3, 6}, "zero": {0, 1, 0, 1, 0, 1}, "NaN": {1, 2, 3, 4, 5, math.NaN()}} {
		if x, ok := dense.LeastSquares(a, []float64{1, 2, 4}, 3, 2); ok {
			t.Errorf("%s: %v", name, x)
		}
	}
	if _, ok := dense.LeastSquares([]float64{1, 2}, []float64{1}, 1, 2); ok {
		t.Error("fewer rows than columns are solved")
	}
}

// TestOrthonormalize: rows are orthonormal and span what they did; one that is zero stays.
func TestOrthonormalize(t *testing.T) {
	g := seeded()
	for n := 1; n <= 12; n++ {
		a := random(g, n, 12)
		was := slices.Clone(a)
		dense.Orthonormalize(a, n, 12)
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
	if dense.Orthonormalize(a, 3, 2); !slices.Equal(a, []float64{1, 0, 0, 0, 0, 1}) {
		t.Errorf("got %v", a)
	}
}

// TestSafe: rows of very different sizes, also such that their squares are not in range, have the
// triangle, the norms and the rotations that their digits have at moderate sizes.
func TestSafe(t *testing.T) {
	g := seeded()
	for n := 1; n <= 8; n++ {
		m := n + 3
		a := random(g, n, m)
		plain := dense.LQ(slices.Clone(a), n, m)
		norms := make([]float64, n)
		dense.Orthogonalize(slices.Clone(plain), n, norms)
		wide := slices.Clone(a)
		for i := range wide {
			wide[i] = math.Ldexp(wide[i], 800-200*(i/m))
		}
		l := dense.SafeLQ(wide, n, m)
		for i := range l {
			if got := math.Ldexp(l[i], 200*(i/n)-800); math.Abs(got-plain[i]) > 1e-13 {
				t.Fatalf("n = %d: entry %d of the triangle is %v, want %v", n, i, got, plain[i])
			}
			l[i] = math.Ldexp(plain[i], 600)
		}
		turns := dense.Identity(n)
		w := slices.Clone(l)
		values := dense.SafeOrthogonalize(w, n, n, turns)
		slices.Sort(norms)
		sorted := slices.Sorted(slices.Values(values))
		for i, v := range sorted {
			if math.Abs(math.Ldexp(v, -600)-norms[i]) > 1e-13*norms[n-1] {
				t.Errorf("n = %d: singular value %v, want %v", n, math.Ldexp(v, -600), norms[i])
			}
		}
		for i, v := range dense.Mul(turns, l, n, n, n) {
			if math.Abs(v-w[i]) > 0x1p600*1e-13*norms[n-1] {
				t.Errorf("n = %d: the rotations do not lead to the rows", n)
			}
			w[i] = v
		}
		if e := farthest(dense.Gram(turns, n), dense.Identity(n)); e > 1e-13 {
			t.Errorf("n = %d: the rotations' product is %v from orthogonal", n, e)
		}
	}
	for _, norm := range []func([]float64) float64{dense.SafeNorm, dense.HypotNorm} {
		if x := norm([]float64{3e300, -4e300}); x != 5e300 {
			t.Errorf("norm %v, want 5e300", x)
		}
	}
	if x := dense.SafeOrthogonalize([]float64{0, 0, 0, 2}, 2, 2, nil); !slices.Equal(x, []float64{0, 2}) {
		t.Errorf("norms %v", x)
	}
}
