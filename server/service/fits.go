package service

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"time"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/ledger"
	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/server/ask"
	"github.com/gauze-dp/gauze/server/store"
)

// A Plan is what a fit would do.
type Plan struct {
	*gauze.Statement
	Dataset string `json:"dataset,omitempty"`
	// Enough says whether the analyst's grant and the data set have enough left, if a data set is
	// named.
	Slot float64 `json:"slot_seconds,omitempty"` // from its start until the outcome shows
}

// Plan returns what a fit would spend and its expected error. It reads no row.
func (s *Service) Plan(ctx context.Context, p store.Person, a ask.Ask) (*Plan, error) {
	d, err := s.asked(ctx, p, a.Dataset)
	if err != nil {
		return nil, err
	}
	got, err := s.plan(a, d)
	if err != nil {
		return nil, err
	}
	return &Plan{Statement: got.statement, Dataset: a.Dataset, Slot: got.length.Seconds()}, nil
}

// planned is what public facts say of a request.
type planned struct {
	statement *gauze.Statement
	cost      ledger.Cost
	length    time.Duration // of the slot; 0 without a data set
}

// mostPlanned is how many plans are remembered. A guess.
const mostPlanned = 4096

// plan plans a fit. Plans are remembered: a plan is a function of public facts, and takes about ten
// milliseconds, mostly for its lower bound.
func (s *Service) plan(a ask.Ask, d *store.Dataset) (out planned, err error) {
	var public any
	if d != nil {
		public = []any{d.Rows, d.Capacity, d.Relation, d.Schema}
		if d.Relation != privacy.ReplaceOne.String() {
			public = []any{d.Capacity, d.Relation, d.Schema}
		}
	}
	key, err := json.Marshal([]any{a, public})
	if err != nil {
		return out, err
	}
	digest := sha256.Sum256(key) // a request may be a megabyte, and thousands are remembered
	s.mu.Lock()
	out, known := s.planned[digest]
	s.mu.Unlock()
	if known {
		return out, nil
	}
	select {
	case s.Plans <- struct{}{}:
		defer func() { <-s.Plans }()
	default:
		return out, Busy("as many plans are being made as the server can make at a time", time.Second)
	}
	if out.statement, out.cost, err = a.Plan(d); err != nil {
		return out, err
	}
	if d != nil {
		if out.length, err = s.length(a, d, out.statement.Method); err != nil {
			return out, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.planned) >= mostPlanned || s.planned == nil {
		s.planned = map[[sha256.Size]byte]planned{}
	}
	s.planned[digest] = out
	return out, nil
}

// asked returns the data set of a request; nil for none.
func (s *Service) asked(ctx context.Context, p store.Person, name string) (*store.Dataset, error) {
	if name == "" {
		return nil, nil
	}
	d, err := s.seen(ctx, p, name)
	return &d, err
}

// length returns the length of a fit's slot, by public facts.
func (s *Service) length(a ask.Ask, d *store.Dataset, method string) (time.Duration, error) {
	_, schema, err := a.Request(d)
	if err != nil {
		return 0, err
	}
	return s.Rate.Length(store.Facts{Capacity: d.Capacity, Columns: len(schema.Columns), Groups: ask.Groups(schema), Slow: ask.Slow(method),
		Components: max(int(a.Components), a.MaxComponents)}), nil
}

// A Fit is a fit as it is shown. State, Due and the fields after them are functions of the schedule
// until the slot's end.
type Fit struct {
	ID        string          `json:"id"`
	Dataset   string          `json:"dataset"`
	Analyst   string          `json:"analyst"`
	State     string          `json:"state"`
	Submitted string          `json:"submitted"`
	Starts    string          `json:"starts"`
	Due       string          `json:"due"`
	Request   json.RawMessage `json:"request"`
	// Release is the id of the release, if there is one; it is the fit's id.
	Release string `json:"release,omitempty"`
	Detail  string `json:"detail,omitempty"` // why it failed, a constant sentence
	// Reason and Advice are those of a fit without a release.
	Reason string         `json:"reason,omitempty"`
	Advice string         `json:"advice,omitempty"`
	Spent  *release.Spent `json:"spent,omitempty"` // of a fit without a release; if nil, all that was reserved
	// Fault is why it failed, for the custodian alone.
	Fault string `json:"custodian_fault,omitempty"`
}

// The texts shown for fits that failed.
const (
	failedDetail    = "the fit failed, and its cost stays spent; the custodian of the data set may know more"
	cancelledDetail = "it was cancelled while it ran, and its cost stays spent"
	neverDetail     = "it was cancelled before it began, and nothing was spent"
)

// validKey matches a key that makes repeated submissions the same fit. Its length is a guess.
var validKey = regexp.MustCompile(`^[ -~]{0,200}$`)

// Submit reserves a fit's cost, and stores the fit until its worker is free. Submissions of one
// analyst with the same key are one fit.
func (s *Service) Submit(ctx context.Context, p store.Person, a ask.Ask, key string) (*Fit, error) {
	if p.Role != store.Analyst {
		return nil, Forbidden(store.Analyst)
	}
	if a.Dataset == "" {
		return nil, wrong("dataset", "the name of a data set", "", "GET /datasets lists those that you were granted something of")
	}
	if !validKey.MatchString(key) {
		return nil, wrong("Idempotency-Key", "at most 200 printable characters of ASCII", key, "a UUID will do")
	}
	d, err := s.asked(ctx, p, a.Dataset)
	if err != nil {
		return nil, err
	}
	if d.Retired {
		return nil, errRetired()
	}
	sub, err := s.submission(p, a, d, key)
	if err != nil {
		return nil, err
	}
	f, err := s.Store.Submit(ctx, *sub)
	if errors.Is(err, store.ErrThere) {
		fault := wrong("Idempotency-Key", "a key of its own for every fit", key, "it was used with another body")
		fault.Status, fault.Title = http.StatusConflict, http.StatusText(http.StatusConflict)
		return nil, fault
	}
	if err != nil {
		return nil, retired(err)
	}
	s.Wake()
	return s.view(p, f), nil
}

// submission plans a fit, by public facts.
func (s *Service) submission(p store.Person, a ask.Ask, d *store.Dataset, key string) (*store.Submission, error) {
	plan, err := s.plan(a, d)
	if err != nil {
		return nil, err
	}
	kept, err := json.Marshal(ask.Kept{Ask: a.Stated(d), Cost: plan.cost})
	if err != nil {
		return nil, err
	}
	asked, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	digest := sha256.Sum256(asked)
	return &store.Submission{
		Fit:   store.Fit{ID: drawnID(), Dataset: d.Name, Analyst: p.Name, Request: kept},
		Terms: ledger.Terms{Relation: d.Relation, Unit: d.Schema.Person(), Epsilon: a.Epsilon, Delta: a.Delta, Rho: a.Rho, Method: a.Method},
		Cost:  plan.cost, Key: key, Digest: hex.EncodeToString(digest[:]),
		Place: func(waiting []store.Fit) (store.Slot, error) { return s.place(p, waiting, plan.length) },
	}, nil
}

// place returns a slot, or an error that says when to try again.
func (s *Service) place(p store.Person, waiting []store.Fit, length time.Duration) (store.Slot, error) {
	now := s.Now()
	var taken []store.Slot
	own, next := 0, time.Time{}
	for _, f := range waiting {
		taken = append(taken, f.Slot)
		if end := f.Slot.End(0); f.Analyst == p.Name && end.After(now) {
			if own++; next.IsZero() || end.Before(next) {
				next = end
			}
		}
	}
	if own >= s.Waiting {
		return store.Slot{}, Busy(fmt.Sprintf("%d of your fits wait or run, as many as one analyst's may", own), next.Sub(now))
	}
	slot := store.Place(now, taken, s.Workers, length)
	if ahead := slot.Start.Sub(now); ahead > s.Horizon {
		return slot, Busy("more fits wait than the server takes", ahead-s.Horizon)
	}
	return slot, nil
}

// view returns what the person who asks sees of a fit now.
func (s *Service) view(p store.Person, f store.Fit) *Fit {
	now := s.Now()
	out := &Fit{ID: f.ID, Dataset: f.Dataset, Analyst: f.Analyst, Submitted: stamp(f.Submitted), Starts: stamp(f.Slot.Start), Request: ask.Request(f.Request)}
	due := f.Slot.End(0)
	for putOff := 1; putOff < store.Ends && !now.Before(due); putOff++ {
		due = f.Slot.End(putOff)
	}
	if !f.Shows.IsZero() && !now.Before(f.Shows) {
		due = f.Shows
	}
	out.Due, out.State = stamp(due), f.Slot.Seen(now, f.State, f.Shows)
	if !f.Cancelled.IsZero() {
		out.State, out.Due, out.Detail = store.Failed, stamp(f.Cancelled), cancelledDetail
		if f.Shows.Equal(f.Cancelled) {
			out.Detail, out.Spent = neverDetail, &release.Spent{}
		}
		return out
	}
	switch out.State {
	case store.Released:
		out.Release = f.ID
	case store.NoRelease:
		out.Reason, out.Advice = f.Outcome.Reason, f.Outcome.Advice
		if c := f.Outcome.Certificate; c != nil {
			out.Spent = &c.Spent
		}
	case store.Failed:
		out.Detail = failedDetail
		if p.Role == store.Custodian {
			out.Fault = f.Outcome.Fault
		}
	}
	return out
}

// stamp returns a time as it is shown.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

// fit returns a fit that the person who asks may see: an analyst their own, a custodian those of
// their data sets.
func (s *Service) fit(ctx context.Context, p store.Person, id string) (store.Fit, error) {
	if !validID.MatchString(id) { // a database may refuse to look for such an id
		return store.Fit{}, Missing("fit")
	}
	f, err := s.Store.Fit(ctx, id)
	if err == nil && p.Role == store.Analyst && f.Analyst != p.Name {
		err = store.ErrNotFound
	}
	if err == nil && p.Role == store.Custodian {
		if _, err = s.owned(ctx, p, f.Dataset); err != nil {
			err = store.ErrNotFound
		}
	}
	if errors.Is(err, store.ErrNotFound) {
		return f, Missing("fit")
	}
	return f, err
}

// Fit returns a fit that the person who asks may see.
func (s *Service) Fit(ctx context.Context, p store.Person, id string) (*Fit, error) {
	f, err := s.fit(ctx, p, id)
	if err != nil {
		return nil, err
	}
	return s.view(p, f), nil
}

// A FitPage is a part of a list of fits: Next, if not 0, is the number before which the next part
// begins.
type FitPage struct {
	Fits []*Fit `json:"fits"`
	Next int64  `json:"next,omitempty"`
}

// Fits returns the fits that the person who asks may see, at most most of those submitted before
// before, the newest first; if released is set, only those whose release shows.
func (s *Service) Fits(ctx context.Context, p store.Person, before int64, most int, released bool) (*FitPage, error) {
	all, err := s.Store.Fits(ctx, p, before, most, released)
	out := &FitPage{Fits: []*Fit{}}
	for _, f := range all {
		out.Fits = append(out.Fits, s.view(p, f))
	}
	if len(all) == most {
		out.Next = all[most-1].Seq
	}
	return out, err
}

// Cancel says that a fit is no longer wanted. Its outcome, if there is one, is never shown.
func (s *Service) Cancel(ctx context.Context, p store.Person, id string) (*Fit, error) {
	f, err := s.fit(ctx, p, id)
	if err != nil {
		return nil, err
	}
	if state := s.view(p, f).State; state != store.Queued && state != store.Running {
		return nil, over()
	}
	f, err = s.Store.Cancel(ctx, p.Name, id)
	if errors.Is(err, store.ErrThere) {
		return nil, over()
	}
	if err != nil {
		return nil, err
	}
	s.Stop(id)
	return s.view(p, f), nil
}

func over() *Problem {
	return problem(http.StatusConflict, "over", "the fit is over", "what is over cannot be cancelled")
}
