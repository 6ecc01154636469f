package ledger

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// What a child process is told, by its environment: the ledger, its key, and a file in which it
// notes what it has measured and released.
const (
	childLedger = "GAUZE_TEST_LEDGER"
	childKey    = "GAUZE_TEST_LEDGER_KEY"
	childNotes  = "GAUZE_TEST_LEDGER_NOTES"
)

// foreignDatabase names, to a child process, a database that it opens, reads and closes, as the
// sqlite3 of a backup does.
const foreignDatabase = "GAUZE_TEST_FOREIGN_DATABASE"

func TestMain(m *testing.M) {
	if place := os.Getenv(foreignDatabase); place != "" {
		if err := readForeign(place); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if os.Getenv(childLedger) != "" {
		fmt.Println(spendForEver(os.Getenv(childLedger), os.Getenv(childKey), os.Getenv(childNotes)))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// spendForEver fits one after the other, as the command does, until something fails. What it notes
// is on disk before it goes on: a measurement at the moment before its noise would be drawn, and a
// release at the moment after which somebody may have it.
func spendForEver(place, key, notes string) error {
	ctx := context.Background()
	l, err := Open(ctx, place, key, clock)
	if err != nil {
		return err
	}
	defer l.Close()
	out, err := os.OpenFile(notes, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	note := func(what string, mu2 float64) error {
		_, err := fmt.Fprintf(out, "%s %v\n", what, mu2)
		return errors.Join(err, out.Sync())
	}
	for i := 0; ; i++ {
		cost, err := privacy.Foreseen(privacy.Budget{Epsilon: .01, Delta: 1e-12})
		if err != nil {
			return err
		}
		r, err := l.Reserve(ctx, "a", termsOf(cost), cost, "")
		if err != nil {
			return err
		}
		exact := cost
		exact.Mu2 *= .9
		if i%5 == 4 { // nothing is measured
			if err := l.Return(ctx, r); err != nil {
				return err
			}
			continue
		}
		err = errors.Join(l.Settle(ctx, r, exact))
		if err == nil {
			err = note("measured", exact.Mu2)
		}
		if err == nil {
			err = l.Record(ctx, r, Released, "")
		}
		if err == nil {
			err = note("released", exact.Mu2)
		}
		if err != nil {
			return err
		}
	}
}

// noted is how many lines of a kind there are in the notes, and their mu^2 added up.
func noted(t *testing.T, notes, kind string) (n int, mu2 float64) {
	t.Helper()
	text, err := os.ReadFile(notes)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		what, number, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if what != kind || !strings.HasSuffix(line, "\n") {
			continue
		}
		x, err := strconv.ParseFloat(number, 64)
		if err != nil {
			t.Fatal(err)
		}
		n, mu2 = n+1, mu2+x
	}
	return n, mu2
}

// kills is how often something is killed.
func kills(few int) int {
	if os.Getenv("GAUZE_LONG") != "" {
		return 200
	}
	return few
}

// child starts a process that spends for ever.
func child(t *testing.T, place, key, notes string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(program)
	c.Env = append(os.Environ(), childLedger+"="+place, childKey+"="+key, childNotes+"="+notes)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

// holdsAll wants the ledger to have counted whatever was measured and released. A server that is
// just recovering is asked again.
func holdsAll(t *testing.T, l *Ledger, notes string) {
	t.Helper()
	var b Balance
	ask := func() error {
		all, err := l.Balances(t.Context(), "a")
		if err == nil {
			b = all[0]
			_, err = l.Verify(t.Context(), Head{})
		}
		return err
	}
	err := ask()
	for n := 0; err != nil && !errors.As(err, new(*BrokenError)) && n < 600; n++ {
		time.Sleep(50 * time.Millisecond)
		err = ask()
	}
	if err != nil {
		t.Fatal(err)
	}
	measured, mu2 := noted(t, notes, "measured")
	released, _ := noted(t, notes, "released")
	if b.Fits < measured || b.Releases < released || b.Spent.Mu*b.Spent.Mu < mu2*(1-1e-9) {
		t.Fatalf("the ledger counts %d fits, %d releases and mu^2 = %g; there were %d, %d and %g", b.Fits, b.Releases, b.Spent.Mu*b.Spent.Mu, measured, released, mu2)
	}
}

// A process that is killed at any moment has spent no more than the ledger says. On a machine so
// busy that none gets to measure, they get more time, and more of them are killed.
func TestKilledProcess(t *testing.T) {
	l, file, key := opened(t)
	grant(t, l, "a", 1e6, .5)
	notes := filepath.Join(t.TempDir(), "notes")
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	killed, measured, longer := 0, 0, 1
	var b Balance
	for most := 2 * kills(10); killed < kills(10) || killed < most && (measured == 0 || b.Open == 0); killed++ {
		c := child(t, file, key, notes)
		time.Sleep(time.Duration(longer*(5+rng.IntN(150))) * time.Millisecond)
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		c.Wait()
		holdsAll(t, l, notes)
		if measured, _ = noted(t, notes, "measured"); measured == 0 {
			longer = min(2*longer, 32)
		}
		b = balanceOf(t, l, "a")
	}
	t.Logf("%d kills; %d fits measured, %d counted, of which %d had not ended", killed, measured, b.Fits, b.Open)
	if measured == 0 || b.Open == 0 {
		t.Errorf("%d fits measured and %d were cut off: the kills came at the wrong times", measured, b.Open)
	}
}
