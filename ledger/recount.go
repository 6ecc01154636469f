package ledger

import (
	"slices"

	"github.com/gauze-dp/gauze/kernel/privacy"
)

// Older versions counted fits of groups under replace-one at less than they can cost, and did not
// say in an entry that a fit was one of groups. Their entries stay as they are, and are verified as
// they were written. The first entry of a data set that this version writes, and whatever is shown
// before it, counts what is missing (privacy.Recounted). state.Recounted says that this is done.

// An older holds the costs of a data set's fits that an older version counted, in their order.
type older []olderFit

type olderFit struct {
	seq   int64
	terms Terms
	cost  Cost
}

// add records the next entry of the data set.
func (o *older) add(e entry) {
	if e.After.Recounted {
		return
	}
	at := -1
	for i := len(*o) - 1; i >= 0 && at < 0; i-- {
		if (*o)[i].seq == e.Of {
			at = i
		}
	}
	switch {
	case e.Kind == kindReserve:
		*o = append(*o, olderFit{e.Seq, *e.Terms, *e.Cost})
	case e.Kind == kindSettle && at >= 0:
		(*o)[at].cost = *e.Cost
	case e.Kind == kindReturn && at >= 0:
		*o = slices.Delete(*o, at, at+1)
	}
}

// recounted returns s plus what is missing of its older fits.
func (s state) recounted(o older) state {
	for _, f := range o {
		if f.terms.Relation == privacy.ReplaceOne.String() && f.terms.Relation == s.Relation && s.Fits > 0 {
			b := privacy.Budget{Epsilon: f.terms.Epsilon, Delta: f.terms.Delta, Rho: f.terms.Rho}
			s.Sum = s.Sum.Plus(privacy.Recounted(b, f.cost))
		}
	}
	s.Recounted = true
	return s
}
