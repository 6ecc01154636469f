package dense_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/dense"
)

// triangle is a lower triangle with a moderate inverse, and NaN above it.
func triangle(g *rand.Rand, n int) []float64 {
	l := random(g, n, n)
	for i := range l {
		l[i] /= 4
		if i/n < i%n {
			l[i] = math.NaN() // not read
		}
		if i/n == i%n {
			l[i] = 1 + g.Float64()
		}
	}
	return l
}

func TestSolveLower(t *testing.T) {
	g := seeded()
	for n := 1; n <= 20; n++ {
		l, b := triangle(g, n), random(g, n, 3)
		x := append([]float64(nil), b...)
		dense.SolveLower(l, x, n, 3)
		for i, v := range b {
			for k := range i/3 + 1 {
				v -= l[i/3*n+k] * x[k*3+i%3]
			}
			if !(math.Abs(v) < 1e-12) {
				t.Errorf("n = %d: L x is %v from b", n, v)
			}
		}
	}
}

// TestOneColumn: Forward is SolveLower and InvertLower, column by column, to the last bit; Backward
// solves for the transposed triangle.
func TestOneColumn(t *testing.T) {
	g := seeded()
	for n := 1; n <= 20; n++ {
		l, b := triangle(g, n), random(g, n, 1)
		x, y := slices.Clone(b), slices.Clone(b)
		dense.Forward(l, x, n)
		dense.SolveLower(l, y, n, 1)
		if !slices.Equal(x, y) {
			t.Fatalf("n = %d: Forward and SolveLower differ", n)
		}
		x = slices.Clone(b)
		dense.Backward(l, x, n)
		for i, v := range b {
			for k := i; k < n; k++ {
				v -= l[k*n+i] * x[k]
			}
			if !(math.Abs(v) < 1e-12) {
				t.Errorf("n = %d: L' x is %v from b", n, v)
			}
		}
		inverse := make([]float64, n*n)
		if !dense.InvertLower(inverse, l, n) {
			t.Fatalf("n = %d: no inverse", n)
		}
		unit := dense.Identity(n)
		dense.SolveLower(l, unit, n, n)
		if !slices.Equal(inverse, unit) {
			t.Fatalf("n = %d: InvertLower and SolveLower differ", n)
		}
		byRows := dense.InvertLowerByRows(l, n)
		if e := farthest(inverse, byRows); e > 1e-11 {
			t.Errorf("n = %d: the two inverses differ by %v", n, e)
		}
		clear := slices.Clone(l)
		for i := range clear {
			if i/n < i%n {
				clear[i] = 0
			}
		}
		if e := farthest(dense.Mul(byRows, clear, n, n, n), dense.Identity(n)); e > 1e-13 {
			t.Errorf("n = %d: X L is %v from the unit matrix", n, e)
		}
		if !dense.InvertLower(clear, clear, n) || !slices.Equal(clear, inverse) {
			t.Errorf("n = %d: in place, the inverse is another", n)
		}
	}
	for _, l := range [][]float64{{0, 0, 1, 1}, {1, 0, math.NaN(), 1}, {1e-300, 0, 1e300, 1}} {
		if dense.InvertLower(make([]float64, 4), l, 2) {
			t.Errorf("%v is inverted", l)
		}
	}
}

// TestCholeskyLog: the factor is Cholesky's, to the last bit, and the logarithm is that of its
// diagonal's square.
func TestCholeskyLog(t *testing.T) {
	g := seeded()
	for n := 1; n <= 20; n++ {
		a := definite(g, n, one)
		l, m := slices.Clone(a), slices.Clone(a)
		log, ok := dense.CholeskyLog(l, n)
		if !ok || !dense.Cholesky(m, n) || !slices.Equal(l, m) {
			t.Fatalf("n = %d: another factor", n)
		}
		if want := 2 * dense.LogDiagonal(l, n); math.Abs(log-want) > 1e-12*float64(n) {
			t.Errorf("n = %d: log det %v, want %v", n, log, want)
		}
		back := make([]float64, n*n)
		for j := range n {
			column := make([]float64, n)
			for i := range column {
				column[i] = l[i*n+j]
			}
			for i, x := range column {
				for j, y := range column[:i+1] {
					back[i*n+j] += x * y
				}
			}
		}
		for i := range a {
			if i%n <= i/n && math.Abs(a[i]-back[i]) > 1e-12*float64(n) {
				t.Fatalf("n = %d: L L' is not the matrix", n)
			}
		}
	}
	if _, ok := dense.CholeskyLog([]float64{1, 0, 2, 1}, 2); ok {
		t.Error("an indefinite matrix has a factor")
	}
}
