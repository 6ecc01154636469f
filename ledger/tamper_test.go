package ledger

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// Every edit of one byte of any cell is found, whatever bit of it is another.
func TestEveryByte(t *testing.T) {
	l, _, _ := opened(t)
	story(t, l)
	h, err := readHead(t.Context(), l.db, "")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := l.db.QueryContext(t.Context(), "SELECT "+columns+" FROM gauze_ledger ORDER BY seq")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var lines []line
	for rows.Next() {
		var at line
		if err := at.scan(rows); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, at)
	}
	if err := replayed(l.key, h, lines); err != nil || len(lines) != storyEntries {
		t.Fatalf("%d lines: %v", len(lines), err)
	}
	tried := 0
	flip := func(what string, cell *string) {
		was := *cell
		for i := range was {
			for bit := range 8 {
				if os.Getenv("GAUZE_LONG") == "" && bit != i%8 {
					continue
				}
				tried++
				*cell = was[:i] + string([]byte{was[i] ^ 1<<bit}) + was[i+1:]
				if replayed(l.key, h, lines) == nil {
					t.Errorf("%s: %q in the place of %q was not found", what, *cell, was)
				}
			}
		}
		*cell = was
	}
	for i := range lines {
		at := &lines[i]
		for what, cell := range map[string]*string{"dataset": &at.dataset, "of": &at.of, "body": &at.body, "hash": &at.hash, "mac": &at.mac, "source": &at.source, "content": &at.print} {
			flip(fmt.Sprintf("entry %d, %s", i+1, what), cell)
		}
		for bit := range 63 {
			at.seq ^= 1 << bit
			if tried++; replayed(l.key, h, lines) == nil {
				t.Errorf("entry %d under the number %d was not found", i+1, at.seq)
			}
			at.seq ^= 1 << bit
		}
	}
	for what, cell := range map[string]*string{"id": &h.id, "hash": &h.hash, "mac": &h.mac} {
		flip("head, "+what, cell)
	}
	for bit := range 63 {
		h.count ^= 1 << bit
		if tried++; replayed(l.key, h, lines) == nil {
			t.Errorf("a head of %d entries was not found", h.count)
		}
		h.count ^= 1 << bit
	}
	for i := range l.key {
		key := append([]byte(nil), l.key...)
		key[i] ^= 1 << (i % 8)
		if tried++; replayed(key, h, lines) == nil {
			t.Errorf("another key was not found, byte %d", i)
		}
	}
	t.Logf("%d edits", tried)
}

// replayed is what Verify does with the lines of a ledger.
func replayed(key []byte, h head, lines []line) error {
	if err := h.check(key); err != nil {
		return err
	}
	r := newReplay(key, h, Head{})
	for _, at := range lines {
		if err := r.step(at); err != nil {
			return err
		}
	}
	_, err := r.end(h)
	return err
}

// Entries that are missing, doubled or exchanged are found, and a head that was put back.
func TestOrder(t *testing.T) {
	for name, statements := range map[string][]string{
		"one missing":         {"DELETE FROM gauze_ledger WHERE seq = 5"},
		"the first missing":   {"DELETE FROM gauze_ledger WHERE seq = 1"},
		"the last missing":    {"DELETE FROM gauze_ledger WHERE seq = 15"},
		"all missing":         {"DELETE FROM gauze_ledger"},
		"the head missing":    {"DELETE FROM gauze_ledger_head"},
		"two exchanged":       {"UPDATE gauze_ledger SET seq = 99 WHERE seq = 5", "UPDATE gauze_ledger SET seq = 5 WHERE seq = 6", "UPDATE gauze_ledger SET seq = 6 WHERE seq = 99"},
		"closed up":           {"DELETE FROM gauze_ledger WHERE seq = 5", "UPDATE gauze_ledger SET seq = seq - 1 WHERE seq > 5"},
		"one more":            {"INSERT INTO gauze_ledger SELECT 16, dataset, of, body, hash, mac, source, content FROM gauze_ledger WHERE seq = 15"},
		"the last, with head": {"DELETE FROM gauze_ledger WHERE seq = 15", "UPDATE gauze_ledger_head SET count = 14, hash = (SELECT hash FROM gauze_ledger WHERE seq = 14)"},
	} {
		l, _, _ := opened(t)
		story(t, l)
		for _, s := range statements {
			if _, err := l.db.ExecContext(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
		var broken *BrokenError
		if _, err := l.Verify(t.Context(), Head{}); !errors.As(err, &broken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Who can write the database but has not the key cannot write an entry, even with all hashes right;
// and an older copy of all is found by a head that was noted.
func TestWithoutTheKey(t *testing.T) {
	l, file, key := opened(t)
	story(t, l)
	if _, err := l.db.ExecContext(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		t.Fatal(err)
	}
	old, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	forger := &Ledger{db: l.db, says: l.says, key: make([]byte, keyBytes), now: clock}
	if _, err := forger.Grant(t.Context(), "visits", Amount{1, 1e-6}); err == nil {
		t.Error("a grant without the key")
	}
	grant(t, l, "visits", 1, 1e-6)
	head, err := l.Verify(t.Context(), Head{})
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	for _, name := range []string{file + "-wal", file + "-shm"} {
		os.Remove(name)
	}
	if err := os.WriteFile(file, old, 0o600); err != nil {
		t.Fatal(err)
	}
	back := again(t, file, key)
	if _, err := back.Verify(t.Context(), Head{}); err != nil {
		t.Errorf("what cannot be found was found: %v", err)
	}
	if _, err := back.Verify(t.Context(), head); err == nil || !strings.Contains(err.Error(), "older copy") {
		t.Errorf("an older copy: %v", err)
	}
}

// Bytes of the file itself: each is found, or changes nothing that is read.
func TestBytesOfTheFile(t *testing.T) {
	l, file, key := opened(t)
	story(t, l)
	if _, err := l.db.ExecContext(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		t.Fatal(err)
	}
	head, err := l.Verify(t.Context(), Head{})
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	step := 997 // a prime, so that all kinds of places come up
	if os.Getenv("GAUZE_LONG") != "" {
		step = 7
	}
	found, tried := 0, 0
	for i := 0; i < len(whole); i += step {
		edited := append([]byte(nil), whole...)
		edited[i] ^= 1 << (i % 8)
		for _, name := range []string{file + "-wal", file + "-shm"} {
			os.Remove(name)
		}
		if err := os.WriteFile(file, edited, 0o600); err != nil {
			t.Fatal(err)
		}
		tried++
		if now, err := verified(file, key); err != nil {
			found++
		} else if now != head {
			t.Errorf("byte %d: another ledger, %v", i, now)
		}
	}
	t.Logf("%d bytes of %d, of which %d matter", tried, len(whole), found)
}

func verified(file, key string) (Head, error) {
	l, err := Open(context.Background(), file, key, clock)
	if err != nil {
		return Head{}, err
	}
	defer l.Close()
	return l.Verify(context.Background(), Head{})
}

// A long ledger is verified in seconds.
func TestManyEntries(t *testing.T) {
	fits := 1_000
	if os.Getenv("GAUZE_LONG") != "" {
		fits = 33_333
	}
	l, _, _ := opened(t)
	grant(t, l, "a", 1e6, .5)
	cost := gaussian(t, .01, 1e-9)
	cost.Delta = 1e-12
	err := l.Write(t.Context(), func(w *Tx) error { // one transaction, as each is a matter of the disk
		after, err := w.account("a")
		if err != nil {
			return err
		}
		for range fits {
			terms := termsOf(cost)
			var seq int64
			h := &held{terms: terms, cost: cost}
			for _, e := range []entry{{Kind: kindReserve, Terms: &terms, Cost: &cost}, {Kind: kindSettle, Cost: &cost}, {Kind: kindReleased}} {
				e.Dataset, e.Time, e.Of = "a", stamp(clock()), seq
				if *after, err = e.apply(*after, h); err != nil {
					return err
				}
				e.After = *after
				n, err := w.append(e)
				if err != nil {
					return err
				}
				if seq == 0 {
					seq = n
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	head, err := l.Verify(t.Context(), Head{})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d entries in %.1f s", head.Entries, time.Since(start).Seconds())
	if limit := 60 * time.Second; time.Since(start) > limit {
		t.Errorf("verifying took %v, want seconds", time.Since(start))
	}
}
