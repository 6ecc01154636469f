package archtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// steers are the functions without which no session can have noise that is not the operating
// system's: the one that gives a table a hook, and the one that makes a seeded source. The compiler
// is told to inline neither, so that a program in which something can call one has it by name.
var steers = []string{module + "/kernel/internal/core.Hooked", module + "/kernel/internal/noise.NewSeeded"}

// TestProgramsCannotSteerNoise: the linker keeps what main can reach, and of these functions
// nothing is left in gauze: no fit and no server of it can overhear, replay or seed noise. The
// audit, which has to, is a program of its own, and has them: so the test can fail.
func TestProgramsCannotSteerNoise(t *testing.T) {
	for program, want := range map[string]bool{"gauze": false, "gauze-audit": true} {
		symbols := linked(t, program)
		for _, name := range steers {
			if got := slices.Contains(symbols, name); got != want {
				t.Errorf("%s is linked into %s: %v, want %v", name, program, got, want)
			}
		}
		if !slices.Contains(symbols, module+"/kernel/internal/core.(*Session).measure") {
			t.Errorf("%s measures nothing: this test looks in the wrong place", program)
		}
		ofTests := func(symbol string) bool { return strings.HasPrefix(symbol, module+"/kernel/kerneltest.") }
		if i := slices.IndexFunc(symbols, ofTests); i >= 0 && !want {
			t.Errorf("%s is linked into %s", symbols[i], program)
		}
	}
}

// linked returns the names of all functions in a program.
func linked(t *testing.T, program string) (names []string) {
	t.Helper()
	built := filepath.Join(t.TempDir(), program)
	if out, err := in("go", "build", "-o", built, "./cmd/"+program).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	out, err := in("go", "tool", "nm", built).Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) >= 3 && (f[1] == "T" || f[1] == "t") {
			names = append(names, f[2])
		}
	}
	return names
}

// in is a command in the root.
func in(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = root
	return cmd
}

// TestOnlyAuditObserves: gauze does not even import what observes fits; every other import of it is
// of tests.
func TestOnlyAuditObserves(t *testing.T) {
	all, err := listed()
	if err != nil {
		t.Fatal(err)
	}
	for program, want := range map[string]bool{"cmd/gauze": false, "cmd/gauze-audit": true} {
		needs := all[program]
		for _, folder := range []string{"audit", "kernel/kerneltest"} {
			if slices.Contains(needs, folder) != want {
				t.Errorf("%s depends on %s: %v, want %v", program, folder, !want, want)
			}
		}
	}
}

// mostMegabytes is the most that gauze may weigh, stripped: 24.2 on linux/amd64, and a twentieth
// more. What looks methods up by name, as the standard library's templates do, costs 6 at once.
const mostMegabytes = 25

// mostStart is the most that it may take to start, where the machine has nothing else to do.
const mostStart = 20 * time.Millisecond

// TestSmallAndQuick: the program is one file that can be carried, and starts at once.
func TestSmallAndQuick(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("size and start are promised for linux/amd64, on which CI runs")
	}
	built := filepath.Join(t.TempDir(), "gauze")
	if out, err := in("go", "build", "-trimpath", "-ldflags=-s -w", "-o", built, "./cmd/gauze").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	info, err := os.Stat(built)
	if err != nil {
		t.Fatal(err)
	}
	if size := float64(info.Size()) / 1e6; size > mostMegabytes {
		t.Errorf("gauze weighs %.1f MB, at most %d are wanted: go tool nm -size -sort size says of what", size, mostMegabytes)
	}
	least := time.Hour
	for range 40 { // the quickest is the one that nothing disturbed
		began := time.Now()
		if out, err := exec.Command(built, "--version").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		least = min(least, time.Since(began))
	}
	if least > mostStart {
		t.Errorf("gauze --version takes %v, at most %v are wanted: GODEBUG=inittrace=1 says where", least, mostStart)
	}
}

// TestProgramsLinkWhatTheyUse: a Go program that fits rows in memory, or from CSV, reaches no
// driver of a database, no Parquet, no HTTP.
func TestProgramsLinkWhatTheyUse(t *testing.T) {
	out, err := in("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for path := range strings.Lines(string(out)) {
		for _, never := range []string{"modernc.org/sqlite", "github.com/jackc/pgx", "github.com/parquet-go", "net/http", "github.com/spf13/cobra", module + "/source/inputs"} {
			if strings.HasPrefix(strings.TrimSpace(path), never) {
				t.Errorf("the front door reaches %s", path)
			}
		}
	}
}
