package core

import (
	"github.com/gauze-dp/gauze/kernel/internal/engine"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// A SubBudget is a part of a session's budget, in units of mu^2, that one part of an estimator may
// spend. (Under a pure budget read epsilon for mu^2: see privacy.Filter.) Sharing out and handing
// back moves budget but never creates any: the session's filter holds the total whatever an
// estimator does.
type SubBudget struct {
	engine.Protected
	s *Session
	*pot
	in *query.Partial // the view of all sums; nil for none
}

// A pot is what a sub-budget has left, in all views.
type pot struct{ left amount } // guarded by Session.mu

// Session returns the session to which the sub-budget belongs.
func (a *SubBudget) Session() *Session { return a.s }

// Left returns what is left to spend, in mu^2, rounded down.
func (a *SubBudget) Left() float64 {
	a.s.mu.Lock()
	defer a.s.mu.Unlock()
	return a.left.least(a.s.left()).number()
}

// LeftMu returns the largest mu that one measurement can still have: sqrt(Left), rounded down.
func (a *SubBudget) LeftMu() float64 { return privacy.SqrtDown(a.Left()) }

// Take moves mu2 (or all that is left, if less) into a sub-budget of its own.
func (a *SubBudget) Take(mu2 float64) *SubBudget {
	a.s.mu.Lock()
	defer a.s.mu.Unlock()
	if !(mu2 > 0) {
		mu2 = 0 // NaN too: a sub-budget must hold a number
	}
	taken := a.s.of(mu2).least(a.left)
	a.left = a.left.less(taken)
	return &SubBudget{s: a.s, pot: &pot{taken}, in: a.in}
}

// In returns the same sub-budget with all sums asked in a view, which includes partial rows: see
// query.Partial.
func (a *SubBudget) In(as query.View, fill []float64) *SubBudget {
	return &SubBudget{s: a.s, pot: a.pot, in: &query.Partial{As: as, Fill: fill}}
}

// Return moves the rest of b, a sub-budget of the same session or of one derived from it, back into
// a.
func (a *SubBudget) Return(b *SubBudget) {
	if a.s.book != b.s.book {
		panic("kernel: a sub-budget can only be returned within its session")
	}
	a.s.mu.Lock()
	defer a.s.mu.Unlock()
	back := b.left
	b.left = amount{}
	a.left = amount{a.left.mu2 + back.mu2, a.left.epsilon + back.epsilon}
}
