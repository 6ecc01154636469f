package ledger

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gauze-dp/gauze/kernel/privacy"
)

func clock() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC) }

// opened is a fresh SQLite ledger and its files.
func opened(t testing.TB) (l *Ledger, file, key string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "odd name?#%.db")
	key = file + ".key"
	if err := Init(t.Context(), file, key); err != nil {
		t.Fatal(err)
	}
	return again(t, file, key), file, key
}

func again(t testing.TB, file, key string) *Ledger {
	t.Helper()
	l, err := Open(t.Context(), file, key, clock)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func grant(t testing.TB, l *Ledger, name string, epsilon, delta float64) {
	t.Helper()
	if _, err := l.Grant(t.Context(), name, Amount{epsilon, delta}); err != nil {
		t.Fatal(err)
	}
}

func balanceOf(t testing.TB, l *Ledger, name string) Balance {
	t.Helper()
	all, err := l.Balances(t.Context(), name)
	if err != nil || len(all) != 1 {
		t.Fatalf("balances of %q: %v %v", name, all, err)
	}
	return all[0]
}

// storyEntries is how many entries story writes.
const storyEntries = 15

// story writes entries of every kind.
func story(t testing.TB, l *Ledger) {
	t.Helper()
	ctx := t.Context()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	grant(t, l, "visits", 3, 1e-5)
	grant(t, l, "other", 1, 1e-6)
	for i, how := range []Outcome{Released, NoRelease, Interrupted, ""} {
		cost := gaussian(t, .5, 1e-7)
		r, err := l.Reserve(ctx, "visits", termsOf(cost), cost, fmt.Sprint("source", i))
		check(err)
		if i != 1 {
			cost.Mu2 /= 2
			check(l.Settle(ctx, r, cost))
		}
		if how != "" {
			check(l.Record(ctx, r, how, fmt.Sprint("content", i)))
		}
	}
	mask := planned(t, 1, 1e-6, privacy.Needs{AddedDelta: 2e-7, Extra: privacy.GaussianCurve(.1)})
	r, err := l.Reserve(ctx, "other", termsOf(mask), mask, "")
	check(err)
	check(l.Return(ctx, r))
	check(l.Write(ctx, func(w *Tx) error {
		_, _, err := w.Withdraw("other", Amount{Epsilon: .25})
		return err
	}))
}

// What is written is read again, and verified, by another process too.
func TestStory(t *testing.T) {
	l, file, key := opened(t)
	story(t, l)
	b := balanceOf(t, l, "visits")
	if b.Releases != 1 || b.Fits != 4 || b.Open != 1 || b.Granted != (Amount{3, 1e-5}) || !(b.Spent.Epsilon > .4 && b.Spent.Epsilon < 2) {
		t.Errorf("visits: %+v", b)
	}
	if b := balanceOf(t, l, "other"); b.Fits != 0 || b.Spent != (Spending{}) || b.Left.Amount != b.Granted {
		t.Errorf("other: %+v", b)
	}
	other := again(t, file, key)
	head, err := other.Verify(t.Context(), Head{})
	if err != nil || head.Entries != storyEntries {
		t.Errorf("verify: %v %v", head, err)
	}
	grant(t, other, "visits", 1, 1e-6)
	for _, c := range []struct {
		noted Head
		ok    bool
	}{{head, true}, {Head{head.Entries, strings.Repeat("0", 64)}, false}, {Head{head.Entries + 9, head.Hash}, false}} {
		if _, err := l.Verify(t.Context(), c.noted); (err == nil) != c.ok {
			t.Errorf("noted %v: %v", c.noted, err)
		}
	}
	names, err := l.Known(t.Context(), "other", "source0", "")
	if err != nil || len(names) != 1 || names[0] != "visits" {
		t.Errorf("known: %v %v", names, err)
	}
	if names, err := l.Known(t.Context(), "visits", "source0", "content0"); err != nil || names != nil {
		t.Errorf("known to itself: %v %v", names, err)
	}
	if l.Fingerprint("a", "b") == l.Fingerprint("ab") || l.Fingerprint("a") != other.Fingerprint("a") {
		t.Error("fingerprints are not those of their parts")
	}
}

// What cannot be is refused, and leaves nothing behind.
func TestRefusals(t *testing.T) {
	l, file, key := opened(t)
	ctx := t.Context()
	cost := gaussian(t, 1, 1e-6)
	grant(t, l, "a", 1, 1e-6)
	r, err := l.Reserve(ctx, "a", termsOf(cost), cost, "")
	if err != nil {
		t.Fatal(err)
	}
	before, err := l.Verify(ctx, Head{})
	if err != nil {
		t.Fatal(err)
	}
	more := cost
	more.Mu2 *= 1.01
	more.Epsilon *= 1.01
	var refused *RefusedError
	for name, try := range map[string]func() error{
		"a second fit":           func() error { _, err := l.Reserve(ctx, "a", termsOf(cost), cost, ""); return err },
		"a data set not granted": func() error { _, err := l.Reserve(ctx, "b", termsOf(cost), cost, ""); return err },
		"more than foreseen":     func() error { return l.Settle(ctx, r, more) },
	} {
		if err := try(); !errors.As(err, &refused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, try := range map[string]func() error{
		"no name":            func() error { _, err := l.Grant(ctx, "", Amount{1, 1e-6}); return err },
		"an odd name":        func() error { _, err := l.Grant(ctx, "a\x1b[2J", Amount{1, 1e-6}); return err },
		"no epsilon":         func() error { _, err := l.Grant(ctx, "a", Amount{0, 1e-6}); return err },
		"no delta":           func() error { _, err := l.Grant(ctx, "a", Amount{1, 0}); return err },
		"delta of one":       func() error { _, err := l.Grant(ctx, "a", Amount{1, .9999999}); return err },
		"no cost":            func() error { _, err := l.Reserve(ctx, "a", termsOf(cost), Cost{}, ""); return err },
		"no reservation":     func() error { return l.Return(ctx, 1) },
		"none at all":        func() error { return l.Return(ctx, 99) },
		"an unknown outcome": func() error { return l.Record(ctx, r, "lost", "") },
		"show of none":       func() error { _, err := l.Balances(ctx, "b"); return err },
		"init again":         func() error { return Init(ctx, file, key) },
		"open of none":       func() error { _, err := Open(ctx, file+"x", key, clock); return err },
		"open without key":   func() error { _, err := Open(ctx, file, key+"x", clock); return err },
		"no ledger":          func() error { _, err := Open(ctx, "", key, clock); return err },
	} {
		if err := try(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if after, err := l.Verify(ctx, Head{}); err != nil || after != before {
		t.Errorf("refusals left something behind: %v %v", after, err)
	}
	if err := l.Record(ctx, r, Released, ""); err != nil {
		t.Fatal(err)
	}
	if err := l.Return(ctx, r); err == nil {
		t.Error("what was released was given back")
	}
	if err := os.Chmod(key, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(ctx, file, key, clock); err == nil || !strings.Contains(err.Error(), "others may read") {
		t.Errorf("a key that others may read: %v", err)
	}
}

// Eight at the same time, each by a connection of its own, where three fit: three.
func TestAtTheSameTime(t *testing.T) {
	l, file, key := opened(t)
	exactlyThree(t, l, func() *Ledger { return again(t, file, key) })
}

func exactlyThree(t *testing.T, l *Ledger, other func() *Ledger) {
	t.Helper()
	cost := gaussian(t, 1, 1e-6)
	mu := privacy.SqrtUp(3.4 * cost.Mu2)
	grant(t, l, "a", privacy.EpsilonOfMu(.6*1e-5, mu), 1e-5)
	var wait sync.WaitGroup
	ends := make([]error, 8)
	for i := range ends {
		own := other()
		wait.Add(1)
		go func() {
			defer wait.Done()
			var r Reservation
			if r, ends[i] = own.Reserve(context.Background(), "a", termsOf(cost), cost, ""); ends[i] == nil {
				ends[i] = errors.Join(own.Settle(context.Background(), r, cost), own.Record(context.Background(), r, Released, ""))
			}
		}()
	}
	wait.Wait()
	fits := 0
	for _, err := range ends {
		var refused *RefusedError
		if err == nil {
			fits++
		} else if !errors.As(err, &refused) {
			t.Error(err)
		}
	}
	if b := balanceOf(t, l, "a"); fits != 3 || b.Releases != 3 || b.Fits != 3 {
		t.Errorf("%d fits, %+v; want 3", fits, b)
	}
	if _, err := l.Verify(t.Context(), Head{}); err != nil {
		t.Error(err)
	}
}

// TestInitThatFails: what is left of a ledger that could not be made is named, since no other is
// made in its place.
func TestInitThatFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "l.db")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Init(ctx, file, file+".key"); err == nil || !strings.Contains(err.Error(), "remove "+file) {
		t.Errorf("got %v", err)
	}
	if err := os.Remove(file); err != nil {
		t.Error(err)
	}
	if err := Init(t.Context(), file, file+".key"); err != nil {
		t.Error(err)
	}
}
