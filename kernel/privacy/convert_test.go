package privacy

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// reference is package privacy's: rows of arguments, then the exact value.
type convertReference struct {
	MuOfPure       [][]string `json:"mu_of_pure"`
	RhoOf          [][]string `json:"rho_of"`
	PureDivergence [][]string `json:"pure_divergence"`
	Accountant     []struct{ Count, Sigma, Laplace, Delta, RDP, PLD float64 }
}

func convertLoad(t *testing.T) (ref convertReference) {
	t.Helper()
	text, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &ref); err != nil {
		t.Fatal(err)
	}
	if len(ref.MuOfPure) < 5 || len(ref.PureDivergence) < 5 || len(ref.Accountant) < 3 {
		t.Fatal("reference numbers are missing")
	}
	return ref
}

func convertNumbers(t *testing.T, row []string) (out []float64) {
	t.Helper()
	for _, s := range row {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

// above checks want <= got <= want (1+tol).
func convertAbove(t *testing.T, what string, args []float64, got, want, tol float64) {
	t.Helper()
	if !(got >= want && got <= want*(1+tol)) {
		t.Errorf("%s%v = %.17g, want at least %.17g by at most a share of %g, got %g", what, args, got, want, tol, got/want-1)
	}
}

func TestRefusals(t *testing.T) {
	for name, f := range map[string]func(){
		"MuOfPure(-1)": func() { MuOfPure(-1) }, "PureOfMu(NaN)": func() { PureOfMu(math.NaN()) }, "PureCurve(-1)": func() { PureCurve(-1) },
		"EpsilonOfRho(.5, NaN)": func() { EpsilonOfRho(.5, math.NaN()) }, "EpsilonOfRho(1, 1)": func() { EpsilonOfRho(1, 1) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s does not panic", name)
				}
			}()
			f()
		}()
	}
	if MuOfPure(0) != 0 {
		t.Error("no loss costs something")
	}
	if got := MuOfBoundedRange(1e-3) / 1e-3; math.Abs(got-.6267) > .5e-4 {
		t.Errorf("bounded range, per unit: %v", got)
	}
}

func TestMuOfPureReference(t *testing.T) {
	for _, row := range convertLoad(t).MuOfPure {
		v := convertNumbers(t, row)
		convertAbove(t, "MuOfPure", v[:1], MuOfPure(v[0]), v[1], 1e-11*(1+1/v[1]))
		convertAbove(t, "MuOfBoundedRange", v[:1], MuOfBoundedRange(2*v[0]), v[1], 1e-11*(1+1/v[1]))
	}
}

func TestPureDivergenceReference(t *testing.T) {
	for _, row := range convertLoad(t).PureDivergence {
		v := convertNumbers(t, row)
		convertAbove(t, "pureDivergence", v[:2], pureDivergence(v[0], v[1]), v[2], 1e-11)
	}
}

// An independent accountant: its loss-distribution figure (pessimistic, on a grid of 1e-4) is the
// exact epsilon of composed Gaussians, its Rényi figure is what our curves should match where its
// few orders allow.
func TestIndependentAccountant(t *testing.T) {
	for _, a := range convertLoad(t).Accountant {
		mu := math.Sqrt(a.Count) / a.Sigma
		curve := GaussianCurve(mu)
		if a.Laplace == 0 {
			if got := EpsilonOfMu(a.Delta, mu); math.Abs(got-a.PLD) > 1e-3*a.PLD {
				t.Errorf("%+v: EpsilonOfMu = %g, want %g", a, got, a.PLD)
			}
		} else {
			// The curve of the worst pure mechanism is above that of Laplace noise.
			curve = curve.Compose(PureCurve(1 / a.Laplace))
		}
		got := curve.Epsilon(a.Delta)
		if got < a.PLD*(1-1e-3) {
			t.Errorf("%+v: Curve.Epsilon = %g is below the exact loss", a, got)
		}
		limit := 1.002
		if a.Laplace != 0 {
			limit = 1.25
		}
		if got > a.RDP*limit {
			t.Errorf("%+v: Curve.Epsilon = %g, want at most %g", a, got, a.RDP*limit)
		}
	}
}

// [MuOfBoundedRange]: the corner of the worst mechanism with log-ratios t-epsilon0 and t meets the
// Gaussian curve at t = epsilon0/2 and lies above it elsewhere. With probability q of the ratio t
// under X', the corner is at type I error q, type II error 1-e^t q.
func TestBoundedRangeCorners(t *testing.T) {
	quantile := func(p float64) float64 { // z with P(N > z) = p
		if p <= .5 {
			return ThresholdQuantile(math.Log(p))
		}
		return -ThresholdQuantile(math.Log1p(-p))
	}
	for _, eps0 := range []float64{.01, .1, .5, 1, 2, 4, 8, 16, 30} {
		mu, largest := MuOfBoundedRange(eps0), 0.0
		for i := 1; i < 64; i++ {
			ratio := eps0 * float64(i) / 64
			q := -math.Expm1(ratio-eps0) / (math.Exp(ratio) - math.Exp(ratio-eps0))
			largest = math.Max(largest, quantile(q)-quantile(math.Exp(ratio)*q))
		}
		if math.Abs(largest/mu-1) > 1e-8 {
			t.Errorf("ε₀ = %g: the hardest corner is at μ = %.12g, want %.12g", eps0, largest, mu)
		}
	}
}

// [PureOfMu] and [BoundedRangeOfMu] end below the mu they are given, and by no more than the
// margins of the forward bounds.
func TestPureOfMu(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		mu := 1e-9 * math.Exp(r.Float64()*math.Log(1e12))
		eps0 := PureOfMu(mu)
		if back := MuOfPure(eps0); back > mu || back < mu*(1-1e-10)-3e-11 {
			t.Errorf("PureOfMu(%g) = %g, of μ = %g", mu, eps0, back)
		}
		if e := BoundedRangeOfMu(mu); MuOfBoundedRange(e) > mu || e != 2*eps0 {
			t.Errorf("BoundedRangeOfMu(%g) = %g", mu, e)
		}
	}
	if PureOfMu(0) != 0 || PureOfMu(1e-20) < 0 {
		t.Error("ends of the range")
	}
}

// The lemma in the proof of [MuOfBoundedRange]: lambda(z) - lambda(-z) > z for z > 0, lambda the
// hazard of the standard Gaussian.
func TestHazards(t *testing.T) {
	log2Pi := math.Log(2 * math.Pi)
	for z := .01; z < 30; z += .01 {
		tail := math.Exp(logUpperTail(z) + z*z/2 + log2Pi/2) // Mills' ratio, 1/lambda
		kappa := math.Exp(-z*z/2-log2Pi/2) / (1 - math.Exp(logUpperTail(z)))
		if g := 1/tail - kappa - z; !(g > 0) {
			t.Fatalf("z = %v: %v", z, g)
		}
	}
}

func TestPureCurve(t *testing.T) {
	// epsilon0-DP is never worse than (epsilon0, 0)-DP, nor than epsilon0^2/2-zCDP, nor than GDP at
	// MuOfPure.
	for _, eps0 := range []float64{1e-3, .1, 1, 5, 100, 1e4, 1e7} {
		pure, gauss := PureCurve(eps0).Values(), GaussianCurve(MuOfPure(eps0)).Values()
		for i, a := range Orders() {
			if pure[i] > eps0 || pure[i] > a*eps0*eps0/2*(1+1e-11) || pure[i] > gauss[i]*(1+1e-11) {
				t.Errorf("ε₀ = %g, order %g: divergence %g is too large", eps0, a, pure[i])
			}
		}
		// ln(1/delta)/(alpha-1) at the last order
		if e := PureCurve(eps0).Epsilon(1e-9); e > eps0*(1+1e-9)+1e-5 {
			t.Errorf("ε₀ = %g: ε = %g", eps0, e)
		}
	}
}

func TestZeroConcentratedReference(t *testing.T) {
	for _, row := range convertLoad(t).RhoOf {
		v := convertNumbers(t, row)
		convertAbove(t, "EpsilonOfRho", v[1:], EpsilonOfRho(v[1], math.Nextafter(v[2], 1)), v[0], 1e-9)
	}
}

func TestRhoOfCurves(t *testing.T) {
	// Composition adds mu^2 and converts like the tight zCDP formula, to a tenth of a percent for
	// the grid of orders.
	for _, c := range []struct{ delta, mu float64 }{{1e-6, .01}, {1e-6, .22}, {1e-12, 1}, {1e-6, 5}, {1e-6, 1400}} {
		two := GaussianCurve(c.mu * .6).Compose(GaussianCurve(c.mu * .8))
		convertAbove(t, "Epsilon", []float64{c.delta, c.mu}, two.Epsilon(c.delta), EpsilonOfRho(c.delta, c.mu*c.mu/2)*(1-1e-12), 2e-3)
	}
	if EpsilonOfRho(1e-6, 0) != 0 || math.Abs(EpsilonOfRho(1e-6, .024356)-1) > 1e-4 {
		t.Error("known figures")
	}
}
