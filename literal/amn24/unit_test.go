package amn24

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/literal/paper"
)

// Theorem A.1's formula, at numbers that were worked out by hand, and its inverse.
func TestAdvancedComposition(t *testing.T) {
	e, d := advancedComposition(8, .1, 1e-8, 1e-6)
	// .1 sqrt(16 ln 1e6) = .1 sqrt(221.0482) = 1.486769, 8 .1 (e^.1 - 1) = .8 .10517092 = .08413673
	if math.Abs(e-1.570906) > 1e-5 || math.Abs(d-1.08e-6) > 1e-15 {
		t.Errorf("got %v, %v", e, d)
	}
	for _, k := range []int{1, 2, 10, 1000} {
		for _, total := range []float64{.01, 1, 20} {
			step := stepEpsilon(k, total, 1e-6)
			e, _ := advancedComposition(k, step, 0, 1e-6)
			if basic := float64(k) * step; basic < total*(1-1e-9) || math.Min(e, basic) > total*(1+1e-9) {
				t.Errorf("k %d: %v each make %v, or %v, of %v", k, step, e, basic, total)
			}
		}
	}
}

// What the filter charges for k pure steps, converted at the theorem's delta, is about the
// theorem's epsilon or less. (For few steps basic composition is better than both.)
//
// Shows: [AMN24] Theorem A.1.
func TestFilterAgainstAdvancedComposition(t *testing.T) {
	for _, k := range []int{2, 3, 10, 100} {
		for _, eps := range []float64{.01, .1, 1} {
			total, delta := advancedComposition(k, eps, 0, 1e-6)
			got := privacy.EpsilonOfMu(delta, privacy.MuOfPure(eps)*math.Sqrt(float64(k)))
			if got > 1.02*total {
				t.Errorf("k %d, epsilon %v: the filter charges %v, advanced composition %v", k, eps, got, total)
			}
		}
	}
}

func randomPair(rng *rand.Rand, d int) (pair, *mat.SymDense) {
	l := mat.NewDense(d, d, nil)
	mean := make([]float64, d)
	for i := range d {
		mean[i] = rng.NormFloat64()
		for j := range i {
			l.Set(i, j, rng.NormFloat64())
		}
		l.Set(i, i, math.Exp(rng.NormFloat64()))
	}
	return paper.FromFactor(mean, l), gram(l)
}

// Closeness is that of the definition, with the symmetric root.
func TestCloseness(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	closer := 0
	for range 400 {
		d := 1 + rng.IntN(3)
		a, sa := randomPair(rng, d)
		b, sb := randomPair(rng, d)
		var e mat.EigenSym
		if !e.Factorize(sb, true) {
			t.Fatal("no eigenvectors")
		}
		var v, root, inner mat.Dense
		e.VectorsTo(&v)
		inner.Apply(func(_, j int, x float64) float64 { return x / math.Sqrt(e.Values(nil)[j]) }, &v)
		root.Mul(&inner, v.T())
		inner.Mul(&root, sa)
		inner.Mul(mat.DenseCopyOf(&inner), &root)
		off := mat.NewVecDense(d, nil)
		for i := range d {
			off.SetVec(i, a.Mean[i]-b.Mean[i])
			inner.Set(i, i, inner.At(i, i)-1)
		}
		off.MulVec(&root, mat.VecDenseCopyOf(off))
		var svd mat.SVD
		if !svd.Factorize(&inner, mat.SVDNone) {
			t.Fatal("no norm")
		}
		tol := tolerance{3 * rng.Float64(), 3 * rng.Float64(), 3 * rng.Float64()}
		want := svd.Values(nil)[0] <= tol.Gamma && mat.Norm(&inner, 2) <= tol.Rho && mat.Norm(off, 2) <= tol.Tau
		if tol.close(a, b) != want {
			t.Fatalf("d %d: close is %v, want %v", d, !want, want)
		}
		if want {
			closer++
		}
		if !(tolerance{1e-9, 1e-9, 1e-9}).close(a, a) || !vague(a, a, 1+1e-9) {
			t.Fatal("a pair is not close to itself")
		}
	}
	if closer < 10 {
		t.Errorf("%d of 400 are close: too few", closer)
	}
}

func TestVague(t *testing.T) {
	base := paper.Line(5, 2)
	for _, c := range []struct {
		mean, sd float64
		want     bool
	}{{5, 2, true}, {12.9, 2, true}, {13.1, 2, false}, {5, 3.99, true}, {5, 4.01, false}, {5, 1.01, true}, {5, .99, false}} {
		if vague(paper.Line(c.mean, c.sd), base, 4) != c.want {
			t.Errorf("%+v", c)
		}
	}
}

// The public net reaches everything that the facts allow: a pair close to any there is.
//
// Shows: [AMN24] Lemma D.1.
func TestPublicNet(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for _, d := range []int{1, 2} {
		const zeta = .5
		c := Practical()
		c.Net, c.Accuracy = zeta/.9, .9
		pairs, got := c.publicNet(d, 2, .5, 2)
		if pairs == nil || got != zeta {
			t.Fatalf("d %d: %d pairs, %v apart", d, len(pairs), got)
		}
		for range 60 {
			mean, l := make([]float64, d), mat.NewDense(d, d, nil)
			angle, at := 2*math.Pi*rng.Float64(), 2*math.Sqrt(rng.Float64())
			sin, cos := math.Sincos(angle)
			turn := [2][2]float64{{cos, -sin}, {sin, cos}}
			for i := range d {
				mean[i] = at * turn[i][0]
				for j := range d {
					l.Set(i, j, .5*math.Pow(4, rng.Float64()))
					if d == 2 {
						l.Set(i, j, [2]float64{.5, .5 + 1.5*rng.Float64()}[j]*turn[i][j])
					}
				}
			}
			truth, found := paper.NewGaussian(mean, gram(l)), false
			for _, p := range pairs {
				found = found || tolerance{2 * zeta, 2 * zeta, 2 * zeta}.close(truth, p)
			}
			if !found {
				t.Fatalf("d %d: nothing is close to %v, %v", d, mean, l)
			}
		}
	}
}
