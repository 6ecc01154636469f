package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/cmd/gauze-audit/attack"
	"github.com/gauze-dp/gauze/cmd/gauze/shell"
	"github.com/gauze-dp/gauze/release"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"gauze": main, "gauze-audit": func() {
		os.Exit(attack.Program().Run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata",
		UpdateScripts: false,
		Setup: func(env *testscript.Env) error {
			cells, err := filepath.Abs("../../source/parquet/testdata/v2-zstd-dictionary.parquet")
			env.Setenv("PARQUET", cells)
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":   exits,
			"json":    jsonField,
			"between": between,
			"visits":  visits,
		},
	})
}

// exits runs a program and wants an exit code: exits CODE program [args...].
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE program [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var status *exec.ExitError
		if !errors.As(err, &status) {
			ts.Fatalf("running %v: %v", args[1:], err)
		}
		got = status.ExitCode()
	}
	if got != want {
		ts.Fatalf("%v exited with %d, want %d", args[1:], got, want)
	}
}

// visits writes a table of so many rows, two of each person, two thirds of whom are f and the
// others m: visits FILE ROWS.
func visits(ts *testscript.TestScript, neg bool, args []string) {
	rows, err := strconv.Atoi(args[1])
	ts.Check(err)
	rng := rand.New(rand.NewPCG(1, 1))
	var b strings.Builder
	b.WriteString("patient_id,sex,x,y\n")
	for i := range rows {
		fmt.Fprintf(&b, "p%d,%s,%.3f,%.3f\n", i/2, []string{"f", "f", "m"}[i/2%3], 3+rng.NormFloat64(), 5+3*rng.NormFloat64())
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(b.String()), 0o600))
}

// jsonField wants a value at a path of a JSON file (or stdout, stderr): json FILE a.b.0.c VALUE.
// VALUE is JSON; strings may go unquoted.
func jsonField(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: [!] json FILE PATH VALUE")
	}
	got := lookUp(ts, args[0], args[1])
	if same := got == args[2] || got == strconv.Quote(args[2]); same == neg {
		ts.Fatalf("%s of %s is %s, want %s (negated: %v)", args[1], args[0], got, args[2], neg)
	}
}

// between wants a number at a path of a JSON file in [LOW, HIGH]: between FILE PATH LOW HIGH.
func between(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: between FILE PATH LOW HIGH")
	}
	var numbers [3]float64
	for i, text := range []string{lookUp(ts, args[0], args[1]), args[2], args[3]} {
		v, err := strconv.ParseFloat(text, 64)
		ts.Check(err)
		numbers[i] = v
	}
	if !(numbers[1] <= numbers[0] && numbers[0] <= numbers[2]) {
		ts.Fatalf("%s of %s is %v, want it in [%s, %s]", args[1], args[0], numbers[0], args[2], args[3])
	}
}

// lookUp returns the JSON at a path: names and indices parted by points.
func lookUp(ts *testscript.TestScript, file, path string) string {
	var at any
	if err := json.Unmarshal([]byte(ts.ReadFile(file)), &at); err != nil {
		ts.Fatalf("%s is not one JSON value: %v", file, err)
	}
	for _, part := range strings.Split(path, ".") {
		switch v := at.(type) {
		case map[string]any:
			field, ok := v[part]
			if !ok {
				ts.Fatalf("%s: there is no %s on the way to %s", file, part, path)
			}
			at = field
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i >= len(v) {
				ts.Fatalf("%s: no index %s on the way to %s", file, part, path)
			}
			at = v[i]
		default:
			ts.Fatalf("%s: %s leads into a plain value", file, path)
		}
	}
	out, err := json.Marshal(at)
	ts.Check(err)
	return string(out)
}

// An input that never ends does not keep the program from ending.
func TestInterruptedWhileReading(t *testing.T) {
	for _, asJSON := range []bool{false, true} {
		ctx, cancel := context.WithCancel(context.Background())
		stdin, feed := io.Pipe()
		done := make(chan struct{})
		go func() {
			defer close(done)
			io.WriteString(feed, "age,bmi\n40,25\n")
			cancel()
		}()
		var stdout, stderr bytes.Buffer
		args := []string{"fit", "-", "--epsilon", "1", "--delta", "1e-6", "--columns", "age,bmi", "--progress", "none"}
		want := "error: interrupted\nhint: nothing was spent\n"
		if asJSON {
			args = append(args, "--json")
			want = `{"outcome":"error","code":1,"message":"interrupted","hint":"nothing was spent","spent":{"epsilon":0,"delta":0,"mu":0,"rho":0},"public":true,"faults":[{"message":"interrupted","hint":"nothing was spent"}]}` + "\n"
		}
		if code := program().Run(ctx, args, stdin, &stdout, &stderr); code != shell.CodeOther {
			t.Errorf("exit code %d, want %d", code, shell.CodeOther)
		}
		if stdout.Len() > 0 || stderr.String() != want {
			t.Errorf("stdout %q, stderr %q, want %q", stdout.String(), stderr.String(), want)
		}
		stdin.Close()
		<-done
	}
}

// Interrupted after its first measurement, a fit tells what it spent.
func TestInterruptedWhileFitting(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var rows strings.Builder
	rows.WriteString("age\n")
	for i := range 5000 {
		fmt.Fprintln(&rows, i)
	}
	stderr := &trigger{word: "measurement", fire: cancel}
	args := []string{"fit", "-", "--epsilon", "1", "--delta", "1e-6", "--columns", "age", "--components", "1", "--progress", "plain"}
	code := program().Run(ctx, args, strings.NewReader(rows.String()), io.Discard, stderr)
	text := stderr.String()
	if code != shell.CodeOther || !strings.Contains(text, "error: interrupted\nhint: what was measured by then stays spent\nspent: epsilon = ") {
		t.Errorf("exit code %d, stderr:\n%s", code, text)
	}
}

// A trigger is a buffer that fires when a word is written to it.
type trigger struct {
	bytes.Buffer
	word string
	fire func()
}

func (t *trigger) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(t.word)) {
		t.fire()
	}
	return t.Buffer.Write(p)
}

// A write that fails after the budget is spent is no success.
func TestReleaseThatCannotBeWritten(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("age\n")
	for i := range 5000 {
		fmt.Fprintln(&rows, i)
	}
	var stderr bytes.Buffer
	args := []string{"fit", "-", "--epsilon", "20", "--delta", "1e-6", "--columns", "age", "--components", "1", "--json"}
	code := program().Run(context.Background(), args, strings.NewReader(rows.String()), full{}, &stderr)
	var o struct {
		Outcome string
		Code    int
		Spent   release.Spent
	}
	if err := json.Unmarshal(stderr.Bytes(), &o); err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	if code != shell.CodeOther || o.Outcome != "error" || o.Code != shell.CodeOther || !(o.Spent.Epsilon > 0) {
		t.Errorf("exit code %d, %+v", code, o)
	}
}

// full is a disk without space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestEveryCommandHasHelp(t *testing.T) {
	for _, c := range program().Commands {
		if text, _ := helpFiles.ReadFile("help/" + c.Name() + ".txt"); !strings.Contains(string(text), "gauze "+c.Name()) {
			t.Errorf("help/%s.txt says nothing of it", c.Name())
		}
	}
}

func TestNearest(t *testing.T) {
	words := []string{"epsilon", "delta", "relation", "columns", "components"}
	for typed, want := range map[string]string{
		"epsilom": "epsilon", "epslion": "epsilon", "eps": "epsilon", "dleta": "delta", "column": "columns",
		"ledger": "", "x": "", "": "",
	} {
		if got := shell.Nearest(typed, words); got != want {
			t.Errorf("nearest(%q) = %q, want %q", typed, got, want)
		}
	}
}

// A fault that Go itself ends the program for does not end in the exit code that says that nothing
// was spent.
func TestUnrecoverableFaults(t *testing.T) {
	const child = "GAUZE_TEST_OVERFLOW"
	if os.Getenv(child) != "" {
		shell.Begin()
		debug.SetMaxStack(1 << 16)
		var forever func(n int) int
		forever = func(n int) int { return forever(n+1) + n }
		forever(0)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestUnrecoverableFaults$")
	cmd.Env = append(os.Environ(), child+"=1")
	out, err := cmd.CombinedOutput()
	var status *exec.ExitError
	if !errors.As(err, &status) || status.ExitCode() == shell.CodeBad || !bytes.Contains(out, []byte("stack overflow")) {
		t.Errorf("ended with %v: %s", err, out[:min(len(out), 300)])
	}
}
