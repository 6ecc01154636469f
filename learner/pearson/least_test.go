package pearson

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestLeastSquares(t *testing.T) {
	g := rand.New(rand.NewPCG(3, 7))
	for cols := 1; cols <= 8; cols++ {
		for _, rows := range []int{cols, cols + 1, 40} {
			a, b := make([]float64, rows*cols), make([]float64, rows)
			for i := range a {
				a[i] = g.NormFloat64()
			}
			for i := range b {
				b[i] = g.NormFloat64()
			}
			x, ok := leastSquares(a, rows, cols, b)
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
		if x, ok := leastSquares(a, 3, 2, []float64{1, 2, 4}); ok {
			t.Errorf("%s: %v", name, x)
		}
	}
	if _, ok := leastSquares([]float64{1, 2}, 1, 2, []float64{1}); ok {
		t.Error("fewer rows than columns are solved")
	}
}

func TestSolveLower(t *testing.T) {
	g := rand.New(rand.NewPCG(3, 7))
	for n := 1; n <= 20; n++ {
		l, b := make([]float64, n*n), make([]float64, 3*n)
		for i := range l {
			if l[i] = g.NormFloat64() / 4; i/n < i%n {
				l[i] = math.NaN() // not read
			}
			if i/n == i%n {
				l[i] = 1 + g.Float64()
			}
		}
		for i := range b {
			b[i] = g.NormFloat64()
		}
		x := append([]float64(nil), b...)
		solveLower(l, n, x, 3)
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
