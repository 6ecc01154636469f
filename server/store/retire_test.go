package store

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/ledger"
	"github.com/gauze-dp/gauze/parallel"
)

// storeWithPeople returns a new store with a data set of kim's, of which lee was granted something.
func storeWithPeople(t *testing.T) (*Store, Dataset) {
	t.Helper()
	place := filepath.Join(t.TempDir(), "gauze.db")
	s, err := Open(t.Context(), place, place+".key", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	d := Dataset{Name: "people", Owner: "kim", Input: "a.csv", Fingerprint: "first", Rows: 1000, Capacity: 1000, Relation: privacy.ReplaceOne.String(), Stated: true}
	if err := s.AddDataset(t.Context(), d, ledger.Amount{Epsilon: 5, Delta: 1e-6}); err != nil {
		t.Fatal(err)
	}
	if err := s.Grant(t.Context(), "kim", d.Name, "lee", ledger.Amount{Epsilon: 2, Delta: 1e-7}, taken); err != nil {
		t.Fatal(err)
	}
	return s, d
}

// taken accepts every change.
func taken(Change) error { return nil }

// submission returns a fit of lee's that costs next to nothing.
func submission(id string) Submission {
	cost := ledger.Cost{Mu2: 1e-6}
	return Submission{Fit: Fit{ID: id, Dataset: "people", Analyst: "lee", Request: []byte("{}")}, Terms: ledger.Terms{Relation: privacy.ReplaceOne.String(), Epsilon: .001, Delta: 1e-9},
		Cost: cost, Place: func([]Fit) (Slot, error) { return Slot{Start: time.Now(), Length: time.Second}, nil }}
}

// TestRetiredBeforeTheyWrite: a request that read the data set before it was retired, and writes
// afterwards, changes nothing.
func TestRetiredBeforeTheyWrite(t *testing.T) {
	s, before := storeWithPeople(t)
	if _, err := s.Submit(t.Context(), submission("a")); err != nil {
		t.Fatalf("before: %v", err)
	}
	if d, err := s.Retire(t.Context(), before.Name); err != nil || !d.Retired {
		t.Fatalf("%v %v", d, err)
	}
	entries, err := s.Ledger().Verify(t.Context(), ledger.Head{})
	if err != nil {
		t.Fatal(err)
	}
	accepted := before
	accepted.Fingerprint = "second"
	more := ledger.Amount{Epsilon: 1, Delta: 1e-7}
	_, submitted := s.Submit(t.Context(), submission("b"))
	for what, err := range map[string]error{
		"accept":               s.Accept(t.Context(), accepted),
		"grant":                s.Grant(t.Context(), "kim", before.Name, "lee", more, taken),
		"grant of the total":   s.Grant(t.Context(), "kim", before.Name, "", more, taken),
		"grant to another one": s.Grant(t.Context(), "kim", before.Name, "max", more, taken),
		"submission":           submitted,
	} {
		if !errors.Is(err, ErrRetired) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if d, err := s.Dataset(t.Context(), before.Name); err != nil || !d.Retired || d.Fingerprint != "first" {
		t.Errorf("%+v, %v", d, err)
	}
	if after, err := s.Ledger().Verify(t.Context(), ledger.Head{}); err != nil || after != entries {
		t.Errorf("the ledger has %v after %v (%v)", after, entries, err)
	}
}

// TestRetireKeepsWhatWasAccepted: what was accepted between reading and retiring stays known, so
// that the new rows get no second budget from another custodian.
func TestRetireKeepsWhatWasAccepted(t *testing.T) {
	s, d := storeWithPeople(t)
	d.Fingerprint, d.Rows = "second", 1001
	if err := s.Accept(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	got, err := s.Retire(t.Context(), d.Name)
	if err != nil || got.Fingerprint != "second" || got.Rows != 1001 {
		t.Errorf("%+v, %v", got, err)
	}
	other := Dataset{Name: "others", Owner: "pat", Fingerprint: "second", Relation: d.Relation}
	if err := s.AddDataset(t.Context(), other, ledger.Amount{}); !errors.Is(err, ErrSame) {
		t.Errorf("a second budget: %v", err)
	}
	if _, err := s.Retire(t.Context(), "nothing"); !errors.Is(err, ErrNotFound) {
		t.Errorf("none of the name: %v", err)
	}
}

// TestGrantSeesTheTotalThatIs: a grant is judged by the total and the number of rows within its own
// transaction: what was withdrawn or accepted just before counts.
func TestGrantSeesTheTotalThatIs(t *testing.T) {
	s, d := storeWithPeople(t)
	saw := Change{}
	see := func(c Change) error {
		saw = c
		return nil
	}
	hundreds := d
	hundreds.Rows = 100
	if err := s.Accept(t.Context(), hundreds); err != nil {
		t.Fatal(err)
	}
	if err := s.Withdraw(t.Context(), "kim", d.Name, "", ledger.Amount{Epsilon: 3}, taken); err != nil {
		t.Fatal(err)
	}
	if err := s.Grant(t.Context(), "kim", d.Name, "lee", ledger.Amount{Epsilon: .5, Delta: 1e-8}, see); err != nil {
		t.Fatal(err)
	}
	if e := saw.Whole.Granted.Epsilon; e < 2 || e > 2.001 || saw.Own.Granted.Epsilon != 2.5 || saw.Of.Rows != 100 {
		t.Errorf("the grant saw %+v", saw)
	}
}

// TestRetireRaces: whatever runs beside it, a data set that was retired stays so, and has nothing
// left but what was reserved before.
func TestRetireRaces(t *testing.T) {
	for range 8 {
		s, d := storeWithPeople(t)
		begin := make(chan struct{})
		parallel.Run(5, func(i int) {
			if i == 4 {
				close(begin)
				if _, err := s.Retire(t.Context(), d.Name); err != nil {
					t.Error(err)
				}
				return
			}
			<-begin
			for range 3 {
				var err error
				switch i {
				case 0:
					err = s.Accept(t.Context(), d)
				case 1:
					err = s.Grant(t.Context(), "kim", d.Name, "lee", ledger.Amount{Epsilon: .1, Delta: 1e-9}, taken)
				case 2:
					err = s.Grant(t.Context(), "kim", d.Name, "", ledger.Amount{Epsilon: .1, Delta: 1e-9}, taken)
				default:
					err = s.Withdraw(t.Context(), "kim", d.Name, "lee", ledger.Amount{Epsilon: .1}, taken)
				}
				if err != nil && !errors.Is(err, ErrRetired) && !errors.As(err, new(*ledger.RefusedError)) {
					t.Error(err)
				}
			}
		})
		got, err := s.Dataset(t.Context(), d.Name)
		if err != nil || !got.Retired {
			t.Errorf("retired, and then %+v (%v)", got, err)
		}
		for _, who := range []string{"", "lee"} {
			if b, err := s.Balance(t.Context(), d.Name, who); err != nil || b.Left.Epsilon != 0 {
				t.Errorf("%q has %+v left (%v)", who, b, err)
			}
		}
		s.Close()
	}
}
