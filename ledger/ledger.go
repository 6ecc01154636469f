package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gauze-dp/gauze/kernel/privacy"
)

// A Ledger is an opened ledger. Several processes may have it open at the same time.
type Ledger struct {
	db   *sql.DB
	says dialect
	key  []byte
	now  func() time.Time
	turn sync.Mutex // held by the goroutine that writes
	// anchor is nil for PostgreSQL, and last the head as this process last saw it.
	anchor  *anchor
	last    head
	spoiled atomic.Pointer[time.Time] // when the database last failed to write
	// known are balances by the accounts' states, since they take long to compute. The states leave
	// out how fits ended: the time of the next look-up must not depend on it.
	known   map[string]Balance
	knowing sync.Mutex
}

// Init creates an empty ledger in a new SQLite file, or in a PostgreSQL database that has none, and
// its key file, if that does not exist.
func Init(ctx context.Context, place, keyFile string) error {
	key, err := makeKey(keyFile)
	if err != nil {
		return err
	}
	db, says, err := connect(place, true)
	if err != nil {
		return err
	}
	l := &Ledger{db: db, says: says, key: key}
	defer l.Close()
	if err = l.failed(l.makeTables(ctx)); err != nil && !isPostgres(place) {
		err = fmt.Errorf("%w; remove %s, which holds nothing yet, before the next try", err, place)
	}
	return err
}

// Ensure does what Init does if there is no ledger yet, and nothing if there is one.
func Ensure(ctx context.Context, place, keyFile string) error {
	if _, err := os.Stat(place); !isPostgres(place) && errors.Is(err, fs.ErrNotExist) {
		return Init(ctx, place, keyFile)
	}
	db, says, err := connect(place, false)
	if err != nil {
		return err
	}
	l := &Ledger{db: db, says: says}
	defer l.Close()
	there := 0
	if err := db.QueryRowContext(ctx, says.there).Scan(&there); err != nil || there > 0 {
		return l.failed(err)
	}
	if l.key, err = makeKey(keyFile); err != nil {
		return err
	}
	return l.failed(l.makeTables(ctx))
}

// makeTables creates the tables and the head, all or nothing.
func (l *Ledger) makeTables(ctx context.Context) error {
	id, err := drawn()
	if err != nil {
		return err
	}
	t, err := l.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer t.Rollback()
	for _, statement := range strings.Split(tables, ";") {
		if _, err := t.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	h := head{id: id, hash: origin(id)}.sealed(l.key)
	if _, err := t.ExecContext(ctx, l.says.bind("INSERT INTO gauze_ledger_head (one, id, count, hash, mac) VALUES (1, ?, 0, ?, ?)"), h.id, h.hash, h.mac); err != nil {
		return err
	}
	return t.Commit()
}

// Open opens an existing ledger with its key. now is the clock that dates its entries. The caller
// closes it.
func Open(ctx context.Context, place, keyFile string, now func() time.Time) (*Ledger, error) {
	db, says, err := connect(place, false)
	if err != nil {
		return nil, err
	}
	l := &Ledger{db: db, says: says, now: now}
	if l.key, err = readKey(keyFile); err == nil {
		err = l.ready(ctx)
	}
	if err == nil && !says.number {
		l.anchor, err = anchored(ctx, db, place)
	}
	if err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// ready returns an error if a database has no ledger, or does not keep what is written to it.
func (l *Ledger) ready(ctx context.Context) error {
	h, err := readHead(ctx, l.db, "")
	var broken *BrokenError
	if errors.As(err, &broken) {
		return err
	}
	if err != nil {
		return fmt.Errorf("ledger: this database has no ledger that can be read (gauze ledger init makes one): %w", err)
	}
	if l.says.number {
		var fsync string
		if err := l.db.QueryRowContext(ctx, "SHOW fsync").Scan(&fsync); err != nil {
			return l.failed(err)
		}
		if fsync != "on" {
			return &privacy.FieldError{Field: "ledger", Wanted: "a PostgreSQL server that keeps what was committed", Got: "one with fsync = " + fsync, Fix: "turn it on: what is spent must outlive a crash"}
		}
	}
	l.last = h
	return h.check(l.key)
}

// Close ends the use of the ledger.
func (l *Ledger) Close() error { return errors.Join(l.anchor.close(), l.db.Close()) }

// validName returns an error for a name that could be mistaken for another, or that no terminal
// could show.
func validName(name string) error {
	odd := func(r rune) bool { return !unicode.IsPrint(r) }
	const longest = 200 // a guess
	if name == "" || len(name) > longest || !utf8.ValidString(name) || strings.ContainsFunc(name, odd) || strings.TrimSpace(name) != name {
		return &privacy.FieldError{Field: "dataset", Wanted: fmt.Sprintf("a name of 1 to %d printable characters, without blanks around it", longest), Got: fmt.Sprintf("%q", name),
			Fix: "for instance --dataset visits-2026"}
	}
	return nil
}

// A Reservation is the number of the entry that reserved a fit's cost.
type Reservation int64

// Reserve takes the cost from the data set's budget before a row is read. Source is a fingerprint
// of the input as far as it is known by then, "" for none.
//
// Failures: *[RefusedError] if the account has not enough left. Whatever the error, nothing may be
// measured; if the database failed, the cost may still count.
func (l *Ledger) Reserve(ctx context.Context, dataset string, t Terms, cost Cost, source string) (r Reservation, err error) {
	err = l.Write(ctx, func(w *Tx) error {
		r, err = w.Reserve(dataset, t, cost, source)
		return err
	})
	return r, err
}

// Reserve does what the ledger's Reserve does, within the transaction.
func (w *Tx) Reserve(dataset string, t Terms, cost Cost, source string) (Reservation, error) {
	if err := errors.Join(validName(dataset), cost.Validate()); err != nil {
		return 0, err
	}
	before, err := w.account(dataset)
	if err != nil {
		return 0, err
	}
	if before == nil {
		return 0, &RefusedError{Dataset: dataset, Why: "nothing was granted"}
	}
	e := entry{Kind: kindReserve, Dataset: dataset, Time: stamp(w.l.now()), Terms: &t, Cost: &cost, Source: source}
	if e.After, err = e.apply(*before, nil); err != nil {
		return 0, err
	}
	seq, err := w.append(e)
	return Reservation(seq), err
}

// Settle replaces the foreseen cost by the plan's exact worst case, before anything is measured. It
// fails as Reserve does; what was reserved stays so until it is returned.
func (l *Ledger) Settle(ctx context.Context, r Reservation, cost Cost) error {
	if err := cost.Validate(); err != nil {
		return err
	}
	return l.Write(ctx, func(w *Tx) error { return w.follow(r, entry{Kind: kindSettle, Cost: &cost}) })
}

// Return gives a reservation back. The caller knows that nothing was measured under it.
func (l *Ledger) Return(ctx context.Context, r Reservation) error {
	return l.Write(ctx, func(w *Tx) error { return w.Return(r) })
}

// Return does what the ledger's Return does, within the transaction.
func (w *Tx) Return(r Reservation) error { return w.follow(r, entry{Kind: kindReturn}) }

// An Outcome says how a fit ended that began to measure: what it reserved stays spent.
type Outcome string

const (
	Released    Outcome = kindReleased
	NoRelease   Outcome = kindNone
	Interrupted Outcome = kindFailed
)

// Record records how a fit ended. content is a fingerprint of the whole input, "" for none.
func (l *Ledger) Record(ctx context.Context, r Reservation, how Outcome, content string) error {
	return l.Write(ctx, func(w *Tx) error { return w.Record(r, how, content) })
}

// Record does what the ledger's Record does, within the transaction.
func (w *Tx) Record(r Reservation, how Outcome, content string) error {
	return w.follow(r, entry{Kind: string(how), Content: content})
}

// follow appends an entry about a reservation.
func (w *Tx) follow(r Reservation, e entry) error {
	first, found, err := one(w.ctx, w, w.l.says, w.l.key, "seq = ?", int64(r))
	if err != nil {
		return err
	}
	if !found || first.Kind != kindReserve {
		return &BrokenError{Seq: int64(r), What: "is no reservation"}
	}
	last, _, err := one(w.ctx, w, w.l.says, w.l.key, "of = ? ORDER BY seq DESC", fmt.Sprint(int64(r)))
	if err != nil {
		return err
	}
	before, err := w.account(first.Dataset)
	if err != nil {
		return err
	}
	h := &held{terms: *first.Terms, cost: *first.Cost}
	if last.Kind != "" {
		h.add(last)
	}
	e.Dataset, e.Time, e.Of = first.Dataset, stamp(w.l.now()), int64(r)
	if e.After, err = e.apply(*before, h); err != nil {
		return err
	}
	_, err = w.append(e)
	return err
}

// Known returns the names of other data sets that had an input with one of these fingerprints
// before.
func (l *Ledger) Known(ctx context.Context, dataset, source, content string) (names []string, err error) {
	return l.KnownIn(ctx, l.db, dataset, source, content)
}

// KnownIn does what Known does, within a transaction.
func (l *Ledger) KnownIn(ctx context.Context, q Querier, dataset, source, content string) (names []string, err error) {
	rows, err := q.QueryContext(ctx, l.says.bind("SELECT DISTINCT dataset FROM gauze_ledger WHERE dataset <> ? AND (source <> '' AND source = ? OR content <> '' AND content = ?) ORDER BY dataset"),
		dataset, source, content)
	if err != nil {
		return nil, l.failed(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, l.failed(err)
		}
		names = append(names, name)
	}
	return names, l.failed(rows.Err())
}

// Balances returns the accounts of all data sets, by name; only one if it is named.
func (l *Ledger) Balances(ctx context.Context, dataset string) ([]Balance, error) {
	out := []Balance{}
	var last []entry
	err := l.each(ctx, l.db, func(e entry) { last = append(last, e) },
		"seq IN (SELECT MAX(seq) FROM gauze_ledger GROUP BY dataset) AND dataset <> '' AND (? = '' OR dataset = ?) ORDER BY dataset", dataset, dataset)
	for i := 0; i < len(last) && err == nil; i++ {
		last[i].After, err = l.recounted(ctx, l.db, last[i])
		out = append(out, l.balance(last[i]))
	}
	if err != nil {
		return nil, err
	}
	if len(out) == 0 && dataset != "" {
		return nil, unknownDataset(dataset)
	}
	return out, nil
}

func unknownDataset(dataset string) error {
	return &privacy.FieldError{Field: "dataset", Wanted: "a data set of the ledger", Got: fmt.Sprintf("%q", dataset), Fix: "gauze ledger show lists them"}
}

// recounted returns the account after e, the last entry of its data set, as this version counts.
func (l *Ledger) recounted(ctx context.Context, q Querier, e entry) (state, error) {
	if e.After.Recounted {
		return e.After, nil
	}
	var old older
	err := l.each(ctx, q, old.add, "dataset = ? ORDER BY seq", e.Dataset)
	return e.After.recounted(old), err
}

// each calls use with the entries that the rest of a query selects, in its order.
func (l *Ledger) each(ctx context.Context, q Querier, use func(entry), which string, args ...any) error {
	rows, err := q.QueryContext(ctx, l.says.bind("SELECT "+columns+" FROM gauze_ledger WHERE "+which), args...)
	if err != nil {
		return l.failed(err)
	}
	defer rows.Close()
	for rows.Next() {
		var at line
		if err := at.scan(rows); err != nil {
			return l.failed(err)
		}
		e, err := at.open(l.key, "")
		if err != nil {
			return err
		}
		use(e)
	}
	return l.failed(rows.Err())
}

// mostKnown is the number of balances that are remembered. A guess.
const mostKnown = 4096

// balance returns the account after an entry.
func (l *Ledger) balance(e entry) Balance {
	s := e.After
	s.Open, s.Releases = 0, 0
	key := fmt.Sprintf("%+v", s)
	l.knowing.Lock()
	b, known := l.known[key]
	l.knowing.Unlock()
	if !known {
		b = s.balance("")
		l.knowing.Lock()
		if len(l.known) >= mostKnown || l.known == nil {
			l.known = map[string]Balance{}
		}
		l.known[key] = b
		l.knowing.Unlock()
	}
	b.Name, b.Open, b.Releases = e.Dataset, e.After.Open, e.After.Releases
	return b
}
