package dense_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
)

func seeded() *rand.Rand { return rand.New(rand.NewPCG(3, 7)) }

func random(g *rand.Rand, n, m int) []float64 {
	a := make([]float64, n*m)
	for i := range a {
		a[i] = g.NormFloat64()
	}
	return a
}

// definite is a random positive definite matrix whose rows and columns are scaled by the given
// factors.
func definite(g *rand.Rand, n int, scale func(i int) float64) []float64 {
	b := random(g, n, n+3)
	a := make([]float64, n*n)
	for i := range n {
		for j := range n {
			for k := range n + 3 {
				a[i*n+j] += b[i*(n+3)+k] * b[j*(n+3)+k]
			}
			a[i*n+j] *= scale(i) * scale(j)
		}
	}
	return a
}

func one(int) float64 { return 1 }

func farthest(a, b []float64) float64 {
	most := 0.0
	for i, x := range a {
		most = max(most, math.Abs(x-b[i]))
	}
	return most
}

func TestCholesky(t *testing.T) {
	g := seeded()
	for n := 1; n <= 20; n++ {
		a := definite(g, n, one)
		l := slices.Clone(a)
		for i := range n {
			for j := i + 1; j < n; j++ {
				l[i*n+j] = math.NaN() // not read
			}
		}
		if !dense.Cholesky(l, n) {
			t.Fatalf("n = %d: not positive definite", n)
		}
		var want mat.Cholesky
		want.Factorize(mat.NewSymDense(n, a))
		for i := range n {
			for j := range n {
				x := 0.0
				if j <= i {
					x = want.RawU().At(j, i)
				}
				if math.Abs(x-l[i*n+j]) > 1e-11 {
					t.Fatalf("n = %d: factor entry %d, %d is %v, want %v", n, i, j, l[i*n+j], x)
				}
			}
		}
	}
	for _, a := range [][]float64{{1, 2, 2, 1}, {0, 0, 0, 0}, {math.NaN(), 0, 0, 1}, {1, 0, math.Inf(1), 1}, {1, 0, 0, math.Inf(1)}, {1, 0, math.NaN(), 1}} {
		if c := slices.Clone(a); dense.Cholesky(c, 2) {
			t.Errorf("%v is taken for positive definite", a)
		}
	}
}

func TestInvert(t *testing.T) {
	g := seeded()
	for n := 1; n <= 20; n++ {
		a := random(g, n, n)
		for i := range n {
			for j := range n {
				a[i*n+j] *= math.Pow(10, float64(i%5*4-8))
			}
		}
		was := slices.Clone(a)
		x, ok := dense.Invert(a, n)
		if !ok || !slices.Equal(a, was) {
			t.Fatalf("n = %d: not inverted, or changed", n)
		}
		unit := dense.Mul(x, a, n, n, n)
		for i := range n {
			unit[i*n+i]--
		}
		if e := farthest(unit, make([]float64, n*n)); e > 1e-10 {
			t.Errorf("n = %d: X A is %v from the unit matrix", n, e)
		}
	}
	for _, a := range [][]float64{{0, 0, 0, 0}, {1, 2, 2, 4}, {math.NaN(), 1, 1, 1}, {1, math.Inf(1), 1, 1}, {1e-320, 0, 0, 1}} {
		if x, ok := dense.Invert(a, 2); ok {
			t.Errorf("%v: inverse %v", a, x)
		}
	}
}

func TestEigen(t *testing.T) {
	g := seeded()
	for n := 1; n <= 20; n++ {
		for name, a := range map[string][]float64{
			"definite": definite(g, n, one), "zero": make([]float64, n*n), "flat": flat(n, 3), "huge": flat(n, 1e306), "tiny": flat(n, 1e-307),
			"equal": diagonalOf(n, func(int) float64 { return 5 }), "indefinite": diagonalOf(n, func(i int) float64 { return float64(i%3 - 1) }),
		} {
			scale := 0.0
			for _, x := range a {
				scale = max(scale, math.Abs(x))
			}
			if scale == 0 {
				scale = 1
			}
			scaled := make([]float64, n*n)
			for i, x := range a {
				scaled[i] = x / scale
			}
			var e mat.EigenSym
			e.Factorize(mat.NewSymDense(n, scaled), false)
			want := e.Values(nil)
			values, vectors := dense.Eigen(a, n)
			for i := range n {
				values[i] /= scale
			}
			tolerance := 1e-13 * float64(n*n)
			if farthest(values, want) > tolerance {
				t.Fatalf("%s, n = %d: values %v, want %v", name, n, values, want)
			}
			back := make([]float64, n*n)
			for i := range n {
				for j := range n {
					back[i*n+j] = values[j] * vectors[i*n+j]
				}
			}
			if e := farthest(dense.Mul(scaled, vectors, n, n, n), back); e > tolerance {
				t.Errorf("%s, n = %d: A V is %v from V diag(values)", name, n, e)
			}
			gram := dense.Mul(transpose(vectors, n), vectors, n, n, n)
			if e := farthest(gram, diagonalOf(n, one)); e > 1e-13 {
				t.Errorf("%s, n = %d: the vectors are %v from orthonormal", name, n, e)
			}
		}
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		a := []float64{1, bad, bad, 1}
		values, vectors := dense.Eigen(a, 2)
		for _, x := range append(slices.Clone(values), vectors...) {
			if !math.IsNaN(x) && x != 0 {
				t.Errorf("eigenvalues and vectors of %v: %v, %v", a, values, vectors)
			}
		}
	}
}

// TestOrthogonalize: on rows of very different sizes; and the small singular values keep their
// digits, as the determinant shows.
func TestOrthogonalize(t *testing.T) {
	g := seeded()
	for n := 1; n <= 12; n++ {
		norms := make([]float64, n)
		w := random(g, n, n)
		for i := range w {
			w[i] *= math.Pow(10, float64(6-i/n)) // rows of falling size
		}
		was := slices.Clone(w)
		dense.Orthogonalize(w, n, norms)
		gram := dense.Mul(w, transpose(w, n), n, n, n)
		product := 1.0
		for i := range n {
			for j := range n {
				want := 0.0
				if i == j {
					want = 1
				}
				if x := gram[i*n+j] / (norms[i] * norms[j]); math.Abs(x-want) > 1e-13 {
					t.Errorf("n = %d: rows %d, %d have cosine %v", n, i, j, x)
				}
			}
			product *= norms[i]
		}
		before, after := dense.Mul(transpose(was, n), was, n, n, n), dense.Mul(transpose(w, n), w, n, n, n)
		if e := farthest(before, after); e > 1e-14*1e12*float64(n*n) {
			t.Errorf("n = %d: w'w has changed by %v", n, e)
		}
		if det := math.Abs(mat.Det(mat.NewDense(n, n, was))); math.Abs(product/det-1) > 1e-10 {
			t.Errorf("n = %d: product of the norms %v, determinant %v", n, product, det)
		}
	}
	for _, w := range [][]float64{{math.NaN(), 1, 1, 1}, {math.Inf(1), 1, 1, 1}, {1e200, 1, 1, 1}} {
		norms := make([]float64, 2)
		if dense.Orthogonalize(w, 2, norms); !math.IsNaN(norms[0]) || !math.IsNaN(norms[1]) {
			t.Errorf("norms %v, want NaN", norms)
		}
	}
}

func transpose(a []float64, n int) []float64 {
	out := make([]float64, n*n)
	for i := range n {
		for j := range n {
			out[i*n+j] = a[j*n+i]
		}
	}
	return out
}

func diagonalOf(n int, f func(i int) float64) []float64 {
	out := make([]float64, n*n)
	for i := range n {
		out[i*n+i] = f(i)
	}
	return out
}

func flat(n int, x float64) []float64 {
	out := make([]float64, n*n)
	for i := range out {
		out[i] = x
	}
	return out
}

func BenchmarkEigen(b *testing.B) {
	g := seeded()
	for _, n := range []int{2, 3, 6, 11, 20} {
		a, values := definite(g, n, one), make([]float64, n)
		w := make([]float64, n*n)
		b.Run(fmt.Sprintf("vectors/%d", n), func(b *testing.B) {
			for b.Loop() {
				dense.Eigen(a, n)
			}
		})
		b.Run(fmt.Sprintf("singular/%d", n), func(b *testing.B) {
			for b.Loop() {
				copy(w, a)
				dense.Orthogonalize(w, n, values)
			}
		})
	}
}
