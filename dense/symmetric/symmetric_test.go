package symmetric

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/internal/stattest"
)

func newRand(t testing.TB) *rand.Rand {
	seed := stattest.Seed(t)
	return rand.New(rand.NewPCG(seed, seed>>32))
}

// randomCov is F F^T for a random F.
func randomCov(rng *rand.Rand, d int) *mat.SymDense {
	f := mat.NewDense(d, d, nil)
	for i := range d {
		for j := range d {
			f.Set(i, j, rng.NormFloat64())
		}
		f.Set(i, i, f.At(i, i)+1)
	}
	return Congruence(f, Identity(d))
}

// TestFactorEnds: the factorisation ends on any symmetric matrix, numbers or not, and is exact on
// positive definite ones.
func TestFactorEnds(t *testing.T) {
	rng := newRand(t)
	odd := []float64{0, 1, -1, 1e300, -1e300, 1e-300, 5e-324, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64}
	for range 3000 {
		d := 1 + rng.IntN(5)
		s := mat.NewSymDense(d, nil)
		for i := range d {
			for j := i; j < d; j++ {
				s.SetSym(i, j, rng.NormFloat64())
				if rng.IntN(3) == 0 {
					s.SetSym(i, j, odd[rng.IntN(len(odd))])
				}
			}
		}
		l, inv, logDet := Factor(s)
		Floored(s, 1e-3, 25)
		if _, root := FlooredRoot(s, 1e-3); !dense.AllFinite(root.RawSymmetric().Data) {
			t.Fatalf("root of %v: %v", mat.Formatted(s), mat.Formatted(root))
		}
		if math.IsNaN(logDet) || math.IsInf(logDet, 0) {
			t.Fatalf("log det %v of %v", logDet, mat.Formatted(s))
		}
		for i := range d {
			for j := range d {
				if !dense.Finite(l.At(i, j)) || !dense.Finite(inv.At(i, j)) {
					t.Fatalf("factor of %v: %v, %v", mat.Formatted(s), mat.Formatted(l), mat.Formatted(inv))
				}
			}
		}
	}
	for range 100 {
		cov := randomCov(rng, 1+rng.IntN(6))
		l, inv, _ := Factor(cov)
		var back, one mat.Dense
		back.Mul(l, l.T())
		one.Mul(l, inv)
		if !mat.EqualApprox(&back, cov, 1e-9) || !mat.EqualApprox(&one, Identity(cov.SymmetricDim()), 1e-6) {
			t.Fatalf("L L^T is not the matrix: %v", mat.Formatted(&back))
		}
	}
}

// TestEigen: s v = v diag(values), in increasing order, and both methods agree; what is not a
// number has no eigenvalues.
func TestEigen(t *testing.T) {
	rng := newRand(t)
	for range 100 {
		s := randomCov(rng, 1+rng.IntN(6))
		values, v, ok := Eigen(s)
		alone, also := Eigenvalues(s)
		if !ok || !also || !slices.IsSorted(values) {
			t.Fatalf("values %v of %v", values, mat.Formatted(s))
		}
		var left, right mat.Dense
		left.Mul(s, v)
		right.Mul(v, mat.NewDiagDense(len(values), values))
		if !mat.EqualApprox(&left, &right, 1e-9) || !floats.EqualApprox(values, alone, 1e-9) {
			t.Fatalf("of %v: values %v and %v, vectors %v", mat.Formatted(s), values, alone, mat.Formatted(v))
		}
	}
	for _, x := range []float64{math.NaN(), math.Inf(1), 1e200} {
		s := mat.NewSymDense(2, []float64{1, x, x, 1})
		if _, _, ok := Eigen(s); ok {
			t.Errorf("eigenvectors of %v", mat.Formatted(s))
		}
		if _, ok := Eigenvalues(s); ok {
			t.Errorf("eigenvalues of %v", mat.Formatted(s))
		}
	}
}

// TestFloored: eigenvalues end between the bounds, and a matrix within them stays.
func TestFloored(t *testing.T) {
	rng := newRand(t)
	for range 200 {
		d := 1 + rng.IntN(6)
		s := randomCov(rng, d)
		var e mat.EigenSym
		if !e.Factorize(Floored(s, .5, 2), false) {
			t.Fatal("no eigenvalues")
		}
		for _, v := range e.Values(nil) {
			if v < .5*(1-1e-9) || v > 2*(1+1e-9) {
				t.Fatalf("eigenvalue %v outside [.5, 2]", v)
			}
		}
		if !mat.EqualApprox(Floored(s, 0, 1e9), s, 1e-9) {
			t.Fatal("a matrix within the bounds changed")
		}
	}
}

// TestFlooredRoot: the root is that of the floored matrix, which is what Floored makes of it.
func TestFlooredRoot(t *testing.T) {
	rng := newRand(t)
	for range 200 {
		s := randomCov(rng, 1+rng.IntN(6))
		floored, root := FlooredRoot(s, .5)
		var square mat.Dense
		square.Mul(root, root)
		if !mat.EqualApprox(floored, Floored(s, .5, math.Inf(1)), 1e-9) || !mat.EqualApprox(&square, floored, 1e-9) {
			t.Fatalf("of %v: %v, root %v", mat.Formatted(s), mat.Formatted(floored), mat.Formatted(root))
		}
	}
}

// TestCongruence: Congruence is a s a^T entry by entry, also for an a that is not square.
func TestCongruence(t *testing.T) {
	rng := newRand(t)
	for range 100 {
		r, d := 1+rng.IntN(5), 1+rng.IntN(5)
		a, s := mat.NewDense(r, d, nil), randomCov(rng, d)
		for i := range r {
			for j := range d {
				a.Set(i, j, rng.NormFloat64())
			}
		}
		got := Congruence(a, s)
		for i := range r {
			for j := range r {
				want := 0.0
				for k := range d {
					for l := range d {
						want += a.At(i, k) * s.At(k, l) * a.At(j, l)
					}
				}
				if math.Abs(got.At(i, j)-want) > 1e-9*(1+math.Abs(want)) {
					t.Fatalf("entry %d, %d: got %v, want %v", i, j, got.At(i, j), want)
				}
			}
		}
	}
}

// TestNorms: norms and diagonals of a matrix of small integers.
func TestNorms(t *testing.T) {
	s := mat.NewSymDense(2, []float64{1, 2, 2, 5})
	if got := Frobenius2(s); got != 34 {
		t.Errorf("Frobenius2: got %v, want 34", got)
	}
	if got := dense.Norm2([]float64{3, 4}); got != 25 {
		t.Errorf("Norm2: got %v, want 25", got)
	}
	if got, want := OnlyDiagonal(s, false), mat.NewSymDense(2, []float64{1, 0, 0, 5}); !mat.Equal(got, want) {
		t.Errorf("diagonal: got %v", mat.Formatted(got))
	}
	if got, want := OnlyDiagonal(s, true), mat.NewSymDense(2, []float64{3, 0, 0, 3}); !mat.Equal(got, want) {
		t.Errorf("spherical: got %v", mat.Formatted(got))
	}
	if !dense.AllFinite([]float64{0, -math.MaxFloat64}) || dense.AllFinite([]float64{0, math.Inf(-1)}) || dense.AllFinite([]float64{math.NaN()}) {
		t.Error("AllFinite is wrong")
	}
}

// TestPrincipal: orthonormal eigenvectors by falling eigenvalue; a matrix that is not finite has
// its diagonal and the axes.
func TestPrincipal(t *testing.T) {
	rng := newRand(t)
	for range 50 {
		d := 1 + rng.IntN(6)
		s := randomCov(rng, d)
		v, values := Principal(s, 1+rng.IntN(d))
		_, q := v.Dims()
		in, gram := Congruence(mat.DenseCopyOf(v.T()), s), Congruence(mat.DenseCopyOf(v.T()), Identity(d))
		for i := range d {
			if i > 0 && values[i] > values[i-1] {
				t.Errorf("eigenvalues %v do not fall", values)
			}
			for j := i; i < q && j < q; j++ {
				want, one := 0.0, 0.0
				if i == j {
					want, one = values[i], 1
				}
				if math.Abs(in.At(i, j)-want) > 1e-9*values[0] || math.Abs(gram.At(i, j)-one) > 1e-9 {
					t.Errorf("v^T S v = %v, v^T v = %v at %d, %d; eigenvalues %v", in.At(i, j), gram.At(i, j), i, j, values)
				}
			}
		}
	}
	v, values := Principal(mat.NewSymDense(2, []float64{1, math.NaN(), math.NaN(), 4}), 2)
	if !mat.Equal(v, Identity(2)) || values[0] != 1 || values[1] != 4 {
		t.Errorf("not finite: %v, %v", mat.Formatted(v), values)
	}
}
