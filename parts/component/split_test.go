package component

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/kernel/query"
)

// TestSplitShares: the first component has all of a row within the gate and nothing of one beyond,
// whose vectors in the second have the length of its radius.
func TestSplitShares(t *testing.T) {
	one := query.Affine{Columns: []int{0}, Center: []float64{0}, W: [][]float64{{1}}}
	s := Split{Map: one, R2: 4, Gate: 25}
	cs := s.Components()
	for _, x := range []float64{0, 1, 4.8, 5.2, 10, 1e6} {
		log := func(c query.Component) float64 { z := x * c.Map.W[0][0]; return c.LogWeight - z*z/2 }
		share := 1 / (1 + math.Exp(log(cs[1])-log(cs[0])))
		if within := x < 5; within && share < .99 || !within && share > .01 {
			t.Errorf("a row at %v has the share %v within a gate at 5", x, share)
		}
		if z := x * cs[1].Map.W[0][0]; x >= 5.2 && z < cs[1].Radius {
			t.Errorf("a row at %v has the length %v beyond the gate, below %v", x, z, cs[1].Radius)
		}
	}
	sum := func(first, second float64) Sums {
		return Sums{Sum: []float64{first}, Second: mat.NewSymDense(1, []float64{second}), SumSD: 1, SecondSD: 1, Trace: second, TraceSD: 1}
	}
	within, beyond := s.Unpack([]Sums{sum(splitSharp*3, splitSharp*splitSharp*7), sum(splitFlat*5*2, splitFlat*splitFlat*25*2)})
	if math.Abs(within.Sum[0]-3) > 1e-12 || math.Abs(within.Trace-7) > 1e-12 || math.Abs(beyond.Sum[0]-2) > 1e-12 || math.Abs(beyond.Second.At(0, 0)-2) > 1e-12 {
		t.Errorf("%+v, %+v", within, beyond)
	}
}

// TestFar: far rows in one direction make mean and covariance those of the mixture, in that
// direction alone, and noise without rows changes nothing.
func TestFar(t *testing.T) {
	const d, rows, share, far, sd = 3, 10_000., .02, 30., 5.
	count := share * rows
	s := Sums{Sum: []float64{count, 2, -3}, Second: mat.NewSymDense(d, []float64{count, 3, -2, 3, 4, 1, -2, 1, -4}), SecondSD: sd, Trace: count}
	f := NewBeyond(s, rows, far, far*far+1)
	one := mat.NewSymDense(d, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1})
	mean, cov := f.With(make([]float64, d), one)
	if math.Abs(f.Share-share) > 1e-12 || math.Abs(mean[0]-share*far) > .01 || math.Abs(mean[1]) > .02 {
		t.Errorf("a share of %v and the mean %v", f.Share, mean)
	}
	if want := 1 + share*(1-share)*far*far; math.Abs(cov.At(0, 0)-want) > .1 || cov.At(1, 1) > 1.1 || cov.At(2, 2) < .97 {
		t.Errorf("the covariance %v, want %v first", mat.Formatted(cov), want)
	}
	s = Sums{Sum: []float64{2, 2, -3}, Second: mat.NewSymDense(d, []float64{5, 3, -2, 3, 4, 1, -2, 1, -9.5}), SecondSD: sd, Trace: -.5}
	if mean, cov = NewBeyond(s, rows, far, far*far).With(make([]float64, d), one); mean[0] != 0 || math.Abs(cov.At(0, 0)-1) > 1e-12 {
		t.Errorf("noise makes the mean %v and the covariance %v", mean, mat.Formatted(cov))
	}
	s = Sums{Sum: make([]float64, d), Second: mat.NewSymDense(d, []float64{40, 0, 0, 0, 39, 0, 0, 0, 41}), SecondSD: 30, Trace: 120}
	if f = NewBeyond(s, rows, far, far*far); !(f.Hidden > 0) || f.Second.At(0, 0) != 0 {
		t.Errorf("%+v: directions that the noise hides are not lost", f)
	}
	s.SecondSD, s.Trace = 20, 120
	if f = NewBeyond(s, rows, far, far*far); f.Hidden != 0 || math.Abs(f.Second.At(2, 2)-40*far*far/rows) > 1 {
		t.Errorf("%+v: rows without a clear direction are not spread", f)
	}
}

// TestFarInColumns: rows 1e6 out in one of three correlated columns leave the others as they are,
// though the noise of their direction is that of thousands of standard deviations there; rows that
// are far out in all columns stay so.
func TestFarInColumns(t *testing.T) {
	const d, rows, count, far, sd = 3, 10_000., 500., 1e6, 5.
	columns := mat.NewDense(d, d, []float64{1, 0, 0, .6, .8, 0, .6, .48, .64})
	var inverse mat.Dense
	if err := inverse.Inverse(columns); err != nil {
		t.Fatal(err)
	}
	for _, of := range []struct {
		direction []float64 // in columns
		clean     bool
	}{{[]float64{1, 0, 0}, true}, {[]float64{1, -1, 1}, false}} {
		z := mat.NewVecDense(d, nil)
		z.MulVec(&inverse, mat.NewVecDense(d, of.direction))
		z.ScaleVec(1/mat.Norm(z, 2), z)
		s := Sums{Sum: make([]float64, d), Second: mat.NewSymDense(d, []float64{3, -4, 2, -4, -5, 4, 2, 4, 4}), SecondSD: sd, Trace: count}
		s.Second.SymRankOne(s.Second, count, z)
		for i := range s.Sum {
			s.Sum[i] = count*z.AtVec(i) + float64(i) - 1
		}
		f := NewBeyond(s, rows, far, far*far)
		f.InColumns(columns)
		mean, cov := f.With(make([]float64, d), mat.NewSymDense(d, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}))
		var moved mat.VecDense
		moved.MulVec(columns, mat.NewVecDense(d, mean))
		for j := range d {
			row := columns.RowView(j)
			variance, still := mat.Inner(row, cov, row), of.clean && j > 0
			if still && (math.Abs(moved.AtVec(j)) > 1e-3 || math.Abs(variance-1) > .1) || !still && variance < 1e8 {
				t.Errorf("far out in %v: column %d has the mean %v and the variance %v", of.direction, j, moved.AtVec(j), variance)
			}
		}
	}
}
