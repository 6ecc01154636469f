package ledger

import (
	"context"
)

// A Fit is the ledger's record of one fit: when its cost was reserved, its terms, and how it ended.
type Fit struct {
	Number  int64  `json:"fit"`     // of the entry that reserved its cost
	Dataset string `json:"dataset"` // or the account, where a server has one for each analyst
	Time    string `json:"time"`    // of the reservation, UTC
	Terms
	// Outcome is "released", "no-release", "interrupted", "returned" if nothing was measured, or
	// "not ended", whose cost counts.
	Outcome string `json:"outcome"`
	Ended   string `json:"ended,omitempty"` // UTC
}

// Fits returns the fits of a data set, or of all for "", in the order in which they were reserved.
func (l *Ledger) Fits(ctx context.Context, dataset string) ([]Fit, error) {
	out, at := []Fit{}, map[int64]int{}
	err := l.each(ctx, l.db, func(e entry) {
		switch e.Kind {
		case kindReserve:
			at[e.Seq] = len(out)
			out = append(out, Fit{Number: e.Seq, Dataset: e.Dataset, Time: e.Time, Terms: *e.Terms, Outcome: "not ended"})
		case kindReturn, kindReleased, kindNone, kindFailed:
			f := &out[at[e.Of]]
			if f.Outcome, f.Ended = e.Kind, e.Time; e.Kind == kindReturn {
				f.Outcome = "returned"
			}
		}
	}, "dataset <> '' AND (? = '' OR dataset = ?) ORDER BY seq", dataset, dataset)
	if err != nil {
		return nil, err
	}
	if len(out) == 0 && dataset != "" {
		if _, err := l.Balances(ctx, dataset); err != nil { // an error if there is no such data set
			return nil, err
		}
	}
	return out, nil
}
