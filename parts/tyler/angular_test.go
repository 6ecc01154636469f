package tyler

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
)

// randomLaw draws a covariance with eigenvalues spread over the given factor, and a mean of the
// given size.
func randomLaw(rng *rand.Rand, d int, spread, shift float64) (eta []float64, s *mat.SymDense) {
	g := mat.NewDense(d, d, nil)
	for i := range d {
		for j := range d {
			g.Set(i, j, rng.NormFloat64()*math.Pow(spread, rng.Float64()/2))
		}
		eta = append(eta, shift*rng.NormFloat64())
	}
	s = mat.NewSymDense(d, nil)
	s.SymOuterK(1/float64(d), g)
	return eta, s
}

// original undoes law.Turned.
func original(law *AngularLaw, x Image) Image {
	var t, y mat.Dense
	t.Mul(law.Vectors, x.WW)
	y.Mul(&t, law.Vectors.T())
	out := Image{&y, make([]float64, len(x.W0)), x.Zero}
	symmetric.AddMul(out.W0, law.Vectors, x.W0)
	return out
}

// TestExpectation holds the integral against a sum over random rows: 2e5 rows, whose mean of a
// number in [-1, 1] is off by more than 6/sqrt(2e5) with probability below 2 exp(-18) for each of a
// few hundred entries.
//
// Shows: [TYLERPRESS] Section 4.6.
func TestExpectation(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		d                 int
		spread, shift, nu float64
	}{{1, 1, 0, 1}, {2, 1, 1, 1}, {3, 1e4, .3, 1}, {5, 1e8, 2, 5}, {4, 1e-6, 1, 1}, {6, 10, 30, 6}} {
		eta, s := randomLaw(rng, c.d, c.spread, c.shift)
		law, ok := NewAngularLaw(eta, s, c.nu)
		if !ok {
			t.Fatal("no law")
		}
		at := original(law, law.Image)
		const rows = 200000
		var factor mat.Cholesky
		if !factor.Factorize(s) {
			t.Fatal("not positive")
		}
		var lower mat.TriDense
		factor.LTo(&lower)
		sum := mat.NewSymDense(c.d+1, nil)
		z, f := mat.NewVecDense(c.d, nil), mat.NewVecDense(c.d+1, nil)
		for range rows {
			for i := range c.d {
				z.SetVec(i, rng.NormFloat64())
			}
			var w mat.VecDense
			w.MulVec(&lower, z)
			f.SetVec(0, math.Sqrt(c.nu))
			for i := range c.d {
				f.SetVec(i+1, eta[i]+w.AtVec(i))
			}
			sum.SymRankOne(sum, 1/(rows*mat.Dot(f, f)), f)
		}
		limit := 6 / math.Sqrt(rows)
		check := func(name string, got, want float64) {
			if math.Abs(got-want) > limit {
				t.Errorf("%+v: %s: got %.5f, the rows give %.5f", c, name, got, want)
			}
		}
		trace := law.Zero
		check("zero", law.Zero, sum.At(0, 0))
		for i := range c.d {
			check("w0", at.W0[i], sum.At(0, i+1))
			trace += at.WW.At(i, i)
			for j := range c.d {
				check("ww", at.WW.At(i, j), sum.At(i+1, j+1))
			}
		}
		if math.Abs(trace-1) > 1e-7 {
			t.Errorf("%+v: trace %.9f, want 1", c, trace)
		}
	}
}

// TestDerivative holds Forward against differences of New at eta = 0, and Adjoint against Forward.
//
// Shows: [TYLERPRESS] Section 4.6.
func TestDerivative(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, d := range []int{1, 2, 5, 9} {
		for _, nu := range []float64{1, float64(d)} {
			_, s := randomLaw(rng, d, 100, 0)
			zero := make([]float64, d)
			law, _ := NewAngularLaw(zero, s, nu)
			dEta, dS := make([]float64, d), mat.NewDense(d, d, nil)
			ww, w0 := mat.NewDense(d, d, nil), make([]float64, d)
			for i := range d {
				dEta[i], w0[i] = rng.NormFloat64(), rng.NormFloat64()
				for j := i; j < d; j++ {
					v, w := rng.NormFloat64(), rng.NormFloat64()
					dS.Set(i, j, v)
					dS.Set(j, i, v)
					ww.Set(i, j, w)
					ww.Set(j, i, w)
				}
			}
			// A small part of the least eigenvalue, so that the moved matrix stays positive.
			var eigen mat.EigenSym
			eigen.Factorize(s, false)
			h := 1e-3 * eigen.Values(nil)[0] / mat.Norm(dS, 2)
			at := func(f float64) Image {
				moved, shift := mat.NewSymDense(d, nil), make([]float64, d)
				for i := range d {
					shift[i] = f * h * dEta[i]
					for j := i; j < d; j++ {
						moved.SetSym(i, j, s.At(i, j)+f*h*dS.At(i, j))
					}
				}
				l, _ := NewAngularLaw(shift, moved, nu)
				return original(l, l.Image)
			}
			up, down := at(1), at(-1)
			turned, y := law.Turned(Image{dS, dEta, 0}), Image{ww, w0, 2.5}
			derivative := law.Forward(turned.W0, turned.WW)
			forward := original(law, derivative)
			near := func(name string, got, a, b float64) {
				if want := (a - b) / (2 * h); math.Abs(got-want) > 1e-5*(1+math.Abs(want)) {
					t.Errorf("d=%d nu=%g: derivative of %s: got %g, want %g", d, nu, name, got, want)
				}
			}
			near("zero", forward.Zero, up.Zero, down.Zero)
			for i := range d {
				near("w0", forward.W0[i], up.W0[i], down.W0[i])
				for j := range d {
					near("ww", forward.WW.At(i, j), up.WW.At(i, j), down.WW.At(i, j))
				}
			}
			aEta, aS := law.Adjoint(y)
			product, other := derivative.Dot(y), 0.0
			for i := range d {
				other += aEta[i] * turned.W0[i]
				for j := range d {
					other += aS.At(i, j) * turned.WW.At(i, j)
				}
			}
			if math.Abs(product-other) > 1e-9*(1+math.Abs(product)) {
				t.Errorf("d=%d nu=%g: <Forward, y> = %g, <x, Adjoint y> = %g", d, nu, product, other)
			}
		}
	}
}
