package privacy

import (
	"math"
	"math/rand/v2"
	"testing"
)

func maskLogUniform(r *rand.Rand, lo, hi float64) float64 {
	return math.Exp(math.Log(lo) + r.Float64()*math.Log(hi/lo))
}

// largestWhere is the largest x in (0, 1e20) with ok(x), if ok changes once, from true to false; it
// bisects on the bits of x.
func largestWhere(ok func(x float64) bool) float64 {
	low, high := uint64(0), math.Float64bits(1e20)
	for high-low > 1 {
		if mid := low + (high-low)/2; ok(math.Float64frombits(mid)) {
			low = mid
		} else {
			high = mid
		}
	}
	return math.Float64frombits(low)
}

// stretched is g of [Lifted] at any x, in float64: no margin.
func stretched(a, x float64, d int, eta float64) float64 {
	s := 1 + a*math.Expm1(x)
	if s <= 0 {
		return math.Inf(1)
	}
	shift := math.Expm1(x/2) / eta
	return a/2*shift*shift/s + float64(d)*(a*x-math.Log1p(a*math.Expm1(x)))/(2*(a-1))
}

// renyi is the Rényi divergence of order a of N(0, 1) from N(m, c), by the trapezoidal rule.
func renyi(a, m, c float64) float64 {
	sum, curvature := 0.0, a-(a-1)/c
	center, width := -(a-1)*m/c/curvature, 1/math.Sqrt(curvature) // of p^a q^(1-a)
	const h = 1. / 64
	top := math.Inf(-1)
	f := func(t float64) float64 {
		x := center + width*t
		return -a*x*x/2 + (a-1)*(x-m)*(x-m)/(2*c) + (a-1)*math.Log(c)/2 - math.Log(2*math.Pi)/2
	}
	for t := -12.; t <= 12; t += h {
		top = math.Max(top, f(t))
	}
	for t := -12.; t <= 12; t += h {
		sum += math.Exp(f(t)-top) * h * width
	}
	return (top + math.Log(sum)) / (a - 1)
}

// TestMaskFormula: g is the divergence of the rows, by quadrature, on both sides of zero; and
// squeezed is g(-x), hardly more.
func TestMaskFormula(t *testing.T) {
	for _, c := range []struct {
		a, x, eta float64
		d         int
	}{{1.5, -.3, .3, 2}, {2, .5, .1, 1}, {8, -.05, .2, 3}, {8, .05, .2, 3}, {30, -.02, .4, 11}, {100, .01, 1, 5}, {1.01, -1, .5, 2},
		{3, -.4, 2, 1}} {
		want := renyi(c.a, math.Expm1(c.x/2)/c.eta, math.Exp(c.x)) + float64(c.d-1)*renyi(c.a, 0, math.Exp(c.x))
		if got := stretched(c.a, c.x, c.d, c.eta); math.Abs(got-want) > 1e-9*want {
			t.Errorf("%+v: g = %.12g, by quadrature %.12g", c, got, want)
		}
		if c.x < 0 {
			if got := squeezed(c.a, -c.x, c.d, c.eta); !(got >= want*(1-1e-12)) || got > want*(1+1e-9) {
				t.Errorf("%+v: squeezed %.15g, want %.15g or hardly more", c, got, want)
			}
		}
	}
	for _, c := range []struct{ a, x float64 }{{2, math.Ln2}, {11, .1}, {1.2, 2}} {
		if got := squeezed(c.a, c.x, 3, 1); !math.IsInf(got, 1) {
			t.Errorf("%+v: %g at an order that is too large", c, got)
		}
	}
}

// TestMaskLemma: g(x)/x^2 decreases, on dense grids.
func TestMaskLemma(t *testing.T) {
	for _, a := range []float64{1.001, 1.1, 1.7, 2, 3, 6, 15, 60, 300} {
		for _, eta := range []float64{.003, .05, .3, 1, 30} {
			for _, d := range []int{1, 2, 4, 20} {
				last := math.Inf(1)
				from := math.Log1p(-1 / a) // s = 0
				for i := 1; i < 4000; i++ {
					x := from + float64(i)/4000*(2.5-from)
					if math.Abs(x) < 2e-3 {
						continue // rounding
					}
					if g := stretched(a, x, d, eta) / (x * x); g > last*(1+1e-8) {
						t.Fatalf("a = %g, eta = %g, D = %d: g(x)/x^2 grows to %g at x = %g", a, eta, d, g, x)
					} else {
						last = g
					}
				}
			}
		}
	}
}

// TestMaskCoversSpectra: no joint spectrum within Gamma has more divergence than -Gamma alone,
// which attains the curve.
func TestMaskCoversSpectra(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		m := CovarianceMask{Dimension: 1 + r.IntN(12), Gamma: maskLogUniform(r, 1e-3, .5), Eta: maskLogUniform(r, .02, 3)}
		l := make([]float64, 1+r.IntN(3*m.Dimension)) // of up to three components
		norm := 0.0
		for i := range l {
			l[i] = r.NormFloat64()
			if r.IntN(3) == 0 {
				l[i] = -math.Abs(10 * l[i])
			}
			norm = math.Hypot(norm, l[i])
		}
		curve := m.Curve().Values()
		for i, a := range Orders() {
			if i%7 != 0 || a < 1.01 || math.IsInf(curve[i], 1) {
				continue
			}
			sum := 0.0
			for _, x := range l {
				sum += stretched(a, x*m.Gamma/norm, m.Dimension, m.Eta)
			}
			if sum > curve[i]*(1+1e-8) {
				t.Fatalf("%+v, order %g: spectrum %v has %g, the curve %g", m, a, l, sum, curve[i])
			}
			if alone := stretched(a, -m.Gamma, m.Dimension, m.Eta); alone < curve[i]*(1-1e-8) {
				t.Fatalf("%+v, order %g: the curve %g is far above %g", m, a, curve[i], alone)
			}
		}
	}
}

// parameterLoss is the exact divergence for one component, with shift m in the basis in which S = I
// and S' = diag(e^l).
func parameterLoss(p ParameterMask, a float64, l, m []float64) float64 {
	sum := a * p.Gamma * p.Gamma / (2 * p.EtaWeight * p.EtaWeight)
	for i, x := range l {
		s := 1 + a*math.Expm1(x)
		if s <= 0 {
			return math.Inf(1)
		}
		sum += stretched(a, x, p.Dimension+1, p.EtaCov) + a*m[i]*m[i]/(2*p.EtaMean*p.EtaMean*s)
	}
	return sum
}

// TestParameterMask: random neighbours at the border of what dist_PARAM allows stay below the
// curve, and in one column it is attained.
//
// Shows: [PPE] Lemma 5.3.1.
func TestParameterMask(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	closest := 0.0
	for range 4000 {
		d := 1 + r.IntN(4)
		p := ParameterMask{Components: 1 + r.IntN(4), Dimension: d, Gamma: maskLogUniform(r, 1e-3, 1),
			EtaWeight: maskLogUniform(r, .01, 2), EtaMean: maskLogUniform(r, .01, 2), EtaCov: maskLogUniform(r, .01, 2)}
		l, m := make([]float64, d), make([]float64, d)
		for i := range l {
			l[i], m[i] = r.NormFloat64(), r.NormFloat64()*float64(r.IntN(2))
		}
		if r.IntN(2) == 0 { // the worst case in one column
			clear(l)
			clear(m)
			l[0], m[0] = -1, 1
		}
		norms := func(f float64) float64 {
			var u, v float64
			for _, x := range l {
				u, v = math.Hypot(u, math.Expm1(f*x)), math.Hypot(v, math.Expm1(-f*x))
			}
			return math.Max(u, v)
		}
		f := 0.0
		for step := 1.; step > 1e-14; step /= 2 {
			for norms(f+step) <= p.Gamma {
				f += step
			}
		}
		var u, v float64
		for i := range l {
			l[i] *= f
			u, v = math.Hypot(u, m[i]), math.Hypot(v, m[i]*math.Exp(-l[i]/2))
		}
		for i := range m {
			m[i] *= p.Gamma / math.Max(math.Max(u, v), 1e-300)
		}
		curve := p.Curve().Values()
		for i, a := range Orders() {
			if i%5 != 0 || a < 1.01 || math.IsInf(curve[i], 1) {
				continue
			}
			got := float64(p.Components) * parameterLoss(p, a, l, m)
			if got > curve[i]*(1+1e-8) {
				t.Fatalf("%+v, order %g: %v, %v has %g, the curve %g", p, a, l, m, got, curve[i])
			}
			if d == 1 && l[0] < 0 && m[0] != 0 {
				closest = math.Max(closest, got/curve[i])
				if got < curve[i]*(1-1e-6) {
					t.Fatalf("%+v, order %g: %g, the curve %g: not attained", p, a, got, curve[i])
				}
			}
		}
	}
	if closest < 1-1e-6 {
		t.Error("no case in one column")
	}
}

// TestMaskCurves: every valid mask has a curve, however extreme; it grows with Gamma and falls with
// the noise.
func TestMaskCurves(t *testing.T) {
	below := func(lo, hi Curve) bool {
		for i, x := range lo.Values() {
			if x > hi.Values()[i]*(1+1e-9) {
				return false
			}
		}
		return true
	}
	for _, gamma := range []float64{1e-7, 1e-6, 1e-4, .01, .1, .5, 1} {
		for _, eta := range []float64{1e-6, .01, 1, 1e6} {
			for _, d := range []int{1, 7, maxMasked} {
				a, b := CovarianceMask{d, gamma, eta}, ParameterMask{3, d, gamma, eta, eta, eta}
				if !below(a.Curve(), CovarianceMask{d, 2 * gamma, eta}.Curve()) ||
					gamma < 1 && !below(b.Curve(), ParameterMask{3, d, 2 * gamma, eta, eta, eta}.Curve()) {
					t.Errorf("%+v, %+v: the curve falls where there is more loss", a, b)
				}
				if eta > 1e-6 && (!below(a.Curve(), CovarianceMask{d, gamma, eta / 2}.Curve()) ||
					!below(b.Curve(), ParameterMask{3, d, gamma, eta, eta / 2, eta}.Curve())) {
					t.Errorf("%+v, %+v: the curve falls with less noise", a, b)
				}
			}
		}
	}
	for _, bad := range []interface {
		Validate() error
		Curve() Curve
	}{CovarianceMask{}, CovarianceMask{0, .1, 1}, CovarianceMask{1, 0, 1}, CovarianceMask{1, 11, 1}, CovarianceMask{1, math.NaN(), 1}, CovarianceMask{1, .1, 0}, CovarianceMask{1, .1, math.Inf(1)},
		ParameterMask{}, ParameterMask{1, 1, 1.1, 1, 1, 1}, ParameterMask{0, 1, .1, 1, 1, 1}, ParameterMask{1, 1, .1, 1, 0, 1},
		ParameterMask{1, 1, .1, 1, 1, math.NaN()}} {
		if bad.Validate() == nil {
			t.Errorf("%+v is valid", bad)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v has a curve", bad)
				}
			}()
			bad.Curve()
		}()
	}
}

// TestMaskTable is the table of Section A4 of the restatement: at (.5, 5e-7) and eta =
// .5/sqrt(d+1), the largest Gamma beside that of Lemma 5.3.2 for d+1 columns.
func TestMaskTable(t *testing.T) {
	const eps, delta = .5, 5e-7
	for _, c := range []struct{ d, tight, printed float64 }{
		{1, .0280, .00267}, {2, .0256, .00178}, {5, .0215, .00089}, {10, .0179, .00049}} {
		d := c.d + 1
		eta, log := .5/math.Sqrt(d), math.Log(2/delta)
		tight := largestWhere(func(x float64) bool {
			return x < minGamma || x <= 1 && CovarianceMask{int(d), x, eta}.Curve().Epsilon(delta) <= eps
		})
		printed := math.Inf(1)
		for _, bound := range []float64{math.Sqrt(eps / (2 * d * (d + 1/(eta*eta)))), eps / (8 * d * math.Sqrt(log)), eps / (8 * log),
			eps * eta / (12 * math.Sqrt(d*log))} {
			printed = math.Min(printed, bound)
		}
		if math.Abs(tight/c.tight-1) > .01 || math.Abs(printed/c.printed-1) > .01 {
			t.Errorf("d = %g: tight %.5f and printed %.6f, the restatement has %g and %g", c.d, tight, printed, c.tight, c.printed)
		}
	}
}
