package engine

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A report makes the pages that are named, which say what made them; one that is asked for other
// runs is printed and not kept, and so is one whose task fails.
func TestReport(t *testing.T) {
	t.Chdir(t.TempDir())
	folder := filepath.Join(filepath.FromSlash(Pages), "attacks")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	made := map[string]Options{}
	task := func(name string, fault error) Task {
		return Task{Name: name, Title: "The page of " + name, Runs: 7, Make: func(_ context.Context, o Options, p *Page) error {
			made[name] = o
			p.Text("what came out")
			return fault
		}}
	}
	broken := errors.New("broken")
	r := &Report{Name: "attacks", Seed: 22, Tasks: []Task{task("one", nil), task("two", nil), task("three", broken)}}
	var out bytes.Buffer
	o := Options{Stdout: &out, Commit: "abcdef0"}
	if err := r.Run(context.Background(), o, []string{"two"}); err != nil || made["two"].Runs != 7 || made["two"].Seed != 22 || len(made) != 1 {
		t.Fatalf("%v: %+v", err, made)
	}
	page, err := os.ReadFile(filepath.Join(folder, "two.md"))
	want := "# The page of two\n\n- Command: `go run ./experiments attacks two`\n- Runs per cell: 7\n- Seed: 22 of rows"
	if err != nil || !strings.HasPrefix(string(page), want) || !strings.HasSuffix(string(page), "- Commit: abcdef0\n\nwhat came out\n\n") || out.String() != string(page) {
		t.Errorf("%v:\n%s", err, page)
	}
	o.Runs = 3
	if err := r.Run(context.Background(), o, []string{"one"}); err != nil || made["one"].Runs != 3 || !strings.Contains(out.String(), "attacks -runs 3 one`") {
		t.Errorf("%v: %+v", err, made["one"])
	}
	if _, err := os.Stat(filepath.Join(folder, "one.md")); err == nil {
		t.Error("a page of other runs is kept")
	}
	if err := r.Run(context.Background(), o, []string{"three"}); !errors.Is(err, broken) {
		t.Errorf("a fault ends in %v", err)
	}
	if err := r.Run(context.Background(), o, []string{"four"}); !errors.Is(err, ErrUsage) {
		t.Errorf("a wrong name ends in %v", err)
	}
}
