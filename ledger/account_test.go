package ledger

import (
	"math"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/kernel/privacy"
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
	return privacy.CostOf(c, true)
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
	rho, err := privacy.Foreseen(privacy.Budget{Rho: .02})
	if err != nil {
		t.Fatal(err)
	}
	pure, err := privacy.Foreseen(privacy.Budget{Epsilon: .3})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []Cost{
		pure,
		gaussian(t, 1, 1e-6), planned(t, 1, 1e-6, privacy.Needs{Thresholds: true}), rho,
		planned(t, 2, 1e-6, privacy.Needs{AddedDelta: 2e-7, Extra: privacy.PureCurve(.3)}), gaussian(t, .5, 1e-7),
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

// Every account that lets fits through is within what was granted by the bounds of fits that are
// fixed beforehand too, with room to spare.
func TestAccountsHold(t *testing.T) {
	for _, granted := range []Amount{{.3, 1e-9}, {2, 1e-5}, {15, 1e-4}} {
		for _, needs := range []privacy.Needs{{}, {Thresholds: true}, {AddedDelta: 1e-8, Extra: privacy.PureCurve(.01)}} {
			small := planned(t, granted.Epsilon/5, 1e-1*granted.Delta, privacy.Needs{Thresholds: needs.Thresholds, Extra: needs.Extra, AddedDelta: math.Min(needs.AddedDelta, granted.Delta/100)})
			s, n := filled(t, granted, small)
			if n < 3 || !s.Sum.Holds(granted.Epsilon, granted.Delta) {
				t.Errorf("%v: %d fits, within the grant: %v", granted, n, s.Sum.Holds(granted.Epsilon, granted.Delta))
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
}
