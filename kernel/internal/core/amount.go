package core

import (
	"math"

	"github.com/gauze-dp/gauze/kernel/privacy"
)

// An amount is a part of what a filter holds: of mu^2 or, under a pure budget, of epsilon. The
// other field is always 0.
type amount struct {
	mu2     privacy.Mu2
	epsilon privacy.Epsilon
}

// of returns x as an amount, in the unit of the session's budget. No other function gives a number
// its unit.
func (s *Session) of(x float64) amount {
	if s.terms.Budget.Pure() {
		return amount{epsilon: privacy.Epsilon(x)}
	}
	return amount{mu2: privacy.Mu2(x)}
}

// number returns an amount as estimators share it out, in the unit of the budget.
func (a amount) number() float64 { return float64(a.mu2) + float64(a.epsilon) }

// least returns the smaller of a and b in each unit.
func (a amount) least(b amount) amount { return amount{min(a.mu2, b.mu2), min(a.epsilon, b.epsilon)} }

// covers reports whether b is at most a; it is false for NaN.
func (a amount) covers(b amount) bool { return b.mu2 <= a.mu2 && b.epsilon <= a.epsilon }

// left returns the amount left in the filter.
func (s *Session) left() amount { return amount{s.filter.Left(), s.filter.LeftPure()} }

// plus returns a + b, rounded up.
func (a amount) plus(b amount) amount {
	if b.mu2 > 0 {
		a.mu2 = privacy.Mu2(privacy.AddUp(float64(a.mu2), float64(b.mu2)))
	}
	if b.epsilon > 0 {
		a.epsilon = privacy.Epsilon(privacy.AddUp(float64(a.epsilon), float64(b.epsilon)))
	}
	return a
}

// less returns a - b, rounded down; a itself if b is nothing.
func (a amount) less(b amount) amount {
	if b.mu2 > 0 {
		a.mu2 = privacy.Mu2(math.Max(0, privacy.SubDown(float64(a.mu2), float64(b.mu2))))
	}
	if b.epsilon > 0 {
		a.epsilon = privacy.Epsilon(math.Max(0, privacy.SubDown(float64(a.epsilon), float64(b.epsilon))))
	}
	return a
}

// cap returns the amount that the budget buys for the whole plan.
func (s *Session) cap() amount { return amount{s.total.Cap, s.total.PureCap} }

// spend takes an amount from the account of the budget's unit.
func (s *Session) spend(cost amount) error {
	if s.terms.Budget.Pure() {
		return s.filter.SpendPure(cost.epsilon)
	}
	return s.filter.Spend(cost.mu2)
}
