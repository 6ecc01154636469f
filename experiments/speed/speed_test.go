package speed

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/experiments/engine"
)

const printed = `goos: linux
BenchmarkGaussian/n=100,d=5/plain-panels           	       1	  21000000 ns/op	         0.5000 cpu-s/op	         0.4000 wall-s/op
BenchmarkGaussian/n=100,d=5/gaussian              	       1	 210000000 ns/op	         1.400 cpu-s/op	         2.800 wall-s/op	        23.00 scans
BenchmarkGaussian/n=100,d=5/gaussian-2             	       1	 210000000 ns/op	         1.500 cpu-s/op	         1.400 wall-s/op	        23.00 scans	         0.2 count-cpu-s
PASS
`

// Two rounds of a benchmark's output make a page whose written part stays.
func TestPage(t *testing.T) {
	lines := parse([]byte(printed), 0)
	lines = append(lines, parse([]byte(strings.ReplaceAll(printed, "0.5000 cpu", "1.000 cpu")), 1)...)
	if len(lines) != 6 || lines[1].group != "n=100,d=5" || lines[1].program != "gaussian" || lines[1].values["scans"] != 23 {
		t.Fatalf("%+v", lines)
	}
	folder, out := t.TempDir(), new(bytes.Buffer)
	o := engine.Options{Out: folder, Stdout: out}
	name := filepath.Join(folder, "gaussian.md")
	if err := os.WriteFile(name, []byte("old\n\n"+byHand+"\nBy hand.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := pages[5].write(o, engine.Header{Command: "c", Runs: "r", Seed: "s", Commit: "h"}, lines); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"- Commit: h\n", "| gaussian-2   | 1.5   | 1.5, 1.5    | 1.4    | 2        | 2.25  | 1.5, 3      | 0.0978   | scans 23, count-cpu-s 0.2 |", "By hand.\n"} {
		if strings.Count(string(text), want) != 1 {
			t.Errorf("not once %q in\n%s", want, text)
		}
	}
	if strings.Contains(string(text), "old") {
		t.Error("the old page is still there")
	}
}

// A benchmark of scans makes a line of each, the fetch of memory first.
func TestScans(t *testing.T) {
	lines := parse([]byte("BenchmarkScans/d=10   3   122.0 columns-ns/row   3.1 columns-ratio   14.0 fetch-ns/row   0.36 fetch-ratio   39.0 tiles-ns/row\n"), 0)
	if len(lines) != 3 || lines[0].program != "fetch" || lines[1].program != "columns" || math.Abs(lines[1].values[cpu]-122e-9) > 1e-15 ||
		lines[1].values[gramPasses] != 3.1 || lines[2].program != "tiles" || len(lines[2].units) > 0 {
		t.Errorf("%+v", lines)
	}
}

// The exponent and the largest step of what a row costs, program by program: 1, 4 and 8 seconds for
// 1, 2 and 4 thousand rows are a step of 2 and an exponent of 1.5.
func TestGrowth(t *testing.T) {
	text := ""
	for n, seconds := range map[int]int{1000: 1, 2000: 4, 4000: 8} {
		text = fmt.Sprintf("BenchmarkGrowth/d=2/a,n=%d-2 1 1 ns/op %d cpu-s/op\n", n, seconds) + text
	}
	lines := parse([]byte(text), 0)
	slices.SortFunc(lines, func(a, b sample) int { return cmp.Compare(a.values[cpu], b.values[cpu]) })
	if got := growth(lines).Rows; len(got) != 1 || !slices.Equal(got[0], []string{"a", "1.5", "2", "2000"}) {
		t.Errorf("%q", got)
	}
}

// Every page has its benchmark, and the smallest runs.
func TestBenchmarks(t *testing.T) {
	if err := Study.Run(context.Background(), engine.Options{}, []string{"no"}); err == nil {
		t.Error("no error of a page that is not there")
	}
	for _, p := range pages {
		tests, err := filepath.Glob(filepath.Join("..", "..", p.folder, "*_test.go"))
		if err != nil || !slices.ContainsFunc(tests, func(name string) bool {
			text, err := os.ReadFile(name)
			return err == nil && strings.Contains(string(text), "func Benchmark"+p.benchmark+"(")
		}) {
			t.Errorf("%s: no benchmark %s", p.name, p.benchmark)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(self, "-test.run", "^$", "-test.bench", "^BenchmarkBlackBox$/n=5000", "-test.benchtime", "1x").Output()
	if err != nil || len(parse(out, 0)) != 1 || parse(out, 0)[0].values[cpu] <= 0 {
		t.Errorf("%v:\n%s", err, out)
	}
}
