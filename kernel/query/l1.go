package query

import "github.com/gauze-dp/gauze/kernel/privacy"

// An L1Sum is a Sum of counts that states its L1 sensitivity too: what Laplace noise is measured
// by. All weights and units are 1.
type L1Sum interface {
	Sum
	// L1 is the L1 sensitivity of the answer, in integer units; +Inf for Parts of queries that
	// state none.
	L1(privacy.Relation) float64
}

// oneBin is the L1 sensitivity of counts of which each row enters at most one: 2 under replace-one,
// where it leaves one for another, 1 under add-or-remove-one.
func OneBin(r privacy.Relation) float64 {
	if r == privacy.AddRemoveOne {
		return 1
	}
	return 2
}

// L1 is 1 under both relations: it is one count.
func (Count) L1(privacy.Relation) float64 { return 1 }
