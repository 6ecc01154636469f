package ledger

import "fmt"

// held is the state of a reservation at some time.
type held struct {
	terms   Terms
	cost    Cost
	settled bool
	ended   bool
}

// add records an entry about the reservation; entries come in their order, or only the last one.
func (h *held) add(e entry) {
	if e.Kind == kindSettle {
		h.cost, h.settled = *e.Cost, true
		return
	}
	h.ended = true
}

// apply returns the account after an entry, or an error if there can be no such entry. For an entry
// about a reservation, h is its state. Both writing and verifying use this function.
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

// within returns an error if an account holds more than was granted; before is the account without
// the request.
func (s state) within(dataset string, before state) error {
	if why := s.full(); why != "" {
		return &RefusedError{Dataset: dataset, Why: why, Left: before.balance("").Left.Amount}
	}
	return nil
}
