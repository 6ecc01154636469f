package spectral

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/internal/stattest"
)

// gaussian is n rows of d independent columns.
func gaussian(rng *rand.Rand, n, d int) [][]float64 {
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, d)
		for j := range rows[i] {
			rows[i][j] = rng.NormFloat64()
		}
	}
	return rows
}

// TestAxesTwin: sds and axes are those of the sample covariance, as another library computes them
// from well-conditioned rows, and the axes are orthonormal; fewer rows than columns have as many
// sds above zero as rows, less one.
func TestAxesTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	for _, c := range []struct{ n, d int }{{2, 1}, {9, 1}, {50, 2}, {30, 7}, {8, 7}, {300, 20}} {
		rows := gaussian(rng, c.n, c.d)
		for _, r := range rows {
			for j := range r {
				r[j] = 100 + r[j]*float64(1+j)
				if j > 0 {
					r[j] += r[0]
				}
			}
		}
		flat := slices.Concat(rows...)
		sds, axes, err := axesOf(rows)
		if err != nil {
			t.Fatal(err)
		}
		cov := mat.NewSymDense(c.d, nil)
		x := mat.NewDense(c.n, c.d, flat)
		for j := range c.d {
			mean := mat.Sum(x.ColView(j)) / float64(c.n)
			for i := range c.n {
				x.Set(i, j, x.At(i, j)-mean)
			}
		}
		cov.SymOuterK(1/float64(c.n-1), x.T())
		for i, sd := range sds {
			v := mat.NewVecDense(c.d, axes[i])
			if got := mat.Inner(v, cov, v); math.Abs(got-sd*sd) > 1e-11*sds[0]*sds[0] || i > 0 && sd > sds[i-1] {
				t.Errorf("%+v: axis %d has variance %v, and %v was stated of %v", c, i, got, sd*sd, sds)
			}
			if (sd > 0) != (i < c.n-1) {
				t.Errorf("%+v: sd %d is %v", c, i, sd)
			}
			for k := range sds {
				want := 0.0
				if i == k {
					want = 1
				}
				if got := dense.Dot(axes[i], axes[k]); math.Abs(got-want) > 1e-12 {
					t.Errorf("%+v: axes %d and %d have the product %v", c, i, k, got)
				}
			}
		}
	}
}

// TestAxesUnits: columns in units from 1e-100 to 1e100 keep the digits of their sds, which are
// known because the columns hardly correlate, and none is taken for zero. (The largest relative
// error of an sd here is the correlation's square, 1/n, with probability below 1e-9 for errors of
// 40/n.)
func TestAxesUnits(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 2))
	const n = 4000
	rows := gaussian(rng, n, 3)
	units := []float64{1e-100, 1e100, 1}
	var own []float64
	for j, u := range units {
		var column [][]float64
		for _, r := range rows {
			r[j] *= u
			column = append(column, []float64{r[j]})
		}
		sd, _, err := axesOf(column)
		if err != nil {
			t.Fatal(err)
		}
		own = append(own, sd[0])
	}
	sds, _, err := axesOf(rows)
	if err != nil {
		t.Fatal(err)
	}
	for i, j := range []int{1, 2, 0} {
		if math.Abs(sds[i]/own[j]-1) > 40./n {
			t.Errorf("sd %d is %v, want about %v", i, sds[i], own[j])
		}
	}
}

// TestAxesZeros: exact dependence, up to rounding, is told from a narrow direction.
func TestAxesZeros(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 3))
	for _, c := range []struct {
		name  string
		make  func(r []float64)
		zeros int
	}{
		{"a constant", func(r []float64) { r[1] = .1 }, 1},
		{"all constant", func(r []float64) { r[0], r[1], r[2], r[3] = .1, 1e9, -3, 0 }, 4},
		{"a sum in other units", func(r []float64) { r[3] = 1e9*r[0] + r[1]/3 - r[2] }, 1},
		{"two copies", func(r []float64) { r[1], r[2] = r[0], 1e-30*r[0] }, 2},
		{"nearly a copy", func(r []float64) { r[1] = r[0] + 1e-8*r[1] }, 0},
		{"offset", func(r []float64) { r[1] = 1e6 + r[1]; r[2] = 1e-9 * r[2] }, 0},
	} {
		rows := gaussian(rng, 200, 4)
		for _, r := range rows {
			c.make(r)
		}
		sds, _, err := axesOf(rows)
		if err != nil {
			t.Fatal(err)
		}
		zeros := 0
		for _, v := range sds {
			if v == 0 {
				zeros++
			}
		}
		if zeros != c.zeros {
			t.Errorf("%s: %d zeros, want %d: %v", c.name, zeros, c.zeros, sds)
		}
	}
}

// TestAxesNasty: an error or finite numbers.
func TestAxesNasty(t *testing.T) {
	failed := 0
	for name, rows := range map[string][][]float64{
		"none": nil, "one": {{1, 2}}, "equal": {{1, 1}, {1, 1}, {1, 1}}, "huge": {{1e308, -1e308}, {-1e308, 1e308}, {0, 1}},
		"denormal": {{5e-324, 0}, {0, 5e-324}, {0, 0}, {1e-310, 3e-320}}, "infinite": {{math.Inf(1), 0}, {0, 0}}, "null": {{math.NaN(), 0}, {0, 0}},
		"far units": {{1e300, 1e-300}, {0, 1e-300}, {1e300, 0}, {0, 0}},
	} {
		sds, axes, err := axesOf(rows)
		if err != nil {
			failed++
			continue
		}
		for i, v := range append(slices.Concat(axes...), sds...) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%s: number %d is %v", name, i, v)
			}
		}
	}
	if failed < 4 || failed == 8 {
		t.Errorf("%d tables have no axes", failed)
	}
}

func BenchmarkAxes(b *testing.B) {
	rows := gaussian(rand.New(rand.NewPCG(1, 2)), 500, 10)
	for b.Loop() {
		_, _, _ = axesOf(rows)
	}
}
