package ledger

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

func withdraw(t testing.TB, l *Ledger, name string, less Amount) (took Amount, b Balance, err error) {
	t.Helper()
	err = l.Write(t.Context(), func(w *Tx) error {
		took, b, err = w.Withdraw(name, less)
		return err
	})
	return took, b, err
}

// What is unspent can be withdrawn, as a part or all of it, and nothing beyond; then nothing more
// can be spent, and what was spent stays within what is granted.
func TestWithdraw(t *testing.T) {
	l, file, key := opened(t)
	cost := gaussian(t, .5, 1e-7)
	var refused *RefusedError
	if _, _, err := withdraw(t, l, "a", Amount{}); !errors.As(err, new(*privacy.FieldError)) {
		t.Errorf("of a data set that is not there: %v", err)
	}
	grant(t, l, "a", 3, 1e-5)
	if took, b, err := withdraw(t, l, "a", Amount{Epsilon: 1}); err != nil || took != (Amount{Epsilon: 1}) || b.Granted != (Amount{2, 1e-5}) {
		t.Errorf("a part before the first fit: %v, %+v, %v", took, b, err)
	}
	if _, _, err := withdraw(t, l, "a", Amount{Epsilon: 2.1}); !errors.As(err, &refused) {
		t.Errorf("more than was granted: %v", err)
	}
	if took, b, err := withdraw(t, l, "a", Amount{}); err != nil || took != (Amount{2, 1e-5}) || b.Granted != (Amount{}) {
		t.Errorf("all before the first fit: %v, %+v, %v", took, b, err)
	}
	if _, err := l.Reserve(t.Context(), "a", termsOf(cost), cost, ""); !errors.As(err, &refused) {
		t.Errorf("a fit of what was withdrawn: %v", err)
	}
	grant(t, l, "a", 3, 1e-5)
	for fits := 1; fits <= 3; fits++ {
		if _, err := l.Reserve(t.Context(), "a", termsOf(cost), cost, ""); err != nil {
			t.Fatal(err)
		}
		if _, _, err := withdraw(t, l, "a", Amount{Epsilon: 2.9}); !errors.As(err, &refused) {
			t.Errorf("%d fits: what is spent was withdrawn: %v", fits, err)
		}
		_, b, err := withdraw(t, l, "a", Amount{})
		if err != nil || b.Spent.Epsilon > b.Granted.Epsilon || b.Granted.Epsilon > 1.1*float64(fits)*.5 || b.Granted.Delta != 1e-5 || b.Left.Epsilon > .2 {
			t.Errorf("%d fits: %+v, %v", fits, b, err)
		}
		if _, err := l.Reserve(t.Context(), "a", termsOf(cost), cost, ""); !errors.As(err, &refused) {
			t.Errorf("%d fits: one more of what was withdrawn: %v", fits, err)
		}
		if _, _, err := withdraw(t, l, "a", Amount{}); !errors.As(err, &refused) {
			t.Errorf("%d fits: withdrawn twice: %v", fits, err)
		}
		grant(t, l, "a", 3-b.Granted.Epsilon, 1e-300)
	}
	if _, err := again(t, file, key).Verify(t.Context(), Head{}); err != nil {
		t.Error(err)
	}
}

// What is spent is stated at the delta that was granted, and is never more than was granted; it was
// stated at the deltas that fits had asked, where it looked like 1.04 of 1.
func TestSpentIsWithinTheGrant(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 33))
	accounts := 30
	for range accounts {
		granted := Amount{math.Exp(4*rng.Float64() - 2), math.Exp(-7 - 14*rng.Float64())}
		s := state{Granted: granted}
		for range 8 {
			b := privacy.Budget{Epsilon: granted.Epsilon * (.05 + .9*rng.Float64()), Delta: granted.Delta * math.Exp(-5*rng.Float64())}
			cost, err := privacy.Foreseen(b)
			if err != nil {
				t.Fatal(err)
			}
			next, err := s.take(Terms{Relation: privacy.ReplaceOne.String(), Epsilon: b.Epsilon, Delta: b.Delta}, cost)
			if err != nil || next.full() != "" {
				continue
			}
			s = next
			if spent := s.spent(); spent.Epsilon > granted.Epsilon || spent.Delta != granted.Delta || spent.Epsilon <= 0 {
				t.Fatalf("granted %+v, %d fits: spent %+v", granted, s.Fits, spent)
			}
		}
	}
}

// A refusal speaks of epsilon and delta, and what it says may still be asked is not refused.
func TestRefusalsSayWhatCanBeAsked(t *testing.T) {
	plain, masked := gaussian(t, .9, 5e-7), planned(t, .9, 5e-7, privacy.Needs{AddedDelta: 1e-7, Extra: privacy.GaussianCurve(.1)})
	for name, c := range map[string]Cost{"gaussian": plain, "masks": masked, "thresholds": planned(t, .9, 5e-7, privacy.Needs{Thresholds: true})} {
		s := state{Granted: Amount{1.5, 1e-6}}
		for range 20 {
			next, err := s.take(termsOf(c), c)
			if err != nil {
				t.Fatal(err)
			}
			err = next.within("a", s)
			if err == nil {
				s = next
				continue
			}
			var refused *RefusedError
			text := err.Error()
			if !errors.As(err, &refused) || !strings.Contains(text, "delta = 1e-06") || strings.Contains(text, "mu") || strings.Contains(text, "Rényi") {
				t.Errorf("%s: %v", name, err)
			}
			if refused.Left.Epsilon == 0 {
				break
			}
			may, err := privacy.Foreseen(privacy.Budget{Epsilon: refused.Left.Epsilon, Delta: refused.Left.Delta})
			if err != nil {
				t.Fatal(err)
			}
			if next, err := s.take(termsOf(may), may); name == "gaussian" && (err != nil || next.full() != "") {
				t.Errorf("%s: %v; but: %s %v", name, text, next.full(), err)
			}
			break
		}
	}
}

// Totals that promise next to nothing are told apart from those that promise something.
func TestReasonable(t *testing.T) {
	for _, c := range []struct {
		total Amount
		rows  int
		field string // of the fault, "" for none
	}{
		{Amount{20, 1e-5}, 2000, ""}, {Amount{20.1, 1e-5}, 2000, "epsilon"}, {Amount{1, 4.9e-4}, 2000, ""}, {Amount{1, 5e-4}, 2000, "delta"},
		{Amount{1, 9.9e-3}, 0, ""}, {Amount{1, .01}, 0, "delta"}, {Amount{200, 1e-5}, 0, "epsilon"},
	} {
		err := c.total.Reasonable(c.rows)
		var fault *privacy.FieldError
		if (err == nil) != (c.field == "") || errors.As(err, &fault) && fault.Field != c.field {
			t.Errorf("%+v of %d rows: %v, want a fault of %q", c.total, c.rows, err, c.field)
		}
	}
}
