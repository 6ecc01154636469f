package core

import (
	"fmt"

	"github.com/gauze-dp/gauze/kernel/internal/engine"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// A Learner estimates something from the rows of a block, without privacy. The interface is that of
// package learner.
type Learner interface {
	// Estimates returns k, the number of estimates of every block, at least 1.
	Estimates() int
	// Coordinates returns the length of an estimate for rows of d columns, at least 1.
	Coordinates(d int) int
	// Learn returns k estimates from the rows, all finite, or an error. It must be a function of
	// its arguments.
	Learn(rows [][]float64, seed uint64) ([][]float64, error)
}

// OfBlocks returns the kind, in plans, of a query of a table of block estimates.
func OfBlocks(kind string) string { return "of blocks: " + kind }

// Secretly runs do, which may read the rows but releases nothing, at no cost: for example, to cut
// them into secret blocks. Whatever it makes must go into a table of a derived session.
func Secretly(a *SubBudget, do func(*Draw) error) (err error) {
	a.s.mu.Lock()
	defer a.s.mu.Unlock()
	defer sealed(&err)
	return do(a.s.draw(Draw{}))
}

// Instead returns a without its view, with t, a table made of the rows in secret, in place of the
// protected table, under relation r. If group is positive, t holds block estimates, of which one
// row of the protected table can replace that many. If not, then given all draws that made t, a
// change of one row changes the same row of t or nothing. Everything is shared except what Session
// says of the table.
func Instead(a *SubBudget, t *engine.Table, r privacy.Relation, group int) *SubBudget {
	derived := *a.s
	derived.table, derived.terms.Relation = protect(t, r), r
	if group > 0 {
		derived.pooled, derived.group = true, float64(group)
	}
	derived.root = &SubBudget{s: &derived, pot: a.pot}
	return derived.root
}

// Pooled reports whether the sub-budget belongs to a table of block estimates.
func Pooled(a *SubBudget) bool { return a.s.pooled }

// kindOf returns the name in plans and certificates of a query of the session's table.
func (s *Session) kindOf(kind string) string {
	if s.pooled {
		return OfBlocks(kind)
	}
	return kind
}

// OwnLearner returns the learner of the terms, for the given number of estimates of every block.
func OwnLearner(a *SubBudget, estimates int) (Learner, error) {
	if a.s.terms.Own == nil {
		return nil, fmt.Errorf("kernel: Blocks.OfTerms: want 0, as the session's terms hold no learner, got %d", estimates)
	}
	if l := a.s.terms.Own(estimates); l != nil {
		return l, nil
	}
	return nil, fmt.Errorf("kernel: Terms.Own: want a learner of %d estimates, got none", estimates)
}

// OwnRuns records that the learner of the terms is about to receive rows.
func (d *Draw) OwnRuns() { d.s.ranOwn = true }
