package km21

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/literal/paper"
	"github.com/gauze-dp/gauze/model"
)

// A pair is a covariance, an estimate of it, and what lies between them.
type pair struct {
	d                   int
	sigma, s            *mat.SymDense
	least, most         float64 // eigenvalues of sigma
	spectral, frobenius float64
	mahalanobis         float64 // |M|_F
	narrow, wide        float64 // the least and the largest eigenvalue of M
	mean                float64
	a, b                model.Gaussian
}

// root is v diag(values^power) v^T.
func root(v *mat.Dense, values []float64, power float64) *mat.SymDense {
	out := mat.NewSymDense(len(values), nil)
	for i, x := range values {
		out.SymRankOne(out, math.Pow(x, power), v.ColView(i))
	}
	return out
}

func largest(m mat.Symmetric) float64 {
	var e mat.EigenSym
	e.Factorize(m, false)
	most := 0.0
	for _, v := range e.Values(nil) {
		most = math.Max(most, math.Abs(v))
	}
	return most
}

// conjugate is a m a^T.
func conjugate(a mat.Matrix, m mat.Symmetric) *mat.SymDense {
	var t, out mat.Dense
	t.Mul(a, m)
	out.Mul(&t, a.T())
	d, _ := out.Dims()
	s := mat.NewSymDense(d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			s.SetSym(i, j, (out.At(i, j)+out.At(j, i))/2)
		}
	}
	return s
}

// draw is a random pair: eigenvalues over six decades, errors from tiny to as large as the
// covariance, in few directions or in all.
func draw(t *testing.T, rng *rand.Rand) pair {
	t.Helper()
	p := pair{d: 1 + rng.IntN(5), least: math.Inf(1)}
	values := make([]float64, p.d)
	for i := range values {
		values[i] = math.Pow(10, 6*rng.Float64()-3)
		p.least, p.most = math.Min(p.least, values[i]), math.Max(p.most, values[i])
	}
	v := paper.Rotation(rng, p.d)
	p.sigma = root(v, values, 1)
	half := root(v, values, .5)
	size := math.Pow(10, -3*rng.Float64())
	errors := make([]float64, p.d)
	for i := range errors {
		if i == 0 || rng.IntN(2) == 0 {
			errors[i] = size * math.Max(-.999/size, 2*rng.Float64()-1)
		}
	}
	m := root(paper.Rotation(rng, p.d), errors, 1)
	p.mahalanobis, p.narrow, p.wide = mat.Norm(m, 2), slices.Min(errors), slices.Max(errors)
	p.s = conjugate(half, m)
	p.frobenius, p.spectral = mat.Norm(p.s, 2), largest(p.s)
	p.s.AddSym(p.s, p.sigma)
	shift := mat.NewVecDense(p.d, nil)
	for i := range p.d {
		shift.SetVec(i, size*rng.NormFloat64())
	}
	p.mean = mat.Norm(shift, 2)
	var moved mat.VecDense
	moved.MulVec(half, shift)
	p.a, p.b = gaussianOf(t, make([]float64, p.d), p.sigma), gaussianOf(t, moved.RawVector().Data, p.s)
	return p
}

func gaussianOf(t *testing.T, mean []float64, cov *mat.SymDense) model.Gaussian {
	t.Helper()
	var e mat.EigenSym
	e.Factorize(cov, true)
	var v mat.Dense
	e.VectorsTo(&v)
	for j, l := range e.Values(nil) {
		for i := range mean {
			v.Set(i, j, v.At(i, j)*math.Sqrt(math.Max(0, l)))
		}
	}
	c, err := model.FullFromFactor(&v)
	if err != nil {
		t.Fatal(err)
	}
	return model.Gaussian{Mean: mean, Cov: c}
}

const slack = 1 + 1e-6 // rounding

// Every reduction holds for random pairs, and is attained, or nearly.
//
// Shows: [TALK] Norms.
func TestReductions(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	tightest := map[string]float64{}
	holds := func(name string, is, most float64) {
		t.Helper()
		if is > most*slack {
			t.Errorf("%s: %v, at most %v", name, is, most)
		}
		if most > 0 {
			tightest[name] = math.Max(tightest[name], is/most)
		}
	}
	for range 4000 {
		p := draw(t, rng)
		holds("the spectral norm and Frobenius'", p.spectral, p.frobenius)
		holds("Frobenius' norm and the spectral", p.frobenius, frobeniusOfSpectral(p.d, p.spectral))
		holds("Mahalanobis of Frobenius", p.mahalanobis, mahalanobisOf(p.frobenius, p.least))
		holds("Frobenius of Mahalanobis", p.frobenius, frobeniusOf(p.mahalanobis, p.most))
		low, high := variancesWithin(p.mahalanobis)
		holds("the widest direction", 1+p.wide, high)
		holds("the narrowest direction", low, 1+p.narrow)
	}
	for name, x := range tightest {
		if x < .9 {
			t.Errorf("%s: nowhere nearer to the bound than %.2f of it", name, x)
		}
	}
}

// The Mahalanobis error is the same in all coordinates: what a preconditioner A does to rows and
// estimate does nothing to it.
//
// Shows: [KM21] Algorithm 3.
func TestMahalanobisIsInvariant(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 2))
	error := func(sigma, s *mat.SymDense) float64 {
		var chol mat.Cholesky
		if !chol.Factorize(sigma) {
			t.Fatal("no Cholesky factor")
		}
		var l mat.TriDense
		chol.LTo(&l)
		var inverse mat.Dense
		if err := inverse.Inverse(&l); err != nil {
			t.Fatal(err)
		}
		m := conjugate(&inverse, s)
		for i := range m.SymmetricDim() {
			m.SetSym(i, i, m.At(i, i)-1)
		}
		return mat.Norm(m, 2)
	}
	for range 300 {
		p := draw(t, rng)
		a := paper.Rotation(rng, p.d)
		for i := range p.d {
			for j := range p.d {
				a.Set(i, j, a.At(i, j)*math.Pow(2, 4*rng.Float64()-2))
			}
		}
		if got := error(conjugate(a, p.sigma), conjugate(a, p.s)); math.Abs(got/p.mahalanobis-1) > 1e-4 {
			t.Errorf("in other coordinates %v, was %v", got, p.mahalanobis)
		}
	}
}

// Variation bounds the total variation distance: that of Gaussians in one column by the integral,
// and in more by Pinsker's inequality from the exact divergence, which is not more than the bound
// says, and for small errors a constant part of it.
//
// Shows: [TALK] Norms.
func TestVariation(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 3))
	nearest := 0.0
	for range 2000 {
		p := draw(t, rng)
		most := variationOf(p.mean, p.mahalanobis)
		if most == 1 {
			continue
		}
		pinsker := math.Sqrt(model.GaussianKL(p.b, p.a) / 2)
		if pinsker > most*slack+1e-9 {
			t.Errorf("mean %v, covariance %v: Pinsker's bound is %v, the one here %v", p.mean, p.mahalanobis, pinsker, most)
		}
		if p.d == 1 {
			tv := variation(p.mean, p.s.At(0, 0)/p.sigma.At(0, 0))
			if tv > most*slack {
				t.Errorf("mean %v, covariance %v: total variation %v, at most %v", p.mean, p.mahalanobis, tv, most)
			}
			nearest = math.Max(nearest, tv/most)
		}
	}
	if nearest < .7 {
		t.Errorf("nowhere nearer to the bound than %.2f of it", nearest)
	}
	if variationOf(0, .6) != 1 || variationOf(5, .1) != 1 {
		t.Error("far apart: want 1")
	}
}

// variation is the total variation distance of N(0, 1) and N(mean, square).
func variation(mean, square float64) float64 {
	const step = 1e-3
	sd, sum := math.Sqrt(square), 0.0
	for x := -12.0; x < 12; x += step {
		p := math.Exp(-x * x / 2)
		q := math.Exp(-(x-mean)*(x-mean)/(2*square)) / sd
		sum += math.Abs(p-q) * step
	}
	return sum / 2 / math.Sqrt(2*math.Pi)
}

// The other way: a small distance in total variation says that the parameters are near. For
// Gaussians of one mean |M|_F <= 100 times it, or it is at least 1/100 (the constant of Devroye,
// Mehrabian and Reddad); here in one column, where the quotient is at most 6 for distances below
// 1/10.
//
// Shows: [TALK] Norms.
func TestVariationFromBelow(t *testing.T) {
	worst := 0.0
	for square := .5; square < 2; square *= 1.01 {
		if tv := variation(0, square); tv < .1 && math.Abs(square-1) > 1e-6 {
			worst = math.Max(worst, math.Abs(square-1)/tv)
		}
	}
	if worst > 6 || worst < 3 {
		t.Errorf("the error of a variance is up to %.2f times the total variation", worst)
	}
}
