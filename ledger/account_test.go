package ledger

import (
	"math"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/privacy/convert"
)

// gaussian is the cost of a fit of Gaussian steps alone.
func gaussian(t testing.TB, epsilon, delta float64) Cost {
	t.Helper()
	return planned(t, epsilon, delta, privacy.Needs{})
}

func planned(t testing.TB, epsilon, delta float64, needs privacy.Needs) Cost {
	t.Helper()
	c, err := privacy.Calibrate(privacy.Budget{Epsilon: epsilon, Delta: delta}, needs)
	if err != nil {
		t.Fatal(err)
	}
	return CostOf(c, true)
}

func termsOf(c Cost) Terms {
	return Terms{Relation: privacy.ReplaceOne.String(), Epsilon: c.Epsilon, Delta: c.Delta}
}

// filled is an account that took fits of this cost until it was full, and how many.
func filled(t testing.TB, granted Amount, cost Cost) (state, int) {
	t.Helper()
	s, n := state{Granted: granted}, 0
	for ; n < 1000; n++ {
		next, err := s.take(termsOf(cost), cost)
		if err != nil {
			t.Fatal(err)
		}
		if next.full() != "" {
			break
		}
		s = next
	}
	return s, n
}

// What was granted can be asked at once, and then nothing more; and many fits cost far less than
// their epsilons added up.
func TestHowMuchFits(t *testing.T) {
	plain, thresholds := gaussian(t, 1, 1e-6), planned(t, 1, 1e-6, privacy.Needs{Thresholds: true})
	masked := planned(t, 1, 1e-6, privacy.Needs{AddedDelta: 2e-7, Extra: privacy.CurveOf(func(a float64) float64 { return a * .01 })})
	for _, c := range []struct {
		name        string
		granted     Amount
		cost        Cost
		least, most int
	}{
		{"all at once", Amount{1, 1e-6}, plain, 1, 1},
		{"all at once, with thresholds", Amount{1, 1e-6}, thresholds, 1, 1},
		{"all at once, with a mask", Amount{1, 1e-6}, masked, 1, 1},
		{"a hair less than asked", Amount{math.Nextafter(1, 0), 1e-6}, plain, 0, 0},
		{"a hair less delta", Amount{1, .999e-6}, plain, 0, 0},
		{"nothing", Amount{}, plain, 0, 0},
		// exact Gaussian DP would allow 8 and 13
		{"three times as much", Amount{3, 3e-6}, plain, 7, 8},
		{"four times as much", Amount{4, 4e-6}, plain, 11, 13},
		{"thresholds", Amount{3, 3e-6}, thresholds, 7, 8},
		{"thresholds, at the same delta", Amount{10, 1e-6}, thresholds, 10, 14},
		{"masks", Amount{3, 3e-6}, masked, 4, 8},
	} {
		if _, n := filled(t, c.granted, c.cost); n < c.least || n > c.most {
			t.Errorf("%s: %d fits, want %d to %d", c.name, n, c.least, c.most)
		}
	}
}

// Fits of all kinds stand in one account.
func TestMixedAccount(t *testing.T) {
	s := state{Granted: Amount{10, 1e-5}}
	rho, err := Foreseen(privacy.Budget{Rho: .02})
	if err != nil {
		t.Fatal(err)
	}
	pure, err := Foreseen(privacy.Budget{Epsilon: .3})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []Cost{
		pure,
		gaussian(t, 1, 1e-6), planned(t, 1, 1e-6, privacy.Needs{Thresholds: true}), rho,
		planned(t, 2, 1e-6, privacy.Needs{AddedDelta: 2e-7, Extra: convert.PureCurve(.3)}), gaussian(t, .5, 1e-7),
	} {
		if s, err = s.take(termsOf(c), c); err != nil || s.full() != "" {
			t.Fatalf("fit %d: %v %s", i, err, s.full())
		}
	}
	b := s.balance("x")
	if !(b.Spent.Epsilon > 2 && b.Spent.Epsilon < 5 && b.Spent.Delta <= 1e-5 && b.Left.Epsilon > 0) {
		t.Errorf("balance: %+v", b)
	}
}

// The exact loss of mechanisms that do what costs say: Gaussian steps, and secrets that come out
// with probability d on both sides, or with probability s on one side only.
func TestBoundsHold(t *testing.T) {
	for _, c := range []struct{ mu, d, s float64 }{{.3, 0, 0}, {.3, 1e-7, 0}, {.3, 0, 1e-8}, {1, 1e-6, 1e-7}, {2, 1e-3, 1e-4}} {
		for _, n := range []int{1, 3, 20} {
			var sum Cost
			for range n {
				sum = sum.plus(Cost{Mu2: c.mu * c.mu, Added: c.d, Slack: c.s})
			}
			for _, epsilon := range []float64{.1, 1, 3, 10} {
				none := math.Pow(1-c.d, float64(n)) * math.Pow(1-c.s, float64(n)) // no secret came out
				loss := 1 - none + none*privacy.DeltaOfMu(epsilon, c.mu*math.Sqrt(float64(n)))*(1-1e-9)
				if loss < 1 && sum.holds(epsilon, loss*(1-1e-6)) {
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
	granted := Amount{1, 1e-3}
	share := plainShares
	attack := func(muCap, addedCap func(mu1 float64) float64, both bool) float64 {
		mu1 := .7 * privacy.MuOf(granted.Epsilon, granted.Delta)
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
					return p * privacy.DeltaOfMu(e, mu)
				} else { // by symmetry
					return p * (1 - math.Exp(e)*(1-privacy.DeltaOfMu(-e, mu)))
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
	ours := attack(func(float64) float64 { return privacy.MuOf(granted.Epsilon, share.gauss*granted.Delta) },
		func(float64) float64 { return share.added * granted.Delta }, true)
	naive := attack(func(float64) float64 { return privacy.MuOf(granted.Epsilon, granted.Delta) },
		func(mu1 float64) float64 { return granted.Delta - privacy.DeltaOfMu(granted.Epsilon, mu1) }, false)
	if ours > granted.Delta || naive < 1.3*granted.Delta {
		t.Errorf("ours gives away %g, want at most %g; the total of a path %g, want far more", ours, granted.Delta, naive)
	}
}

// Every account that lets fits through is within what was granted by the bounds of fits that are
// fixed beforehand too, with room to spare, and shares are shares of one.
func TestSharesAreOfOne(t *testing.T) {
	for _, s := range []shares{plainShares, curveShares} {
		if sum := s.added + s.slack + s.gauss + curveOrders*s.curve; sum > 1+1e-15 {
			t.Errorf("shares sum to %v", sum)
		}
	}
	for _, granted := range []Amount{{.3, 1e-9}, {2, 1e-5}, {15, 1e-4}} {
		for _, needs := range []privacy.Needs{{}, {Thresholds: true}, {AddedDelta: 1e-8, Extra: convert.PureCurve(.01)}} {
			small := planned(t, granted.Epsilon/5, 1e-1*granted.Delta, privacy.Needs{Thresholds: needs.Thresholds, Extra: needs.Extra, AddedDelta: math.Min(needs.AddedDelta, granted.Delta/100)})
			s, n := filled(t, granted, small)
			if n < 3 || !s.Sum.holds(granted.Epsilon, granted.Delta) {
				t.Errorf("%v: %d fits, within the grant: %v", granted, n, s.Sum.holds(granted.Epsilon, granted.Delta))
			}
		}
	}
}

// Units are never mixed, and relations only where that is sound.
func TestWhoIsProtected(t *testing.T) {
	cost := gaussian(t, .5, 1e-7)
	add := Terms{Relation: privacy.AddRemoveOne.String(), Epsilon: .5, Delta: 1e-7}
	s, err := state{Granted: Amount{5, 1e-5}}.take(termsOf(cost), cost)
	if err != nil {
		t.Fatal(err)
	}
	both, err := s.take(add, cost)
	if err != nil || math.Abs(both.Sum.Mu2-5*cost.Mu2) > 1e-12 {
		t.Errorf("an add-or-remove-one fit counts mu^2 = %g (%v), want four times its own", both.Sum.Mu2-s.Sum.Mu2, err)
	}
	if back, err := both.giveBack(add, cost); err != nil || !(back.Sum.Mu2 >= cost.Mu2 && back.Sum.Mu2 < cost.Mu2*(1+1e-12)) {
		t.Errorf("given back: %v %v", back, err)
	}
	persons := termsOf(cost)
	persons.Unit = "patient"
	for name, try := range map[string]func() error{
		"persons among rows": func() error { _, err := s.take(persons, cost); return err },
		"thresholds of another relation": func() error {
			_, err := s.take(add, planned(t, .5, 1e-7, privacy.Needs{Thresholds: true}))
			return err
		},
		"replace-one under add-or-remove-one": func() error {
			other, err := state{Granted: Amount{5, 1e-5}}.take(add, cost)
			if err != nil {
				t.Fatal(err)
			}
			_, err = other.take(termsOf(cost), cost)
			return err
		},
	} {
		if err := try(); err == nil || !strings.Contains(err.Error(), "wanted") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if c := cost.Parallel(privacy.ReplaceOne, privacy.Budget{Epsilon: 1, Delta: 1e-6}); c.Mu2 != 2*cost.Mu2 || c.Epsilon != 1 {
		t.Errorf("two groups cost %+v", c)
	}
}

// What a budget is foreseen to cost is at least what any of its plans without a curve does.
func TestForeseen(t *testing.T) {
	for _, b := range []privacy.Budget{{Epsilon: 1, Delta: 1e-6}, {Epsilon: 8, Delta: 1e-9}, {Epsilon: .5}, {Rho: .1}} {
		most, err := Foreseen(b)
		if err != nil {
			t.Fatal(err)
		}
		for _, thresholds := range []bool{false, true} {
			if c, err := privacy.Calibrate(b, privacy.Needs{Thresholds: thresholds}); err == nil && !CostOf(c, true).Within(most) {
				t.Errorf("%v, thresholds %v: costs more than foreseen", b, thresholds)
			}
		}
	}
	if _, err := Foreseen(privacy.Budget{}); err == nil {
		t.Error("no budget was foreseen")
	}
	if (Cost{Mu2: 1, Renyi: make([]float64, len(orders))}).Within(Cost{Mu2: 1}) {
		t.Error("a curve is within none")
	}
	for _, bad := range []Cost{{}, {Mu2: math.NaN()}, {Mu2: -1}, {Mu2: 1, Renyi: []float64{1}}, {Mu2: math.Inf(1)}} {
		if bad.validate() == nil {
			t.Errorf("%+v is valid", bad)
		}
	}
}
