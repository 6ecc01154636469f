package privacy

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// The generator only picks examples; every property below holds for all of them, so any seed will
// do.
func generator() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

func logUniform(r *rand.Rand, lo, hi float64) float64 {
	return math.Exp(math.Log(lo) + r.Float64()*math.Log(hi/lo))
}

func TestSolversEndWithTheirCheck(t *testing.T) {
	r := generator()
	for range 300 {
		eps, delta := logUniform(r, 1e-6, 1e7), logUniform(r, 1e-300, .5)
		mu := MuOf(eps, delta)
		if !(mu > 0 && DeltaOfMu(eps, mu) <= delta) {
			t.Errorf("MuOf(%g, %g) = %g overspends", eps, delta, mu)
		}
		if DeltaOfMu(eps, mu*(1+1e-9)) <= delta {
			t.Errorf("MuOf(%g, %g) = %g is not the largest", eps, delta, mu)
		}
		back := EpsilonOfMu(delta, mu)
		if !(DeltaOfMu(back, mu) <= delta) || math.Abs(back-eps) > 1e-9*eps {
			t.Errorf("EpsilonOfMu(%g, %g) = %g, want about %g", delta, mu, back, eps)
		}
	}
}

// delta does not decrease with mu nor increase with epsilon, beyond the margin, across the seams of
// its branches too.
func TestDeltaOfMuMonotone(t *testing.T) {
	r := generator()
	for range 2000 {
		eps, mu, f := logUniform(r, 1e-6, 1e7), logUniform(r, 1e-8, 1e4), 1+logUniform(r, 1e-9, 1)
		l := logDeltaOfMu(eps, mu)
		if l < -700 {
			continue
		}
		if m := logDeltaOfMu(eps, mu*f); m < l-Safety(l) {
			t.Errorf("δ(%g; μ) falls from e^%g to e^%g as μ grows from %g by %g", eps, l, m, mu, f)
		}
		if m := logDeltaOfMu(eps*f, mu); m > l+Safety(l) {
			t.Errorf("δ(ε; %g) grows from e^%g to e^%g as ε grows from %g by %g", mu, l, m, eps, f)
		}
	}
}

func TestExtremes(t *testing.T) {
	for _, c := range []struct{ got, want float64 }{
		{DeltaOfMu(1, 0), 0},
		{DeltaOfMu(1, math.Inf(1)), 1},
		{DeltaOfMu(1, 1e300), 1},
		{DeltaOfMu(1e7, 1e-300), 5e-324},
		{DeltaOfMu(1e6, .1), 5e-324},
		{EpsilonOfMu(.5, 0), 0},
		{EpsilonOfMu(.5, .1), 0},
		{ThresholdQuantile(math.Inf(-1)), math.Inf(1)},
	} {
		if c.got != c.want {
			t.Errorf("got %g, want %g", c.got, c.want)
		}
	}
	nan := math.NaN()
	for name, f := range map[string]func(){
		"DeltaOfMu(NaN, 1)": func() { DeltaOfMu(nan, 1) }, "DeltaOfMu(1, -1)": func() { DeltaOfMu(1, -1) },
		"MuOf(1, 0)": func() { MuOf(1, 0) }, "MuOf(1, 1)": func() { MuOf(1, 1) }, "MuOf(-1, .5)": func() { MuOf(-1, .5) },
		"EpsilonOfMu(NaN, 1)": func() { EpsilonOfMu(nan, 1) },

		"ThresholdQuantile(0)": func() { ThresholdQuantile(0) }, "zero Curve": func() { Curve{}.Epsilon(.5) },
		"negative curve": func() { CurveOf(func(float64) float64 { return -1 }) },
	} {
		if !panics(f) {
			t.Errorf("%s does not panic", name)
		}
	}
}

func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}

// Every directed operation is the nearest number on its side of the exact result.
func TestDirectedRounding(t *testing.T) {
	r := generator()
	big64 := func(x float64) *big.Float { return new(big.Float).SetPrec(4000).SetFloat64(x) }
	draw := func() float64 {
		x := math.Ldexp(1+r.Float64(), r.IntN(200)-100)
		switch r.IntN(8) {
		case 0:
			x = math.Ceil(x)
		case 1:
			x = math.Ldexp(x, -940) // towards underflow, still positive
		}
		return x
	}
	check := func(op string, got float64, exact *big.Float, isUp bool, x, y float64) {
		t.Helper()
		c := big64(got).Cmp(exact)
		tight := big64(math.Nextafter(got, math.Inf(-1))).Cmp(exact) < 0
		if !isUp {
			c, tight = -c, big64(up(got)).Cmp(exact) > 0
		}
		if c < 0 {
			t.Errorf("%s(%g, %g) = %g lies on the wrong side", op, x, y, got)
		}
		if !tight && math.Abs(got) >= tiny && math.Abs(x) >= tiny {
			t.Errorf("%s(%g, %g) = %g is not the nearest", op, x, y, got)
		}
	}
	for range 20000 {
		x, y := draw(), draw()
		z := x
		if r.IntN(2) == 0 {
			z = -x
		}
		sum, prod := new(big.Float).Add(big64(z), big64(y)), new(big.Float).Mul(big64(z), big64(y))
		check("AddUp", AddUp(z, y), sum, true, z, y)
		check("SubDown", SubDown(z, -y), sum, false, z, y)
		check("MulUp", MulUp(z, y), prod, true, z, y)
		check("MulDown", MulDown(z, y), prod, false, z, y)
		quo := new(big.Float).Quo(big64(z), big64(y))
		check("DivUp", DivUp(z, y), quo, true, z, y)
		check("DivDown", DivDown(z, y), quo, false, z, y)
		root := new(big.Float).Sqrt(big64(x))
		check("SqrtUp", SqrtUp(x), root, true, x, 0)
		check("SqrtDown", SqrtDown(x), root, false, x, 0)
	}
	if MulUp(3, 5) != 15 || AddUp(.5, .25) != .75 || SqrtUp(9) != 3 || SqrtDown(9) != 3 || DivDown(6, 3) != 2 || MulDown(0, 1) != 0 {
		t.Error("an exact result was changed")
	}
}

func TestCurves(t *testing.T) {
	if n := len(Orders()); n != 241 || Orders()[0] != 1+0x1p-10 || Orders()[240] != 1+0x1p20 {
		t.Errorf("orders are not as documented: %d", n)
	}
	v := GaussianCurve(1).Values()
	of := func(order float64) float64 { return v[slices.Index(orders, order)] }
	v[3] = math.Inf(1)
	if !panics(func() { CurveOf(of) }) {
		t.Error("a curve that falls from +Inf was accepted")
	}
	for i := 100; i < len(v); i++ {
		v[i] = math.Inf(1)
	}
	v[3] = v[4]
	if c := CurveOf(of); !slices.Equal(c.Values(), v) || math.IsInf(c.Epsilon(1e-6), 1) || math.IsNaN(c.Epsilon(1e-6)) {
		t.Error("a curve with +Inf at large orders was changed, or says nothing")
	}
	for _, i := range []int{0, 50, len(v) - 1} {
		was := v[i]
		v[i] = math.NaN()
		if !panics(func() { CurveOf(of) }) {
			t.Errorf("NaN was accepted at %d", i)
		}
		v[i] = was
	}
	if c := CurveOf(func(float64) float64 { return math.Inf(1) }); !math.IsInf(c.Epsilon(.5), 1) {
		t.Error("an infinite curve has a finite ε")
	}
}

// exact is a sum without rounding.
type exact struct{ sum *big.Float }

func newExact() exact { return exact{new(big.Float).SetPrec(2000)} }

func (e exact) add(x float64)           { e.sum.Add(e.sum, big.NewFloat(x)) }
func (e exact) over(limit float64) bool { return e.sum.Cmp(big.NewFloat(limit)) > 0 }
