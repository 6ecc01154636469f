package ledger

import (
	"context"
)

// A Note records who did what, besides accounts: an entry of the chain that changes no account. It
// holds nothing of a row.
type Note struct {
	Who  string `json:"who"`
	What string `json:"what"` // as in "token add"
	On   string `json:"on,omitempty"`
}

// Note appends a note. It belongs to no data set, so it changes no account.
func (w *Tx) Note(n Note) error {
	_, err := w.append(entry{Kind: kindNote, Time: stamp(w.l.now()), Note: &n})
	return err
}

// An Event is an entry for people to read: what happened, when, to which account, and by whom where
// it is a note.
type Event struct {
	Seq     int64   `json:"seq"`
	Time    string  `json:"time"`
	Kind    string  `json:"kind"`
	Account string  `json:"account,omitempty"`
	Of      int64   `json:"of,omitempty"`
	Grant   *Amount `json:"grant,omitempty"`
	Terms   *Terms  `json:"terms,omitempty"`
	Note    *Note   `json:"note,omitempty"`
}

// Events returns at most most entries, the newest first, of those numbered below before (all for
// 0).
func (l *Ledger) Events(ctx context.Context, before int64, most int) ([]Event, error) {
	out := []Event{}
	err := l.each(ctx, l.db, func(e entry) {
		out = append(out, Event{Seq: e.Seq, Time: e.Time, Kind: e.Kind, Account: e.Dataset, Of: e.Of, Grant: e.Grant, Terms: e.Terms, Note: e.Note})
	}, "? = 0 OR seq < ? ORDER BY seq DESC LIMIT ?", before, before, most)
	if err != nil {
		return nil, err
	}
	return out, nil
}
