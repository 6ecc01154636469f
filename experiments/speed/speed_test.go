package speed

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
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
		if err := pages[3].write(o, engine.Header{Command: "c", Runs: "r", Seed: "s", Commit: "h"}, lines); err != nil {
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

// Every page has its benchmark, and the smallest runs.
func TestBenchmarks(t *testing.T) {
	if err := Study.Run(context.Background(), engine.Options{}, []string{"no"}); err == nil {
		t.Error("no error of a page that is not there")
	}
	text, err := os.ReadFile("bench_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		if !strings.Contains(string(text), "func Benchmark"+p.benchmark+"(") {
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
