package ledger

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Notes stand in the chain and change no account; a transaction that fails has not happened, with
// what it wrote into tables of others.
func TestNotesAndTransactionsOfOthers(t *testing.T) {
	l, _, _ := opened(t)
	grant(t, l, "a", 1, 1e-6)
	db, bind := l.Database()
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE beside (x BIGINT)"); err != nil {
		t.Fatal(err)
	}
	fault := errors.New("in the middle")
	for _, last := range []error{fault, nil} {
		err := l.Write(t.Context(), func(w *Tx) error {
			if _, err := w.ExecContext(t.Context(), bind("INSERT INTO beside (x) VALUES (?)"), 1); err != nil {
				return err
			}
			if err := w.Note(Note{Who: "kim", What: "token add", On: "lee"}); err != nil {
				return err
			}
			if _, err := w.Grant("b", Amount{1, 1e-6}); err != nil {
				return err
			}
			return last
		})
		if !errors.Is(err, last) {
			t.Fatal(err)
		}
	}
	beside := 0
	if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM beside").Scan(&beside); err != nil || beside != 1 {
		t.Errorf("%d rows beside the ledger, want 1 (%v)", beside, err)
	}
	events, err := l.Events(t.Context(), 0, 10)
	if err != nil || len(events) != 3 || events[1].Note == nil || events[1].Note.On != "lee" || events[0].Account != "b" {
		t.Errorf("events: %+v, %v", events, err)
	}
	if older, err := l.Events(t.Context(), 2, 10); err != nil || len(older) != 1 {
		t.Errorf("events before the second: %+v, %v", older, err)
	}
	if all, err := l.Balances(t.Context(), ""); err != nil || len(all) != 2 {
		t.Errorf("balances: %+v, %v", all, err)
	}
	if _, err := l.Verify(t.Context(), Head{}); err != nil {
		t.Error(err)
	}
}

// Ensure makes a ledger where there is none, also in a file that was left without tables, and
// leaves alone what is there.
func TestEnsure(t *testing.T) {
	place := filepath.Join(t.TempDir(), "budgets.db")
	for range 2 {
		if err := Ensure(t.Context(), place, place+".key"); err != nil {
			t.Fatal(err)
		}
		l, err := Open(t.Context(), place, place+".key", clock)
		if err != nil {
			t.Fatal(err)
		}
		grant(t, l, "a", 1, 1e-7)
		l.Close()
	}
	cut := filepath.Join(t.TempDir(), "cut.db")
	if err := os.WriteFile(cut, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Ensure(t.Context(), cut, cut+".key"); err != nil {
		t.Fatal(err)
	}
	if l, err := Open(t.Context(), cut, cut+".key", clock); err != nil {
		t.Error(err)
	} else {
		l.Close()
	}
}
