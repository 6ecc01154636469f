package core

import (
	"github.com/gauze-dp/gauze/kernel/internal/engine"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// An Allotment is a part of a session's budget, in units of mu^2, that one part of an estimator may
// spend. (Under a pure budget all that is said of mu^2 here is said of epsilon: see
// privacy.Filter.) Sharing out and handing back moves budget; it never makes any: the session's
// filter holds the total whatever an estimator does.
type Allotment struct {
	engine.Protected
	s *Session
	*pot
	in *query.Partial // its view is that of all sums; nil for none
}

// A pot is what an allotment holds, in all views.
type pot struct{ left amount } // guarded by Session.mu

// Session is the session the allotment belongs to.
func (a *Allotment) Session() *Session { return a.s }

// Left is what is left to spend, in mu^2, rounded down.
func (a *Allotment) Left() float64 {
	a.s.mu.Lock()
	defer a.s.mu.Unlock()
	return a.left.least(a.s.left()).number()
}

// LeftMu is the largest mu that one measurement can still have: sqrt(Left), rounded down.
func (a *Allotment) LeftMu() float64 { return privacy.SqrtDown(a.Left()) }

// Take moves mu2 (or all that is left, if less) into an allotment of its own.
func (a *Allotment) Take(mu2 float64) *Allotment {
	a.s.mu.Lock()
	defer a.s.mu.Unlock()
	if !(mu2 > 0) {
		mu2 = 0 // NaN too: no allotment may hold what is not a number
	}
	taken := a.s.of(mu2).least(a.left)
	a.left = a.left.less(taken)
	return &Allotment{s: a.s, pot: &pot{taken}, in: a.in}
}

// In is the same allotment, but that its sums are asked in a view, of partial rows too: see
// query.Partial.
func (a *Allotment) In(as query.View, fill []float64) *Allotment {
	return &Allotment{s: a.s, pot: a.pot, in: &query.Partial{As: as, Fill: fill}}
}

// Return moves what b, an allotment of the same session or of one derived from it, has left back
// into a.
func (a *Allotment) Return(b *Allotment) {
	if a.s.book != b.s.book {
		panic("kernel: an allotment can only be returned within its session")
	}
	a.s.mu.Lock()
	defer a.s.mu.Unlock()
	back := b.left
	b.left = amount{}
	a.left = amount{a.left.mu2 + back.mu2, a.left.epsilon + back.epsilon}
}
