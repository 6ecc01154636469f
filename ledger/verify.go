package ledger

import (
	"context"
	"fmt"
	"reflect"
)

// A Head names a state of a ledger. Whoever notes it elsewhere can check later whether the ledger
// still contains that state.
type Head struct {
	Entries int64  `json:"entries"`
	Hash    string `json:"hash"` // of the last entry
}

// Verify reads every entry, from the first to the head, and returns the head if all of them are as
// they were written: bytes, order, codes, and every account recomputed. Noted, if its Hash is set,
// is a head that the ledger once had.
//
// Failures: *[BrokenError] for the first entry that is not. It cannot detect that the whole ledger
// was put back to an older state than the noted one.
func (l *Ledger) Verify(ctx context.Context, noted Head) (Head, error) {
	// One transaction, so that concurrent writes are not seen in part. On SQLite it also locks
	// writers out while it lasts.
	t, err := l.db.BeginTx(ctx, nil)
	if err != nil {
		return Head{}, l.failed(err)
	}
	defer t.Rollback()
	return l.check(ctx, t, noted)
}

// check does what Verify does, within a transaction.
func (l *Ledger) check(ctx context.Context, t Querier, noted Head) (Head, error) {
	h, err := readHead(ctx, t, l.says.lock)
	if err == nil {
		err = h.check(l.key)
	}
	if err == nil && !l.says.number {
		err = intact(ctx, t)
	}
	if err != nil {
		return Head{}, l.failed(err)
	}
	rows, err := t.QueryContext(ctx, "SELECT "+columns+" FROM gauze_ledger ORDER BY seq")
	if err != nil {
		return Head{}, l.failed(err)
	}
	defer rows.Close()
	r := newReplay(l.key, h, noted)
	for rows.Next() {
		var at line
		if err := at.scan(rows); err != nil {
			return Head{}, l.failed(err)
		}
		if err := r.step(at); err != nil {
			return Head{}, err
		}
	}
	if err := rows.Err(); err != nil {
		return Head{}, l.failed(err)
	}
	return r.end(h)
}

// intact asks SQLite whether the file is consistent, including the indexes by which this program
// looks entries up.
func intact(ctx context.Context, q Querier) error {
	var says string
	if err := q.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&says); err != nil {
		return err
	}
	if says != "ok" {
		return &BrokenError{What: "the file is damaged: " + says}
	}
	return nil
}

// replay recomputes the accounts, entry by entry.
type replay struct {
	key      []byte
	count    int64
	hash     string
	noted    Head
	met      bool // passed the noted head
	accounts map[string]state
	held     map[int64]*held // reservations that have not ended
	older    map[string]*older
}

func newReplay(key []byte, h head, noted Head) *replay {
	return &replay{key: key, hash: origin(h.id), noted: noted, accounts: map[string]state{}, held: map[int64]*held{}, older: map[string]*older{}}
}

// step checks the next line.
func (r *replay) step(at line) error {
	if r.count++; at.seq != r.count {
		return &BrokenError{Seq: r.count, What: "is missing"}
	}
	e, err := at.open(r.key, r.hash)
	if err != nil {
		return err
	}
	r.hash = at.hash
	r.met = r.met || r.noted == Head{r.count, r.hash}
	if err := e.complete(); err != nil {
		return err
	}
	h := r.held[e.Of]
	if e.Of != 0 && h == nil {
		return &BrokenError{Seq: e.Seq, What: "is about a reservation that is not open"}
	}
	before, old := r.accounts[e.Dataset], r.older[e.Dataset]
	if old == nil {
		old = &older{}
		r.older[e.Dataset] = old
	}
	if e.After.Recounted && !before.Recounted {
		before = before.recounted(*old)
	}
	old.add(e)
	after, err := e.apply(before, h)
	if err != nil {
		return &BrokenError{Seq: e.Seq, What: "could not have been written: " + err.Error()}
	}
	if !reflect.DeepEqual(after, e.After) {
		return &BrokenError{Seq: e.Seq, What: "has another account than follows from the entries before it"}
	}
	r.accounts[e.Dataset] = after
	switch {
	case e.Kind == kindReserve:
		r.held[e.Seq] = &held{terms: *e.Terms, cost: *e.Cost}
	case h != nil:
		if h.add(e); h.ended {
			delete(r.held, e.Of)
		}
	}
	return nil
}

// complete returns an error if an entry lacks what its kind needs.
func (e entry) complete() error {
	grant, terms, cost, note := e.Kind == kindGrant || e.Kind == kindWithdraw, e.Kind == kindReserve, e.Kind == kindReserve || e.Kind == kindSettle, e.Kind == kindNote
	if (e.Grant != nil) != grant || (e.Terms != nil) != terms || (e.Cost != nil) != cost || (e.Note != nil) != note || (e.Of != 0) == (grant || terms || note) {
		return &BrokenError{Seq: e.Seq, What: "has not what an entry of its kind has"}
	}
	return nil
}

// end compares the last entry with the head.
func (r *replay) end(h head) (Head, error) {
	if r.count != h.count || r.hash != h.hash {
		return Head{}, &BrokenError{What: fmt.Sprintf("the head says that there are %d entries, and %d are there, or the last is another", h.count, r.count)}
	}
	if (r.noted != Head{}) && !r.met {
		return Head{}, &BrokenError{What: fmt.Sprintf("it does not contain the head %d:%s: an older copy was restored, or this is another ledger", r.noted.Entries, r.noted.Hash)}
	}
	return Head{h.count, h.hash}, nil
}
