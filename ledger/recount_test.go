package ledger

import (
	"math"
	"testing"

	"github.com/gauze-dp/gauze/kernel/privacy"
)

// olderFits writes what an older version has written of a data set: a grant, and released fits of
// these costs.
func olderFits(t *testing.T, l *Ledger, name string, b privacy.Budget, costs ...Cost) {
	t.Helper()
	err := l.Write(t.Context(), func(w *Tx) error {
		var s state
		put := func(e entry, h *held) (seq int64, err error) {
			e.Dataset, e.Time = name, stamp(clock())
			if s, err = e.apply(s, h); err != nil {
				return 0, err
			}
			e.After = s
			return w.append(e)
		}
		if _, err := put(entry{Kind: kindGrant, Grant: &Amount{Epsilon: 9, Delta: 1e-5}}, nil); err != nil {
			return err
		}
		for _, cost := range costs {
			terms := Terms{Relation: privacy.ReplaceOne.String(), Epsilon: b.Epsilon, Delta: b.Delta, Rho: b.Rho}
			foreseen, err := privacy.Foreseen(b)
			if err != nil {
				return err
			}
			h := &held{terms: terms, cost: foreseen}
			seq, err := put(entry{Kind: kindReserve, Terms: &terms, Cost: &foreseen}, nil)
			if err == nil {
				_, err = put(entry{Kind: kindSettle, Of: seq, Cost: &cost}, h)
			}
			h.cost, h.settled = cost, true
			if err == nil {
				_, err = put(entry{Kind: kindReleased, Of: seq}, h)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A ledger that an older version has written is verified as it was written; its fits of groups are
// counted at four times what one group costs, in what is shown at once and in the account from the
// next entry on, and fits of no groups at what they were.
func TestOlderGroups(t *testing.T) {
	for _, b := range []privacy.Budget{{Epsilon: 1, Delta: 1e-6}, {Epsilon: 3, Delta: 1e-7}, {Rho: .05}} {
		for _, thresholds := range []bool{false, true} {
			if thresholds && b.Rho > 0 {
				continue
			}
			needs := privacy.Needs{Thresholds: thresholds}
			one, err := privacy.Calibrate(privacy.BudgetPerGroup(privacy.ReplaceOne, b), needs)
			if err != nil {
				t.Fatal(err)
			}
			whole, err := privacy.Calibrate(b, needs)
			if err != nil {
				t.Fatal(err)
			}
			group, plain := privacy.CostOf(one, true), privacy.CostOf(whole, true)
			twice := group.Plus(group)
			twice.Epsilon, twice.Delta = b.Epsilon, b.Delta
			l, file, key := opened(t)
			olderFits(t, l, "a", b, twice, plain)
			if _, err := again(t, file, key).Verify(t.Context(), Head{}); err != nil {
				t.Errorf("%v: %v", b, err)
			}
			want := 4*group.Mu2 + plain.Mu2
			shown := func(want float64) {
				t.Helper()
				all, err := l.Balances(t.Context(), "a")
				if got := math.Pow(all[0].Spent.Mu, 2); err != nil || math.Abs(got/want-1) > 1e-9 {
					t.Errorf("%v, thresholds %v: spent mu^2 %g, want %g (%v)", b, thresholds, got, want, err)
				}
			}
			shown(want)
			if _, err := l.Reserve(t.Context(), "a", Terms{Relation: privacy.ReplaceOne.String(), Epsilon: b.Epsilon, Delta: b.Delta, Rho: b.Rho}, plain, ""); err != nil {
				t.Fatal(err)
			}
			shown(want + plain.Mu2)
			if _, err := again(t, file, key).Verify(t.Context(), Head{}); err != nil {
				t.Errorf("%v, one more fit: %v", b, err)
			}
		}
	}
}
