package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gauze-dp/gauze/ledger"
	"github.com/gauze-dp/gauze/release"
)

// The actual states of a fit; an analyst sees [Slot.Seen] of them.
const (
	Queued    = "queued"
	Running   = "running"
	Released  = "released"
	NoRelease = "no-release"
	Failed    = "failed"
)

// A Fit is a fit that was submitted.
type Fit struct {
	ID        string
	Seq       int64 // 1, 2, .. in the order of submission
	Dataset   string
	Analyst   string
	Request   json.RawMessage
	State     string
	Submitted time.Time
	Slot      Slot
	Shows     time.Time // when its outcome can be seen; zero until it has ended
	Cancelled time.Time // zero if not cancelled
	Outcome   Outcome
	// its cost, in the account of the data set and in the analyst's
	reserved, own ledger.Reservation
}

// An Outcome is the end of a fit.
type Outcome struct {
	State       string               `json:"-"`
	Release     *release.Release     `json:"-"`
	Reason      string               `json:"reason,omitempty"` // if there is no release
	Advice      string               `json:"advice,omitempty"`
	Certificate *release.Certificate `json:"certificate,omitempty"` // if there is no release
	// Signature is the server's signature of the release's bytes; "" if it was made before there
	// was a key.
	Signature string `json:"signature,omitempty"`
	// Fault is why a fit failed, for the custodian only, since it may depend on a row.
	Fault   string `json:"fault,omitempty"`
	Content string `json:"-"` // a keyed fingerprint of all that was read, "" for none
}

// A Submission is a request to store and run a fit.
type Submission struct {
	Fit   Fit
	Terms ledger.Terms
	Cost  ledger.Cost
	// Key, if not "", makes submissions of the same analyst with the same key and Digest the same
	// fit.
	Key, Digest string
	// Place returns when the fit runs, beside those that wait or run; its error refuses the fit.
	Place func(waiting []Fit) (Slot, error)
}

// Submit reserves a fit's cost in the data set's account and in the analyst's, and stores the fit:
// both or nothing. It returns the stored fit, an earlier one if the key was used before, and
// ErrThere if the key was used for something else. It fails with ErrRetired if the data set was
// retired, however lately, and with *ledger.RefusedError if there is not enough left in either
// account.
func (s *Store) Submit(ctx context.Context, sub Submission) (out Fit, err error) {
	err = s.ledger.Write(ctx, func(t *ledger.Tx) error {
		if sub.Key != "" {
			digest, id := "", ""
			err := found(t.QueryRowContext(ctx, s.bind("SELECT digest, fit FROM gauze_keys WHERE analyst = ? AND name = ?"), sub.Fit.Analyst, sub.Key).Scan(&digest, &id))
			switch {
			case err == nil && digest != sub.Digest:
				return ErrThere
			case err == nil:
				out, err = s.fit(ctx, t, id)
				return err
			case !errors.Is(err, ErrNotFound):
				return err
			}
		}
		if err := s.unretired(ctx, t, sub.Fit.Dataset); err != nil {
			return err
		}
		waiting, err := list(ctx, s, t, scanFit, fitColumns+"WHERE state IN ('queued', 'running') ORDER BY seq")
		if err != nil {
			return err
		}
		f := sub.Fit
		if f.Slot, err = sub.Place(waiting); err != nil {
			return err
		}
		// the analyst's first, so that a refusal names it if both are too small
		if f.own, err = t.Reserve(accountOf(f.Dataset, f.Analyst), sub.Terms, sub.Cost, ""); err != nil {
			return err
		}
		if f.reserved, err = t.Reserve(f.Dataset, sub.Terms, sub.Cost, ""); err != nil {
			return err
		}
		if out, err = s.keep(ctx, t, f); err != nil || sub.Key == "" {
			return err
		}
		_, err = s.exec(ctx, t, "INSERT INTO gauze_keys (analyst, name, digest, fit, since) VALUES (?, ?, ?, ?, ?)", f.Analyst, sub.Key, sub.Digest, f.ID, millis(s.now()))
		return err
	})
	return out, err
}

// keep inserts a fit that waits.
func (s *Store) keep(ctx context.Context, t *ledger.Tx, f Fit) (Fit, error) {
	if err := t.QueryRowContext(ctx, "SELECT COALESCE(MAX(seq), 0) + 1 FROM gauze_fits").Scan(&f.Seq); err != nil {
		return f, err
	}
	f.State, f.Submitted = Queued, moment(millis(s.now()))
	_, err := s.exec(ctx, t, "INSERT INTO gauze_fits (id, seq, dataset, analyst, request, state, reserved, reserved_own, submitted, worker, starts, length, shows, cancelled, outcome) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, '{}')",
		f.ID, f.Seq, f.Dataset, f.Analyst, string(f.Request), f.State, int64(f.reserved), int64(f.own), millis(f.Submitted), f.Slot.Worker, millis(f.Slot.Start), f.Slot.Length.Milliseconds())
	if err == nil {
		err = t.Note(ledger.Note{Who: f.Analyst, What: "fit " + f.ID, On: f.Dataset})
	}
	return f, err
}

const fitColumns = "SELECT id, seq, dataset, analyst, request, state, reserved, reserved_own, submitted, worker, starts, length, shows, cancelled, outcome FROM gauze_fits "

func scanFit(row scanner) (f Fit, err error) {
	var request, outcome string
	var submitted, starts, length, shows, cancelled int64
	if err = row.Scan(&f.ID, &f.Seq, &f.Dataset, &f.Analyst, &request, &f.State, &f.reserved, &f.own, &submitted,
		&f.Slot.Worker, &starts, &length, &shows, &cancelled, &outcome); err != nil {
		return f, err
	}
	f.Request, f.Submitted, f.Shows, f.Cancelled = json.RawMessage(request), moment(submitted), moment(shows), moment(cancelled)
	f.Slot.Start, f.Slot.Length = moment(starts), time.Duration(length)*time.Millisecond
	err = json.Unmarshal([]byte(outcome), &f.Outcome)
	f.Outcome.State = f.State
	return f, err
}

func (s *Store) fit(ctx context.Context, q ledger.Querier, id string) (Fit, error) {
	f, err := scanFit(q.QueryRowContext(ctx, s.bind(fitColumns+"WHERE id = ?"), id))
	return f, found(err)
}

// Fit returns the fit with an id.
func (s *Store) Fit(ctx context.Context, id string) (Fit, error) { return s.fit(ctx, s.db, id) }

// Fits returns the fits of an analyst, or of a custodian's data sets: at most most of those
// submitted before the one numbered before (0 for all), the newest first; if released is set, only
// those whose release shows.
func (s *Store) Fits(ctx context.Context, p Person, before int64, most int, released bool) ([]Fit, error) {
	whose := "WHERE analyst = ?"
	if p.Role == Custodian {
		whose = "WHERE dataset IN (SELECT name FROM gauze_datasets WHERE owner = ?)"
	}
	if released {
		whose += fmt.Sprintf(" AND state = 'released' AND cancelled = 0 AND shows <= %d", millis(s.now()))
	}
	return list(ctx, s, s.db, scanFit, fitColumns+whose+" AND (? = 0 OR seq < ?) ORDER BY seq DESC LIMIT ?", p.Name, before, before, most)
}

// Next returns the fit that a worker begins next; ErrNotFound if none waits for it.
func (s *Store) Next(ctx context.Context, worker int) (Fit, error) {
	f, err := scanFit(s.db.QueryRowContext(ctx, s.bind(fitColumns+"WHERE state = 'queued' AND worker = ? ORDER BY seq LIMIT 1"), worker))
	return f, found(err)
}

// Begin records that a fit runs from a time on. Repeating it is no fault, in case the database was
// lost before it answered. It fails with ErrNotFound if the fit does not wait any more, for
// instance because it was cancelled.
func (s *Store) Begin(ctx context.Context, id string, start time.Time) error {
	return s.ledger.Write(ctx, func(t *ledger.Tx) error {
		n, err := s.exec(ctx, t, "UPDATE gauze_fits SET state = 'running', starts = ? WHERE id = ? AND (state = 'queued' OR state = 'running' AND starts = ?)", millis(start), id, millis(start))
		if err == nil && n == 0 {
			err = ErrNotFound
		}
		return err
	})
}

// End stores the outcome of a running fit, to be seen from a time on: state, release and both
// accounts' records change together. What was reserved stays spent. It fails with ErrNotFound if
// the fit does not run any more.
func (s *Store) End(ctx context.Context, f Fit, out Outcome, shows time.Time) error {
	how := map[string]ledger.Outcome{Released: ledger.Released, NoRelease: ledger.NoRelease, Failed: ledger.Interrupted}[out.State]
	text := ""
	if out.Release != nil {
		var err error
		if text, err = encode(out.Release); err == nil && s.Sign != nil {
			out.Signature, err = s.Sign(text)
		}
		if err != nil {
			return err
		}
	}
	body, err := json.Marshal(out)
	if err != nil {
		return err
	}
	return s.ledger.Write(ctx, func(t *ledger.Tx) error {
		n, err := s.exec(ctx, t, "UPDATE gauze_fits SET state = ?, shows = ?, outcome = ? WHERE id = ? AND state = 'running'", out.State, millis(shows), string(body), f.ID)
		if err == nil && n == 0 {
			err = ErrNotFound
		}
		if err == nil && out.Release != nil {
			_, err = s.exec(ctx, t, "INSERT INTO gauze_releases (id, body) VALUES (?, ?)", f.ID, text)
		}
		if err == nil {
			err = t.Record(f.reserved, how, out.Content)
		}
		if err == nil {
			err = t.Record(f.own, how, "")
		}
		return err
	})
}

// Cancel records that a fit is no longer wanted. One that has not begun never does, and its cost is
// given back; one that has begun keeps its cost. It fails with ErrThere if it was cancelled before.
func (s *Store) Cancel(ctx context.Context, who, id string) (out Fit, err error) {
	err = s.ledger.Write(ctx, func(t *ledger.Tx) error {
		f, err := s.fit(ctx, t, id)
		if err != nil {
			return err
		}
		if !f.Cancelled.IsZero() {
			return ErrThere
		}
		f.Cancelled = moment(millis(s.now()))
		if f.State == Queued {
			f.State, f.Shows = Failed, f.Cancelled
			if err = t.Return(f.reserved); err == nil {
				err = t.Return(f.own)
			}
		}
		if err == nil {
			_, err = s.exec(ctx, t, "UPDATE gauze_fits SET state = ?, shows = ?, cancelled = ? WHERE id = ?", f.State, millis(f.Shows), millis(f.Cancelled), id)
		}
		if out = f; err != nil {
			return err
		}
		return t.Note(ledger.Note{Who: who, What: "fit cancel", On: id})
	})
	return out, err
}

// Recover ends the fits that ran when the previous server ended: they have failed, and their cost
// stays spent. It distributes the waiting ones among the given number of workers, and returns how
// many had been running.
func (s *Store) Recover(ctx context.Context, workers int) (int, error) {
	cut, err := list(ctx, s, s.db, scanFit, fitColumns+"WHERE state = 'running' ORDER BY seq")
	if err != nil {
		return 0, err
	}
	for _, f := range cut {
		if err := s.End(ctx, f, Outcome{State: Failed, Fault: "the server ended while it ran"}, f.Slot.Shows(s.now())); err != nil {
			return 0, err
		}
	}
	err = s.ledger.Write(ctx, func(t *ledger.Tx) error {
		_, err := s.exec(ctx, t, "UPDATE gauze_fits SET worker = worker % ? WHERE state = 'queued'", workers)
		return err
	})
	return len(cut), err
}

// Release returns the text of a fit's release.
func (s *Store) Release(ctx context.Context, id string) (string, error) {
	var body string
	err := s.db.QueryRowContext(ctx, s.bind("SELECT body FROM gauze_releases WHERE id = ?"), id).Scan(&body)
	return body, found(err)
}

func encode(r *release.Release) (string, error) {
	var b strings.Builder
	err := release.Write(&b, r)
	return b.String(), err
}
