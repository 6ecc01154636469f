package pearson

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func random(g *rand.Rand, n, m int) []float64 {
	a := make([]float64, n*m)
	for i := range a {
		a[i] = g.NormFloat64()
	}
	return a
}

// TestLeastSquares: as another library has it, and what cannot be solved is told.
func TestLeastSquares(t *testing.T) {
	g := rand.New(rand.NewPCG(3, 7))
	for cols := 1; cols <= 8; cols++ {
		for _, rows := range []int{cols, cols + 1, 40} {
			a, b := random(g, rows, cols), random(g, rows, 1)
			x, ok := leastSquares(a, b, rows, cols)
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
		if x, ok := leastSquares(a, []float64{1, 2, 4}, 3, 2); ok {
			t.Errorf("%s: %v", name, x)
		}
	}
	if _, ok := leastSquares([]float64{1, 2}, []float64{1}, 1, 2); ok {
		t.Error("fewer rows than columns are solved")
	}
}
