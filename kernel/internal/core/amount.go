package core

import (
	"math"

	"github.com/gauze-dp/gauze/kernel/privacy"
)

// An amount is a part of what a filter holds: of mu^2, or under a pure budget of epsilon. The other
// is 0, always.
type amount struct {
	mu2     privacy.Mu2
	epsilon privacy.Epsilon
}

// of returns the amount of so much, in the unit of the session's budget: the one place where a
// number gets its unit.
func (s *Session) of(x float64) amount {
	if s.terms.Budget.Pure() {
		return amount{epsilon: privacy.Epsilon(x)}
	}
	return amount{mu2: privacy.Mu2(x)}
}

// number returns an amount as estimators share it out, in the unit of the budget.
func (a amount) number() float64 { return float64(a.mu2) + float64(a.epsilon) }

// least returns what is in both.
func (a amount) least(b amount) amount { return amount{min(a.mu2, b.mu2), min(a.epsilon, b.epsilon)} }

// covers reports that b is no more than a; it is false for NaN.
func (a amount) covers(b amount) bool { return b.mu2 <= a.mu2 && b.epsilon <= a.epsilon }

// left returns what the filter has.
func (s *Session) left() amount { return amount{s.filter.Left(), s.filter.LeftPure()} }

// plus adds b, rounded up.
func (a amount) plus(b amount) amount {
	if b.mu2 > 0 {
		a.mu2 = privacy.Mu2(privacy.AddUp(float64(a.mu2), float64(b.mu2)))
	}
	if b.epsilon > 0 {
		a.epsilon = privacy.Epsilon(privacy.AddUp(float64(a.epsilon), float64(b.epsilon)))
	}
	return a
}

// less subtracts b, rounded down, but for nothing, which leaves everything.
func (a amount) less(b amount) amount {
	if b.mu2 > 0 {
		a.mu2 = privacy.Mu2(math.Max(0, privacy.SubDown(float64(a.mu2), float64(b.mu2))))
	}
	if b.epsilon > 0 {
		a.epsilon = privacy.Epsilon(math.Max(0, privacy.SubDown(float64(a.epsilon), float64(b.epsilon))))
	}
	return a
}

// cap returns what the budget buys of the whole plan.
func (s *Session) cap() amount { return amount{s.total.Cap, s.total.PureCap} }

// spend takes an amount from the account of the budget's unit.
func (s *Session) spend(cost amount) error {
	if s.terms.Budget.Pure() {
		return s.filter.SpendPure(cost.epsilon)
	}
	return s.filter.Spend(cost.mu2)
}
