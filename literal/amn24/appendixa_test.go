package amn24

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"

	"github.com/gauze-dp/gauze/internal/stattest"
)

// frame is a matrix of k orthonormal columns in d rows.
func frame(rng *rand.Rand, d, k int) *mat.Dense {
	var qr mat.QR
	qr.Factorize(gaussianMatrix(rng, d, d))
	var q mat.Dense
	qr.QTo(&q)
	return mat.DenseCopyOf(q.Slice(0, d, 0, k))
}

func gaussianMatrix(rng *rand.Rand, d, k int) *mat.Dense {
	m := mat.NewDense(d, k, nil)
	for i := range d {
		for j := range k {
			m.Set(i, j, rng.NormFloat64())
		}
	}
	return m
}

// product is a b c.
func product(a, b, c mat.Matrix) *mat.Dense {
	var m mat.Dense
	m.Product(a, b, c)
	return &m
}

// eigenvalues are those of a symmetric matrix, increasing.
func eigenvalues(t *testing.T, m mat.Matrix) []float64 {
	t.Helper()
	d, _ := m.Dims()
	s := mat.NewSymDense(d, nil)
	for i := range d {
		for j := range i + 1 {
			s.SetSym(i, j, (m.At(i, j)+m.At(j, i))/2)
		}
	}
	var e mat.EigenSym
	if !e.Factorize(s, false) {
		t.Fatal("no eigenvalues")
	}
	return e.Values(nil)
}

// spectral is the largest singular value.
func spectral(t *testing.T, m *mat.Dense) float64 {
	var square mat.Dense
	square.Mul(m.T(), m)
	return math.Sqrt(slices.Max(eigenvalues(t, &square)))
}

// shifted is a with its diagonal lowered by 1.
func shifted(a mat.Matrix) *mat.Dense {
	m := mat.DenseCopyOf(a)
	d, _ := m.Dims()
	for i := range d {
		m.Set(i, i, m.At(i, i)-1)
	}
	return m
}

// subspaces calls f with subspaces of dimension k as orthonormal columns: random ones and some
// around the span of the given columns of q.
func subspaces(rng *rand.Rand, q *mat.Dense, k, from int, f func(v *mat.Dense)) {
	d, _ := q.Dims()
	for i := range 60 {
		if i%2 == 0 {
			f(frame(rng, d, k))
			continue
		}
		m := gaussianMatrix(rng, d, k)
		m.Scale(math.Pow(10, -rng.Float64()*4), m)
		m.Add(m, q.Slice(0, d, from, from+k))
		var qr mat.QR
		qr.Factorize(m)
		var o mat.Dense
		qr.QTo(&o)
		f(mat.DenseCopyOf(o.Slice(0, d, 0, k)))
	}
}

// The k-th largest eigenvalue is the largest least value of x^t M x for unit x of a subspace of k
// dimensions, and the least largest one for d-k+1 dimensions: no subspace passes it, the
// eigenvectors' reach it. The matrices are made of their eigenvalues. The k-th singular value of J
// is the same for |Jx|, J not symmetric.
//
// Shows: [AMN24] Theorem A.4; Corollary A.5.
func TestTheoremA4(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 1))
	for trial := range 60 {
		d, singular := 2+rng.IntN(4), trial%2 == 1
		values := make([]float64, d)
		for i := range values {
			values[i] = 3 * rng.NormFloat64()
			if singular {
				values[i] = math.Abs(values[i])
			}
		}
		slices.SortFunc(values, func(a, b float64) int { return cmp.Compare(b, a) })
		q := frame(rng, d, d)
		form := product(q, mat.NewDiagDense(d, values), q.T())
		back := func(v float64) float64 { return v }
		if singular { // J = u diag(values) q^t
			j := product(frame(rng, d, d), mat.NewDiagDense(d, values), q.T())
			form.Mul(j.T(), j)
			back = func(v float64) float64 { return math.Sqrt(math.Max(0, v)) }
		}
		for k := 1; k <= d; k++ {
			subspaces(rng, q, k, 0, func(v *mat.Dense) {
				if got := back(eigenvalues(t, product(v.T(), form, v))[0]); got > values[k-1]+1e-6 {
					t.Fatalf("%v: a subspace of %d dimensions has least value %v", values, k, got)
				}
			})
			m := d - k + 1
			subspaces(rng, q, m, d-m, func(v *mat.Dense) {
				if got := back(eigenvalues(t, product(v.T(), form, v))[m-1]); got < values[k-1]-1e-6 {
					t.Fatalf("%v: a subspace of %d dimensions has largest value %v", values, m, got)
				}
			})
			top, rest := q.Slice(0, d, 0, k), q.Slice(0, d, k-1, d)
			least, most := back(eigenvalues(t, product(top.T(), form, top))[0]), back(eigenvalues(t, product(rest.T(), form, rest))[m-1])
			if math.Abs(least-values[k-1])+math.Abs(most-values[k-1]) > 1e-6 {
				t.Fatalf("%v: the eigenvectors' subspaces give %v and %v for %d", values, least, most, k)
			}
		}
	}
}

// If |J J^t - I| is at most phi in spectral norm, |J^t M J| is within factors of 1-phi and 1+phi of
// |M| in Frobenius norm, M symmetric; J = sqrt(1+phi) I and sqrt(1-phi) I reach them.
//
// Shows: [AMN24] Proposition A.6.
func TestPropositionA6(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 2))
	for trial := range 500 {
		d, phi := 1+rng.IntN(4), .9*rng.Float64()
		m := gaussianMatrix(rng, d, d)
		m.Add(m, mat.DenseCopyOf(m.T()))
		scales := make([]float64, d)
		for i := range scales {
			scales[i] = math.Sqrt(1 + phi*(2*rng.Float64()-1))
			if trial%5 == 0 {
				scales[i] = math.Sqrt(1 + phi*float64(1-2*(trial/5%2)))
			}
		}
		j := product(frame(rng, d, d), mat.NewDiagDense(d, scales), frame(rng, d, d))
		ratio := mat.Norm(product(j.T(), m, j), 2) / mat.Norm(m, 2)
		if ratio < 1-phi-1e-9 || ratio > 1+phi+1e-9 {
			t.Fatalf("phi %v: a factor of %v", phi, ratio)
		}
		if trial%5 == 0 && math.Abs(math.Abs(ratio-1)-phi) > 1e-9 {
			t.Fatalf("phi %v is not reached: %v", phi, ratio)
		}
	}
}

// J J^t - I and J^t J - I have one Frobenius and one spectral norm, and |AB| is at most the
// spectral norm of A times the Frobenius norm of B: the text has lost which of the two it says, and
// the proof of Proposition B.2 uses both.
//
// Shows: [AMN24] Fact H.1.
func TestFactH1(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 3))
	for range 300 {
		d := 1 + rng.IntN(4)
		a, b := gaussianMatrix(rng, d, d), gaussianMatrix(rng, d, d)
		var left, right, both mat.Dense
		left.Mul(a, a.T())
		right.Mul(a.T(), a)
		l, r := shifted(&left), shifted(&right)
		if math.Abs(mat.Norm(l, 2)-mat.Norm(r, 2)) > 1e-9*(1+mat.Norm(l, 2)) || math.Abs(spectral(t, l)-spectral(t, r)) > 1e-6*(1+spectral(t, l)) {
			t.Fatalf("%v: norms %v and %v", mat.Formatted(a), mat.Norm(l, 2), mat.Norm(r, 2))
		}
		both.Mul(a, b)
		if got, most := mat.Norm(&both, 2), spectral(t, a)*mat.Norm(b, 2); got > most*(1+1e-9) {
			t.Fatalf("|AB| = %v, more than %v", got, most)
		}
	}
}

// Truncated Laplace noise for sensitivity D has support A = D/epsilon ln(1 + (e^epsilon -
// 1)/(2 delta)): neighbours' releases, t <= D apart, differ by at most delta beyond e^epsilon, by
// exactly delta where t = D, and by more if t is 5% larger. Masses of cells are exact, and the sum
// over cells is at most what the best event has.
//
// Shows: [AMN24] Lemma A.3.
func TestLemmaA3(t *testing.T) {
	for _, c := range []struct{ d, epsilon, delta float64 }{{1, 1, 1e-6}, {6, .3, 1e-3}, {2, 4, 1e-2}, {.5, 1, .2}} {
		b := c.d / c.epsilon
		a := b * math.Log1p(math.Expm1(c.epsilon)/(2*c.delta))
		below := func(x float64) float64 { // P(Z <= x)
			x = math.Max(-a, math.Min(a, x))
			half := math.Expm1(-math.Abs(x)/b) / math.Expm1(-a/b) / 2
			return .5 + math.Copysign(half, x)
		}
		between := func(x, y float64) float64 { // from the nearer tail, which loses no digits
			if x > 0 {
				x, y = -y, -x
			}
			tail := func(z float64) float64 {
				if z <= -a {
					return 0
				}
				return math.Exp(-a/b) * math.Expm1((a+z)/b) / -math.Expm1(-a/b) / 2
			}
			if y <= 0 {
				return tail(y) - tail(x)
			}
			return below(y) - below(x)
		}
		beyond := func(shift float64) (sum float64) {
			const cells = 40000
			h := 2 * a / cells
			for i := range cells {
				x := -a + h*float64(i)
				sum += math.Max(0, between(x, x+h)-math.Exp(c.epsilon)*between(x+shift, x+h+shift))
			}
			return sum
		}
		for _, part := range []float64{.1, .5, .9, 1} {
			if got := beyond(part * c.d); got > c.delta*(1+1e-3) {
				t.Errorf("%+v: %v D apart: delta %v", c, part, got)
			}
		}
		if got := beyond(c.d); got < c.delta*.999 {
			t.Errorf("%+v: delta %v is not reached: %v", c, c.delta, got)
		}
		if got := beyond(1.05 * c.d); got < c.delta*1.01 {
			t.Errorf("%+v: 5%% more than D apart has delta %v only", c, got)
		}
	}
}

// hansonWright is the constant in the exponent of Lemma A.7 that follows from Laurent and Massart's
// bounds on weighted sums of squares: x = min(t^2/(16 F^2), t/(4 S)) makes 2 F sqrt(x) + 2 S x at
// most t.
const hansonWright = 1. / 16

// hansonWrightBound is 2 exp(-c min(t^2/F^2, t/S)), F the Frobenius and S the spectral norm.
func hansonWrightBound(c, deviation, frobenius, spectral float64) float64 {
	return 2 * math.Exp(-c*math.Min(deviation*deviation/(frobenius*frobenius), deviation/spectral))
}

// P(|x^t A x - tr A| >= t) <= 2 exp(-c min(t^2/|A|_F^2, t/|A|)), c = 1/16: exactly where A is the
// identity, by simulation for other A, not symmetric, of both signs: 30 comparisons of a rate that
// each fail with probability at most 1e-8. Both exponents are needed and c cannot be .6.
//
// Shows: [AMN24] Lemma A.7.
func TestLemmaA7(t *testing.T) {
	tail := func(d, at float64) float64 { // P(|chi^2_d - d| >= at)
		p := mathext.GammaIncRegComp(d/2, (d+at)/2)
		if at < d {
			p += mathext.GammaIncReg(d/2, (d-at)/2)
		}
		return p
	}
	var largeC, squareOnly, linearOnly bool
	for _, d := range []float64{1, 2, 5, 30, 400, 4000} {
		for at := .1; at < 300; at *= 1.3 {
			p := tail(d, at)
			if bound := hansonWrightBound(hansonWright, at, math.Sqrt(d), 1); p > bound {
				t.Errorf("d %v, t %v: %v, the bound is %v", d, at, p, bound)
			}
			largeC = largeC || p > hansonWrightBound(.6, at, math.Sqrt(d), 1)
			squareOnly = squareOnly || p > 2*math.Exp(-hansonWright*at*at/d)
			linearOnly = linearOnly || p > 2*math.Exp(-hansonWright*at)
		}
	}
	if !largeC || !squareOnly || !linearOnly {
		t.Errorf("the bound is not sharp: c = .6 fails %v, t^2 alone %v, t alone %v", largeC, squareOnly, linearOnly)
	}
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	for range 10 {
		d := 2 + rng.IntN(3)
		a := gaussianMatrix(rng, d, d)
		frobenius, largest := mat.Norm(a, 2), spectral(t, a)
		over, times := [3]int{}, []float64{4, 6, 9}
		const draws = 5000
		for range draws {
			x := gaussianMatrix(rng, d, 1)
			v := math.Abs(product(x.T(), a, x).At(0, 0) - mat.Trace(a))
			for i, f := range times {
				if v >= f*frobenius {
					over[i]++
				}
			}
		}
		for i, f := range times {
			stattest.GoodAtMost(t, over[i], draws, math.Min(1, hansonWrightBound(hansonWright, f*frobenius, frobenius, largest)), 1e-8)
		}
	}
}
