package main

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/gauze-dp/gauze/cmd/gauze/shell"
	"github.com/gauze-dp/gauze/kernel/sharded"
	"github.com/gauze-dp/gauze/ledger"
)

// budgets is a ledger with a data set, visits.
func budgets(t *testing.T) (file string, l *ledger.Ledger) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "budgets.db")
	if err := ledger.Init(t.Context(), file, file+".key"); err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Open(t.Context(), file, file+".key", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	if _, err := l.Grant(t.Context(), "visits", ledger.Amount{Epsilon: 2, Delta: 1e-5}); err != nil {
		t.Fatal(err)
	}
	return file, l
}

// once fails if not one release was charged, at most 1.
func once(t *testing.T, l *ledger.Ledger) {
	t.Helper()
	if b, err := l.Balances(t.Context(), "visits"); err != nil || len(b) != 1 || b[0].Releases != 1 || b[0].Open != 0 || b[0].Spent.Epsilon > 1 {
		t.Errorf("%v: %+v", err, b)
	}
}

// A ledger, which wants to know of an input before it is read, counts a fit of objects too.
func TestObjectsCounted(t *testing.T) {
	everywhere(t, func(t *testing.T, in string) {
		input := upload(t, files(t, 2, 10_000), in+"counted/", false)
		file, l := budgets(t)
		here := func(s store) sharded.Scheduler { return alone{s} }
		flags := []string{"--components", "1", "--shards", in + "shards", "--ledger", file, "--dataset", "visits"}
		if code, _, stderr := run(t, t.Context(), here, input, flags...); code != shell.CodeOK {
			t.Errorf("code %d: %s", code, stderr)
		}
		for _, odd := range []string{in + "gone*.csv", in + "gone.csv"} {
			if code, _, stderr := run(t, t.Context(), here, odd, flags...); code != shell.CodeBad {
				t.Errorf("%s: code %d: %s", odd, code, stderr)
			}
		}
		once(t, l)
	})
}
