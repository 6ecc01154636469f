package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/gauze-dp/gauze/cmd/gauze/shell"
	"github.com/gauze-dp/gauze/kernel/sharded"
	"github.com/gauze-dp/gauze/ledger"
	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/source"
	"github.com/gauze-dp/gauze/source/parsed"
	"github.com/gauze-dp/gauze/source/shards"
)

// asProgram is a variable that has this binary be gauze-beam.
const asProgram = "GAUZE_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main() // does not return
	}
	if code, ok := asOther(os.Args[1:]); ok {
		os.Exit(code)
	}
	flag.Parse()
	ready()
	os.Exit(m.Run())
}

// TestQuiet: what a fit with Prism says on the terminal is our own, line by line. Without progress,
// which a fit tells from its tenth second on: on a busy machine.
func TestQuiet(t *testing.T) {
	fit := exec.Command(os.Args[0], "fit", files(t, 2, 10_000), "--columns", "x,y", "--components", "1", "--epsilon", "1", "--delta", "1e-6", "--shards", t.TempDir(), "--trust-network",
		"--progress", "none")
	fit.Env = append(os.Environ(), asProgram+"=1")
	var said bytes.Buffer
	fit.Stderr = &said
	if err := fit.Run(); err != nil {
		t.Fatalf("%v: %s", err, said.Bytes())
	}
	want := []string{"20,000 rows read, ", `  column "y": `, "note: no ledger: ", "flag: ", "released: 1 component ", "spent: epsilon = "}
	own := 0
	for line := range strings.Lines(said.String()) {
		if !slices.ContainsFunc(want, func(begin string) bool { return strings.HasPrefix(line, begin) }) {
			t.Errorf("not our own: %s", line)
		}
		own++
	}
	if own < len(want)-1 { // a flag is not always raised
		t.Errorf("said: %s", said.Bytes())
	}
}

// files writes CSV files with rows of two columns, some cells of which are none, two of a person
// and half of a group.
func files(t *testing.T, files, rows int) (pattern string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 20))
	folder := t.TempDir()
	for i := range files {
		var text bytes.Buffer
		text.WriteString("x,y,who,side\n")
		for j := range rows {
			x := rng.NormFloat64()
			y := fmt.Sprint(x + rng.NormFloat64())
			if j%1000 == 7 {
				y = "?"
			}
			fmt.Fprintf(&text, "%v,%s,%d,%c\n", 100+x, y, (i*rows+j)/2, "lr"[j/2%2])
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprint(i, ".csv")), text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(folder, "*.csv")
}

type schedule func(ctx context.Context, items []string) error

func (s schedule) Run(ctx context.Context, items []string) error { return s(ctx, items) }

// run fits, and leaves nothing behind in the folder of shards.
func run(t *testing.T, ctx context.Context, by func(store) sharded.Scheduler, input string, flags ...string) (code int, stdout, stderr string) {
	t.Helper()
	folder, temporary := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temporary)
	args := append([]string{"fit", input, "--shards", folder, "--trust-network", "--epsilon", "1", "--delta", "1e-6"}, flags...)
	if !slices.Contains(flags, "--schema") && !slices.Contains(flags, "--columns") {
		args = append(args, "--columns", "x,y")
	}
	var out, err bytes.Buffer
	code = program(&workers{schedule: by}).Run(ctx, args, strings.NewReader(""), &out, &err)
	for _, f := range []string{folder, temporary} {
		if left, err := os.ReadDir(f); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
	return code, out.String(), err.String()
}

func read(t *testing.T, text string) *release.Release {
	t.Helper()
	var r release.Release
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if faults := release.Verify(&r); faults != nil {
		t.Error(faults)
	}
	return &r
}

// The runner of the flags, or Prism in this process, hands out the work of a fit.
func TestRunner(t *testing.T) {
	var parsing, summing int
	code, stdout, stderr := run(t, t.Context(), func(s store) sharded.Scheduler {
		return schedule(func(ctx context.Context, items []string) error {
			if summing++; parsed.Is(items[0]) {
				parsing, summing = len(items), 0
			}
			return beamed{s.Folder()}.Run(ctx, items)
		})
	}, files(t, 3, 10_000), "--components", "1")
	if code != shell.CodeOK || parsing != 3 || summing == 0 || !strings.Contains(stderr, "30,000 rows read, 30 bad") {
		t.Fatalf("code %d, %d files, workers were asked %d times: %s", code, parsing, summing, stderr)
	}
	// the noise is a thousandth of these
	if mean := read(t, stdout).Model.Components[0].Mean; len(mean) != 2 || mean[0] < 99 || mean[0] > 101 || mean[1] < -1 || mean[1] > 1 {
		t.Errorf("the mean is %v", mean)
	}
}

// Pipelines whose work fails, panics, comes twice or gets lost end in the sums of one that runs, or
// in an error that says what was spent.
func TestFaults(t *testing.T) {
	input, runs := files(t, 1, 20_000), 0
	code, _, stderr := run(t, t.Context(), func(s store) sharded.Scheduler {
		return schedule(func(ctx context.Context, items []string) error {
			runs++
			own := beamed{s.Folder()}
			switch runs % 3 {
			case 1:
				return own.Run(ctx, append(items, "no work")) // Prism gives up
			case 2:
				return own.Run(ctx, append(items, items...))
			}
			return own.Run(ctx, items)
		})
	}, input, "--components", "1")
	if code != shell.CodeOK {
		t.Errorf("code %d: %s", code, stderr)
	}
	code, stdout, stderr := run(t, t.Context(), func(s store) sharded.Scheduler { return beamed{s.Folder() + ".not"} }, input, "--components", "1")
	if code != shell.CodeOther || stdout != "" || !strings.Contains(stderr, "spent: epsilon = 0.") {
		t.Errorf("code %d, %q: %s", code, stdout, stderr)
	}
}

// A ledger is charged before a row is read, and refuses what it has no budget for; an interrupt
// ends a fit whose workers never answer, and what it spent is told and stays spent.
func TestLedger(t *testing.T) {
	input, file := files(t, 1, 20_000), filepath.Join(t.TempDir(), "budgets.db")
	if err := ledger.Init(t.Context(), file, file+".key"); err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Open(t.Context(), file, file+".key", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := l.Grant(t.Context(), "visits", ledger.Amount{Epsilon: 1.3, Delta: 1e-5}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	hang := func(store) sharded.Scheduler {
		return schedule(func(context.Context, []string) error { cancel(); select {} })
	}
	flags := []string{"--components", "1", "--ledger", file, "--dataset", "visits"}
	if code, _, stderr := run(t, ctx, hang, "gone.csv", flags...); code != shell.CodeBad {
		t.Errorf("no input: code %d: %s", code, stderr)
	}
	code, _, stderr := run(t, ctx, hang, input, flags...)
	if code != shell.CodeOther || !strings.Contains(stderr, "error: interrupted") || !strings.Contains(stderr, "spent: epsilon = ") {
		t.Errorf("interrupted: code %d: %s", code, stderr)
	}
	asked := func(store) sharded.Scheduler { t.Error("workers were asked"); return nil }
	if code, _, stderr := run(t, t.Context(), asked, input, flags...); code != shell.CodeRefused {
		t.Errorf("nothing left: code %d: %s", code, stderr)
	}
	b, err := l.Balances(t.Context(), "visits")
	if err != nil || len(b) != 1 || b[0].Releases != 0 || b[0].Open != 0 || !(b[0].Spent.Epsilon > .8) {
		t.Errorf("%v: %+v", err, b)
	}
}

// Persons and groups are read by workers, and what is said and written is as of gauze fit.
func TestPersonsAndGroups(t *testing.T) {
	input, folder, runs := files(t, 2, 20_000), t.TempDir(), 0
	schema, page := filepath.Join(folder, "schema.json"), filepath.Join(folder, "report.html")
	if err := os.WriteFile(schema, []byte(`{"title": "Visits", "columns": [{"name": "x"}, {"name": "y"}], "unit": "who", "by": [{"name": "side", "categories": ["l", "r"]}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	counting := func(s store) sharded.Scheduler {
		return schedule(func(ctx context.Context, items []string) error { runs++; return alone{s}.Run(ctx, items) })
	}
	for _, by := range []bool{false, true} {
		runs = 0
		flags := []string{"--schema", schema, "--components", "1", "--progress", "plain", "--report", page, "--force"}
		if !by { // the schema's are used otherwise
			flags = append(flags, "--by", "none")
		}
		code, stdout, stderr := run(t, t.Context(), counting, input, flags...)
		if code != shell.CodeOK || runs == 0 {
			t.Fatalf("code %d, workers were asked %d times: %s", code, runs, stderr)
		}
		r := read(t, stdout)
		if r.Certificate.Rows == nil || *r.Certificate.Rows != 20_000 || r.Identity.Title != "Visits" || (len(r.Groups) == 2) != by {
			t.Errorf("by %v: %+v, %d groups", by, r.Certificate, len(r.Groups))
		}
		for _, said := range []string{"of the budget spent", "released: ", "spent: epsilon = ", "note: no ledger: "} {
			if !strings.Contains(stderr, said) {
				t.Errorf("by %v: not said: %q\n%s", by, said, stderr)
			}
		}
		if text, err := os.ReadFile(page); err != nil || !bytes.Contains(text, []byte("Visits")) {
			t.Errorf("by %v: the report: %v", by, err)
		}
	}
}

// What elements name is a store and work in it, or an error.
func TestElements(t *testing.T) {
	s, err := shards.NewStore(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	own := build() + between + s.Folder()
	for _, odd := range []string{"", "1.1.0", own, own + between, own + between + "1.1.0", own + "x" + between + "1.1.0", "x" + own + between + "1.1.0"} {
		if err := work(odd); err == nil || strings.Contains(err.Error(), s.Folder()) {
			t.Errorf("%q: %v", odd, err)
		}
	}
}

// What cannot be fitted is refused before workers are asked.
func TestRefused(t *testing.T) {
	input := files(t, 1, 10)
	asked := func(s store) sharded.Scheduler {
		return schedule(func(context.Context, []string) error { t.Error("workers were asked"); return nil })
	}
	for _, flags := range [][]string{
		{"--epsilon", "0"}, {"--relation", "none"}, {"--components", "many"}, {"--schema", "gone.json"}, {"--unit", "z"}, {"--method", "magic"},
		{"--shards", filepath.Join(t.TempDir(), "gone")}, {"--server", "http://localhost"}, {"--worker"}, {"--by", "side"}, {"--infer-schema"},
	} {
		if code, _, stderr := run(t, t.Context(), asked, input, flags...); code != shell.CodeBad {
			t.Errorf("%v: code %d: %s", flags, code, stderr)
		}
	}
}

// Beam is told its own flags alone, each of which has a name of its own.
func TestFlags(t *testing.T) {
	own := pflag.NewFlagSet("fit", pflag.ContinueOnError)
	program(&workers{}).Commands[0].Flags(own)
	flag.VisitAll(func(f *flag.Flag) {
		g := own.Lookup(f.Name)
		if ours := g != nil && g.Usage != f.Usage; ours || (g == nil) != theirs[f.Name] {
			t.Errorf("--%s of Beam: %+v", f.Name, g)
		}
	})
	if err := own.Parse([]string{"--columns", "secret", "--parallelism", "3", "--beam_strict"}); err != nil {
		t.Fatal(err)
	}
	defer func() { flag.Set("parallelism", "-1"); flag.Set("beam_strict", "false") }()
	told := ""
	flag.Visit(func(f *flag.Flag) {
		if !strings.HasPrefix(f.Name, "test.") {
			told += f.Name + "=" + f.Value.String() + " "
		}
	})
	if told != "beam_strict=true parallelism=3 " {
		t.Errorf("Beam was told %s", told)
	}
}

// Prism is not started where others can reach it.
func TestNetwork(t *testing.T) {
	lo := net.Interface{Name: "lo", Flags: net.FlagUp | net.FlagLoopback}
	if err := enclosed([]net.Interface{lo, {Name: "off"}}); err != nil {
		t.Error(err)
	}
	if err := enclosed([]net.Interface{lo, {Name: "eth0", Flags: net.FlagUp}}); !errors.As(err, new(*source.Error)) {
		t.Error(err)
	}
}
