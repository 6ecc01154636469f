package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gauze-dp/gauze/cmd/gauze/shell"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/release"
)

// gauzeIn is the program, this test's own binary under its name, in a folder.
func gauzeIn(t *testing.T, folder string, args ...string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &exec.Cmd{Path: program, Args: append([]string{"gauze"}, args...), Dir: folder}
}

// counted is a folder with a table and a ledger that grants epsilon and delta.
func counted(t *testing.T, epsilon, delta string) string {
	t.Helper()
	folder, rng := t.TempDir(), rand.New(rand.NewPCG(1, 2))
	var table strings.Builder
	table.WriteString("x,y\n")
	for range 4000 {
		fmt.Fprintf(&table, "%.3f,%.3f\n", rng.NormFloat64(), 5+3*rng.NormFloat64())
	}
	if err := os.WriteFile(filepath.Join(folder, "t.csv"), []byte(table.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"ledger", "init", "--ledger", "b.db"}, {"ledger", "grant", "--ledger", "b.db", "--dataset", "t", "--epsilon", epsilon, "--delta", delta}} {
		if text, err := gauzeIn(t, folder, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, text)
		}
	}
	return folder
}

func fitOf(out string) []string {
	return []string{"fit", "t.csv", "--ledger", "b.db", "--dataset", "t", "--columns", "x,y", "--components", "1", "--epsilon", "1", "--delta", "1e-6", "--out", out}
}

// shown is what the ledger says of the table, once it is verified.
func shown(t *testing.T, folder string) (fits, releases int, mu float64) {
	t.Helper()
	if text, err := gauzeIn(t, folder, "ledger", "verify", "--ledger", "b.db").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	text, err := gauzeIn(t, folder, "ledger", "show", "--ledger", "b.db", "--json").Output()
	var all struct {
		Datasets []struct {
			Fits, Releases int
			Spent          release.Spent
		}
	}
	if err = errors.Join(err, json.Unmarshal(text, &all)); err != nil || len(all.Datasets) != 1 {
		t.Fatalf("%v\n%s", err, text)
	}
	d := all.Datasets[0]
	return d.Fits, d.Releases, d.Spent.Mu
}

// Eight fits at the same time, with room for three: three releases, and five refusals.
func TestEightFits(t *testing.T) {
	folder := counted(t, "1.75", "1e-5") // 3.4 times the mu^2 of (1, 1e-6), by the ledger's account
	codes := make([]int, 8)
	var wait sync.WaitGroup
	for i := range codes {
		wait.Add(1)
		go func() {
			defer wait.Done()
			c := gauzeIn(t, folder, fitOf(fmt.Sprint(i, ".json"))...)
			c.Run()
			codes[i] = c.ProcessState.ExitCode()
		}()
	}
	wait.Wait()
	count := map[int]int{}
	for _, code := range codes {
		count[code]++
	}
	written, _ := filepath.Glob(filepath.Join(folder, "[0-9].json"))
	if fits, releases, _ := shown(t, folder); count[0] != 3 || count[4] != 5 || len(written) != 3 || fits != 3 || releases != 3 {
		t.Errorf("exit codes %v, %d files, %d fits and %d releases counted; want three", codes, len(written), fits, releases)
	}
}

// Fits that are killed at any moment: whatever was written is counted.
func TestKilledFits(t *testing.T) {
	folder := counted(t, "20", "1e-3")
	kills := 8
	if os.Getenv("GAUZE_LONG") != "" {
		kills = 200
	}
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	longest := time.Second
	for i := range kills {
		c := gauzeIn(t, folder, fitOf(fmt.Sprint("r", i, ".json"))...)
		start := time.Now()
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if i == 0 { // one that lives, to learn how long a fit takes
			if err := c.Wait(); err != nil {
				t.Fatal(err)
			}
			longest = time.Since(start)
			continue
		}
		time.Sleep(time.Duration(rng.Int64N(int64(longest) * 6 / 5)))
		c.Process.Kill()
		c.Wait()
	}
	written, _ := filepath.Glob(filepath.Join(folder, "r*.json"))
	mu2 := 0.0
	for _, file := range written {
		r, err := release.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		mu2 += r.Certificate.Spent.Mu * r.Certificate.Spent.Mu
	}
	fits, releases, mu := shown(t, folder)
	if fits < len(written) || releases < len(written) || mu*mu < mu2*(1-1e-9) {
		t.Errorf("%d releases with mu^2 = %g are written; the ledger counts %d of %d fits, with %g", len(written), mu2, releases, fits, mu*mu)
	}
	t.Logf("%d kills: %d releases written, %d counted, %d fits", kills-1, len(written), releases, fits)
}

// The terminal and the ledger say the same of an interrupted fit: all that was reserved stays
// spent.
func TestInterruptedFitIsCountedWhole(t *testing.T) {
	folder := counted(t, "3", "1e-5")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	t.Chdir(folder)
	stderr := &trigger{word: "measurement", fire: cancel}
	args := append(fitOf("r.json"), "--progress", "plain")
	code := program().Run(ctx, args, nil, io.Discard, stderr)
	text := stderr.String()
	if code != shell.CodeOther || !strings.Contains(text, "hint: all that was reserved in the ledger stays spent\nspent: epsilon = 1 at delta = 1e-06 (mu = 0.2367") {
		t.Errorf("exit code %d, stderr:\n%s", code, text)
	}
	var spent, granted, delta float64
	_, told, _ := strings.Cut(text, "note: of data set t ")
	if _, err := fmt.Sscanf(told, "epsilon = %g of %g is spent now, at delta = %g", &spent, &granted, &delta); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	whole := privacy.MuOf(1, 1e-6)
	if fits, releases, mu := shown(t, folder); fits != 1 || releases != 0 || mu < .99*whole || granted != 3 || delta != 1e-5 || math.Abs(spent-privacy.EpsilonOfMu(delta, mu)) > 1e-5 {
		t.Errorf("%d fits, %d releases, mu %v of %v reserved; the terminal says epsilon %v of %v at %v", fits, releases, mu, whole, spent, granted, delta)
	}
	if text, err := gauzeIn(t, folder, fitOf("s.json")...).CombinedOutput(); err != nil || strings.Contains(string(text), "stays spent") {
		t.Errorf("of a fit with a release: %v\n%s", err, text)
	}
}

// What a grant adds up to can be seen before it is taken; what is unspent can be withdrawn.
func TestGrantedAndWithdrawn(t *testing.T) {
	folder := counted(t, "3", "1e-5")
	ledger := func(code int, args ...string) string {
		t.Helper()
		c := gauzeIn(t, folder, append([]string{"ledger"}, append(args, "--ledger", "b.db")...)...)
		text, _ := c.CombinedOutput()
		if got := c.ProcessState.ExitCode(); got != code {
			t.Errorf("%q: exit code %d, want %d: %s", args, got, code, text)
		}
		return string(text)
	}
	for _, c := range []struct {
		code int
		args string
		says string
	}{
		{0, "grant --dataset t --epsilon 3 --delta 1e-5 --dry-run", "(6, 2e-05)"},
		{0, "show", "(3, 1e-05)  nothing"},
		{2, "grant --dataset t --epsilon 17.5 --delta 1e-5", "a total of at most 20, got 20.5 in all"},
		{2, "grant --dataset t --epsilon 1 --delta 0.02", "a total below 1/100"},
		{2, "grant --dataset t --epsilon 1 --delta 1e-5 --rows 50000", "a total below 1/50000"},
		{0, "grant --dataset t --epsilon 18 --delta 1e-5 --force", "(21, 2e-05)"},
		{2, "withdraw --dataset t --epsilon 22", "what is unspent"},
		{2, "withdraw --dataset u", "a data set of the ledger"},
		{2, "withdraw", "--dataset"},
		{0, "withdraw --dataset t --epsilon 18 --delta 1e-5", "(3, 1e-05)  nothing"},
	} {
		if text := ledger(c.code, strings.Fields(c.args)...); !strings.Contains(text, c.says) {
			t.Errorf("%s: want %q:\n%s", c.args, c.says, text)
		}
	}
	if text, err := gauzeIn(t, folder, fitOf("r.json")...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	text := ledger(0, "withdraw", "--dataset", "t")
	if !strings.Contains(text, "Epsilons do not add up") || !strings.Contains(text, "(0.87") {
		t.Errorf("withdrawn: %s", text)
	}
	refused := gauzeIn(t, folder, fitOf("s.json")...)
	if text, _ := refused.CombinedOutput(); refused.ProcessState.ExitCode() != shell.CodeRefused || !strings.Contains(string(text), "all fits together need epsilon = ") || strings.Contains(string(text), "mu") {
		t.Errorf("a fit of what was withdrawn: %s", text)
	}
	ledger(0, "verify")
}
