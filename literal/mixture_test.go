package literal

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// A method that is optimal for places: truncated Laplace noise on the number of rows at every
// place, and those beyond its reach released (add-or-remove-one, where a count changes by 1). What
// it loses is at least the bound, and hardly more.
//
// Shows: [AMN24] Theorem G.1.
func TestPlacesAgainstStabilityHistogram(t *testing.T) {
	for _, budget := range []privacy.Budget{{Epsilon: 1, Delta: 1e-6}, {Epsilon: .3, Delta: 1e-2}, {Epsilon: 3, Delta: 1e-9}} {
		l := mixtureLimit{k: 1, epsilon: budget.Epsilon, delta: budget.Delta}
		reach := math.Log1p(math.Expm1(budget.Epsilon)/(2*budget.Delta)) / budget.Epsilon
		for _, n := range []float64{50, 1000, 1e5} {
			for _, mean := range []float64{.5, reach / 2, reach, 1.5 * reach} {
				w := min(1, mean/n)
				lost := 0.0
				for m := range 400 {
					if float64(m) <= n {
						lost += (1 - released(float64(m), budget.Epsilon, reach)) * binomial(n, w, float64(m))
					}
				}
				bound := l.lost(n, w)
				if bound > lost*(1+1e-9)+1e-12 || lost > 1.05*bound+.01 {
					t.Errorf("%v n=%g w=%g: lost %v, bound %v", budget, n, w, lost, bound)
				}
			}
		}
	}
}

// released is the probability that m plus truncated Laplace noise of scale 1/epsilon on [-a, a]
// exceeds a.
func released(m, epsilon, a float64) float64 {
	above := func(x float64) float64 {
		return (math.Exp(-epsilon*x) - math.Exp(-epsilon*a)) / (2 * (1 - math.Exp(-epsilon*a)))
	}
	switch x := a - m; {
	case x <= -a:
		return 1
	case x < 0:
		return 1 - above(-x)
	default:
		return above(x)
	}
}

func binomial(n, w, m float64) float64 {
	if w >= 1 {
		if m == n {
			return 1
		}
		return 0
	}
	return distuv.Binomial{N: n, P: w}.Prob(m)
}

func families(d int) []family { return familiesOf(estimate.Problem{Columns: d}) }

// Steps of the proof: the divergence of v and the total variation of slopes.
func TestMixtureSteps(t *testing.T) {
	for _, d := range []int{1, 2, 3, 4, 7, 30} {
		for _, f := range families(d) {
			g := func(rho float64) float64 { return f.distance(rho / 2) }
			const step = 1e-6
			first := g(step) / step
			if want := f.gamma / math.Sqrt(2*math.Pi); math.Abs(first-want) > 1e-4 {
				t.Errorf("d=%d: g'(0) = %v, want %v", d, first, want)
			}
			for rho := .01; rho < 300; rho *= 1.05 {
				div := (g(rho+step)-g(rho-step))/(2*step) + (f.numbers-1)*g(rho)/rho
				if least := f.numbers * first * (1 - f.lambda*g(rho)); div < least-1e-6 {
					t.Errorf("d=%d slopes=%v ρ=%g: divergence %v, want at least %v", d, f.slopes, rho, div, least)
				}
			}
		}
	}
	// Slopes of rank one by quadrature, and of rank two with the same norm, which are farther
	// apart.
	slopes := families(2)[1]
	rng := rand.New(rand.NewPCG(1, 1))
	for _, x := range []float64{.1, .5, 2, 10} {
		const draws = 200_000
		one, two := 0.0, 0.0
		for range draws {
			a, b := rng.NormFloat64(), rng.NormFloat64()
			one += math.Erf(x*math.Abs(a)/math.Sqrt2) / draws
			two += math.Erf(x*math.Hypot(a, b)/2) / draws
		}
		// A mean of draws in [0, 1] is off by 5/(2 sqrt draws) with probability below 1e-6.
		if want := slopes.distance(x); math.Abs(one-want) > .0056 || two < want-.0056 {
			t.Errorf("x=%g: rank one %v, rank two %v, formula %v", x, one, two, want)
		}
	}
}

// No bound on means is above the error of the Gaussian mechanism that is told where the truth is
// and what to whiten by (as for one Gaussian), with the mu that the budget allows.
//
// Shows: [AMN24] Theorem G.2.
func TestMixtureHoldsForMeans(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for _, d := range []int{1, 2, 5, 20, 50} {
		clips, f := clips(d), families(d)[0]
		for _, budget := range []privacy.Budget{{Epsilon: .2, Delta: 1e-6}, {Epsilon: 1, Delta: 1e-6}, {Epsilon: 4, Delta: 1e-8}} {
			total, err := privacy.Calibrate(budget, privacy.Needs{})
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range []float64{10, 100, 1000, 1e4, 1e6} {
				_, mean := best(clips, d, m, total.Mu, privacy.ReplaceOne)
				got := meanDistance(f, mean/math.Sqrt(float64(d)), rng)
				if bound := math.Max(f.sampling(m), f.private(m, budget.Epsilon, budget.Delta)); bound > got*1.03 {
					t.Errorf("d=%d m=%g %v: bound %v, reached %v", d, m, budget, bound, got)
				}
			}
		}
	}
}

// meanDistance is the mean of G(|Delta|/2) for Gaussian Delta.
func meanDistance(f family, sd float64, rng *rand.Rand) float64 {
	const draws = 4000
	sum := 0.0
	for range draws {
		square := 0.0
		for range int(f.d) {
			z := sd * rng.NormFloat64()
			square += z * z
		}
		sum += f.distance(math.Sqrt(square) / 2)
	}
	return sum / draws
}

func TestForMixture(t *testing.T) {
	budget := privacy.Budget{Epsilon: 1, Delta: 1e-6}
	at := func(d, k int, shape estimate.CovarianceType, rel privacy.Relation, b privacy.Budget, n float64) MixtureBound {
		return MixtureBoundOf(estimate.Problem{Columns: d, Covariance: shape, Relation: rel}, b, k, n)
	}
	for _, rel := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		for _, d := range []int{1, 6, 40} {
			for _, k := range []int{1, 3, 8} {
				before := 1.0
				for n := 1.0; n < 1e9; n *= 7 {
					got := at(d, k, estimate.Full, rel, budget, n)
					if !(got.TotalVariation <= before*(1+1e-9)) || got.WithoutPrivacy > got.TotalVariation || got.WithoutPrivacy <= 0 {
						t.Errorf("%v d=%d k=%d n=%g: %+v after %v", rel, d, k, n, got, before)
					}
					if (n < got.Rows) != (got.TotalVariation > Learned) {
						t.Errorf("%v d=%d k=%d n=%g: %+v", rel, d, k, n, got)
					}
					if diagonal := at(d, k, estimate.Diagonal, rel, budget, n); diagonal.TotalVariation > got.TotalVariation {
						t.Errorf("%v d=%d k=%d n=%g: diagonal %+v, full %+v", rel, d, k, n, diagonal, got)
					}
					if loose := at(d, k, estimate.Full, rel, privacy.Budget{Epsilon: 2, Delta: 1e-5}, n); loose.TotalVariation > got.TotalVariation {
						t.Errorf("%v d=%d k=%d n=%g: a looser budget has %+v, this one %+v", rel, d, k, n, loose, got)
					}
					before = got.TotalVariation
				}
			}
		}
	}
	// The terms of the theorem: rows linear in the number of components, and in the number of
	// squares of columns where these are many.
	places := func(k int) float64 { return at(1, k, estimate.Full, privacy.ReplaceOne, budget, 1000).Rows }
	if r := (places(9) - places(5)) / (places(5) - places(1)); math.Abs(r-1) > .15 {
		t.Errorf("rows for 1, 5 and 9 components: %v, %v, %v", places(1), places(5), places(9))
	}
	columns := func(d int) float64 { return at(d, 3, estimate.Full, privacy.ReplaceOne, budget, 1000).Rows }
	if r := columns(200) / columns(100); math.Abs(r-4) > .2 {
		t.Errorf("rows for 100 and 200 columns: %v, %v", columns(100), columns(200))
	}
	for _, b := range []privacy.Budget{{Epsilon: privacy.MinEpsilon, Delta: privacy.MinDelta}, {Epsilon: 1e-12, Delta: .9}, {Epsilon: 700, Delta: .5}} {
		if got := at(3, 4, estimate.Full, privacy.AddRemoveOne, b, 1000); !(got.TotalVariation >= 0 && got.TotalVariation <= 1 && got.Rows >= 1) {
			t.Errorf("%v: %+v", b, got)
		}
	}
	if got := at(2, 0, estimate.Full, privacy.ReplaceOne, budget, 100); got != (MixtureBound{}) {
		t.Errorf("no components: %+v", got)
	}
	if got := at(2, 3, estimate.Full, privacy.ReplaceOne, privacy.Budget{Rho: .02}, 1000); got.TotalVariation != got.WithoutPrivacy {
		t.Errorf("without epsilon and delta only sampling is known: %+v", got)
	}
}
