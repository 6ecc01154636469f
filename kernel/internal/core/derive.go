package core

import (
	"fmt"

	"github.com/gauze-dp/gauze/kernel/internal/engine"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// A Learner estimates something from the rows of a block, without privacy: see package learner,
// whose interface this is.
type Learner interface {
	// Estimates is k, the number of estimates of every block, at least 1.
	Estimates() int
	// Coordinates is the length of an estimate for rows of d columns, at least 1.
	Coordinates(d int) int
	// Learn returns k estimates from the rows, all finite, or an error. It must be a function of
	// its arguments.
	Learn(rows [][]float64, seed uint64) ([][]float64, error)
}

// OfBlocks is the kind of a query of a table of block estimates, for plans.
func OfBlocks(kind string) string { return "of blocks: " + kind }

// Secretly does something with the rows that releases nothing and costs nothing, such as cutting
// them into secret blocks. What it makes must go into a table of a derived session.
func Secretly(a *SubBudget, do func(*Draw) error) (err error) {
	a.s.mu.Lock()
	defer a.s.mu.Unlock()
	defer sealed(&err)
	return do(a.s.draw(Draw{}))
}

// Instead is a, without its view, but that t, made of the rows in secret, stands for the protected
// table, under a relation. group, if positive, says that t holds block estimates, of which one row
// of the protected table can replace so many; if not, that given all draws that made it, what one
// row changes of the table is that, or nothing, of t. Everything is shared but what Session says of
// the table.
func Instead(a *SubBudget, t *engine.Table, r privacy.Relation, group int) *SubBudget {
	derived := *a.s
	derived.table, derived.terms.Relation = protect(t, r), r
	if group > 0 {
		derived.pooled, derived.group = true, float64(group)
	}
	derived.root = &SubBudget{s: &derived, pot: a.pot}
	return derived.root
}

// Pooled reports the sub-budget of a table of block estimates.
func Pooled(a *SubBudget) bool { return a.s.pooled }

// kindOf is the name of a query of the session's table in plans and certificates.
func (s *Session) kindOf(kind string) string {
	if s.pooled {
		return OfBlocks(kind)
	}
	return kind
}

// OwnLearner is the learner of the terms, for so many estimates of every block.
func OwnLearner(a *SubBudget, estimates int) (Learner, error) {
	if a.s.terms.Own == nil {
		return nil, fmt.Errorf("kernel: Blocks.OfTerms: want 0, as the session's terms hold no learner, got %d", estimates)
	}
	if l := a.s.terms.Own(estimates); l != nil {
		return l, nil
	}
	return nil, fmt.Errorf("kernel: Terms.Own: want a learner of %d estimates, got none", estimates)
}

// OwnRuns says that the learner of the terms is about to be handed rows.
func (d *Draw) OwnRuns() { d.s.ranOwn = true }
