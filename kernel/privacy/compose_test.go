package privacy

import (
	"math"
	"testing"
)

// The exact loss of mechanisms that do what costs say: Gaussian steps, and secrets that come out
// with probability d on both sides, or with probability s on one side only.
func TestBoundsHold(t *testing.T) {
	for _, c := range []struct{ mu, d, s float64 }{{.3, 0, 0}, {.3, 1e-7, 0}, {.3, 0, 1e-8}, {1, 1e-6, 1e-7}, {2, 1e-3, 1e-4}} {
		for _, n := range []int{1, 3, 20} {
			var sum Cost
			for range n {
				sum = sum.Plus(Cost{Mu2: c.mu * c.mu, Added: c.d, Slack: c.s})
			}
			for _, epsilon := range []float64{.1, 1, 3, 10} {
				none := math.Pow(1-c.d, float64(n)) * math.Pow(1-c.s, float64(n)) // no secret came out
				loss := 1 - none + none*DeltaOfMu(epsilon, c.mu*math.Sqrt(float64(n)))*(1-1e-9)
				if loss < 1 && sum.Holds(epsilon, loss*(1-1e-6)) {
					t.Errorf("%d of %+v hold at (%g, less than %g)", n, c, epsilon, loss)
				}
				if e := sum.epsilonAt(math.Min(.999, 1.01*loss+float64(n)*c.s*(2+math.Exp(epsilon)))); loss < .01 && !(e <= epsilon*1.001) {
					t.Errorf("%d of %+v: epsilon = %g, want at most %g", n, c, e, epsilon)
				}
			}
		}
	}
}

// Whoever chooses what to ask by what came out gets no more than what was granted: on each answer
// of a first Gaussian fit, the rest of the budget goes where it hurts most. Were only the total of
// every path held, as for fits that are fixed beforehand, it would be nearly twice as much.
func TestChoosingByAnswers(t *testing.T) {
	granted := Budget{Epsilon: 1, Delta: 1e-3}
	share := plainShares
	attack := func(muCap, addedCap func(mu1 float64) float64, both bool) float64 {
		mu1 := .7 * MuOf(granted.Epsilon, granted.Delta)
		rest, added := math.Sqrt(math.Max(0, math.Pow(muCap(mu1), 2)-mu1*mu1)), addedCap(mu1)
		total := 0.0
		const step = 1e-3
		for x := -9.0; x < 9; x += step {
			q := math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) * step
			l := mu1*x - mu1*mu1/2 // ln of p/q
			p := q * math.Exp(l)
			// at best: e^l E[(e^L - e^(epsilon-l))+] of the rest, or what comes out
			gauss := func(mu float64) float64 {
				if e := granted.Epsilon - l; e >= 0 {
					return p * DeltaOfMu(e, mu)
				} else { // by symmetry
					return p * (1 - math.Exp(e)*(1-DeltaOfMu(-e, mu)))
				}
			}
			if both {
				total += (1-added)*gauss(rest) + added*p
			} else {
				total += math.Max(gauss(rest), gauss(0)*(1-added)+added*p)
			}
		}
		return total
	}
	ours := attack(func(float64) float64 { return MuOf(granted.Epsilon, share.gauss*granted.Delta) },
		func(float64) float64 { return share.added * granted.Delta }, true)
	naive := attack(func(float64) float64 { return MuOf(granted.Epsilon, granted.Delta) },
		func(mu1 float64) float64 { return granted.Delta - DeltaOfMu(granted.Epsilon, mu1) }, false)
	if ours > granted.Delta || naive < 1.3*granted.Delta {
		t.Errorf("ours gives away %g, want at most %g; the total of a path %g, want far more", ours, granted.Delta, naive)
	}
}

// The shares of delta are shares of one.
func TestSharesAreOfOne(t *testing.T) {
	for _, s := range []shares{plainShares, curveShares} {
		if sum := s.added + s.slack + s.gauss + curveOrders*s.curve; sum > 1+1e-15 {
			t.Errorf("shares sum to %v", sum)
		}
	}
}

// What a budget is foreseen to cost is at least what any of its plans without a curve does.
func TestForeseen(t *testing.T) {
	for _, b := range []Budget{{Epsilon: 1, Delta: 1e-6}, {Epsilon: 8, Delta: 1e-9}, {Epsilon: .5}, {Rho: .1}} {
		most, err := Foreseen(b)
		if err != nil {
			t.Fatal(err)
		}
		for _, thresholds := range []bool{false, true} {
			if c, err := Calibrate(b, Needs{Thresholds: thresholds}); err == nil && !CostOf(c, true).Within(most) {
				t.Errorf("%v, thresholds %v: costs more than foreseen", b, thresholds)
			}
		}
	}
	if _, err := Foreseen(Budget{}); err == nil {
		t.Error("no budget was foreseen")
	}
	if (Cost{Mu2: 1, Renyi: make([]float64, len(composeOrders))}).Within(Cost{Mu2: 1}) {
		t.Error("a curve is within none")
	}
	for _, bad := range []Cost{{}, {Mu2: math.NaN()}, {Mu2: -1}, {Mu2: 1, Renyi: []float64{1}}, {Mu2: math.Inf(1)}} {
		if bad.Validate() == nil {
			t.Errorf("%+v is valid", bad)
		}
	}
}
