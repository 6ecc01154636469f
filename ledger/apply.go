package ledger

import "fmt"

// held is what a reservation holds at some time.
type held struct {
	terms   Terms
	cost    Cost
	settled bool
	ended   bool
}

// add takes note of an entry about the reservation, in its order or the last one alone.
func (h *held) add(e entry) {
	if e.Kind == kindSettle {
		h.cost, h.settled = *e.Cost, true
		return
	}
	h.ended = true
}

// apply is the account after an entry, or why there can be no such entry. Of an entry about a
// reservation, h is what that holds. What is written and what is verified go through here.
func (e entry) apply(s state, h *held) (state, error) {
	if h != nil && h.ended {
		return s, &BrokenError{Seq: e.Of, What: "was ended already"}
	}
	switch e.Kind {
	case kindGrant:
		return s.more(*e.Grant)
	case kindWithdraw:
		return s.less(e.Dataset, *e.Grant)
	case kindReserve:
		next, err := s.take(*e.Terms, *e.Cost)
		if err != nil {
			return s, err
		}
		next.Open++
		return next, next.within(e.Dataset, s)
	case kindSettle:
		if h.settled {
			return s, &BrokenError{Seq: e.Of, What: "was settled already"}
		}
		next, err := s.giveBack(h.terms, h.cost)
		if err == nil {
			next, err = next.take(h.terms, *e.Cost)
		}
		if err != nil || e.Cost.Within(h.cost) {
			return next, err
		}
		return next, next.within(e.Dataset, s)
	case kindReturn:
		next, err := s.giveBack(h.terms, h.cost)
		next.Open--
		return next, err
	case kindReleased:
		s.Releases++
		s.Open--
	case kindNote:
	case kindNone, kindFailed:
		s.Open--
	default:
		return s, &BrokenError{Seq: e.Seq, What: fmt.Sprintf("is of a kind that this version does not know, %q", e.Kind)}
	}
	return s, nil
}

// within refuses an account that holds more than was granted; before is the account without what
// asks.
func (s state) within(dataset string, before state) error {
	if why := s.full(); why != "" {
		return &RefusedError{Dataset: dataset, Why: why, Left: before.balance("").Left.Amount}
	}
	return nil
}
