// Package enginetest is what the tests of all studies check.
package enginetest

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// Options returns the options of a small run, into a temporary folder.
func Options(tb testing.TB) engine.Options {
	tb.Helper()
	log, err := os.Create(filepath.Join(tb.TempDir(), "progress"))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = log.Close() })
	return engine.Options{Budget: privacy.Budget{Epsilon: 5, Delta: 1e-6}, Relation: privacy.ReplaceOne, Seed: 1, Runs: 2, Workers: 2, Out: tb.TempDir(),
		Stdout: new(bytes.Buffer), Stderr: log, Commit: "abcdef0"}
}

// Lines checks that every line of every experiment has rows and a name of its own, and what check
// says of it.
func Lines[C any](t *testing.T, s *engine.Study[C], check func(*engine.Line[C]) error) {
	t.Helper()
	names := map[string]bool{}
	for _, e := range s.Experiments {
		if names[e.Name] || e.Title == "" || e.About == "" || e.Runs < 1 {
			t.Errorf("%s is there twice, or has no title or runs", e.Name)
		}
		names[e.Name] = true
		seen := map[string]bool{}
		o := Options(t)
		o.Runs = 0
		lines, _ := e.Lines(o)
		for _, l := range lines {
			key := l.Name + " by " + l.By
			if seen[key] || l.Name == "" || l.By == "" {
				t.Errorf("%s: two lines are %s", e.Name, key)
			}
			seen[key] = true
			if len(l.Rows) == 0 || l.Rows[0] < 1 || !slices.IsSorted(l.Rows) {
				t.Errorf("%s %s: rows %v", e.Name, key, l.Rows)
			}
			if err := check(l); err != nil {
				t.Errorf("%s %s: %v", e.Name, key, err)
			}
		}
		if len(lines) == 0 {
			t.Errorf("%s has no lines", e.Name)
		}
	}
}

// RunAndResume runs a part of an experiment, from the first row to the page, and again from its
// results, which must stay as they are. What is not set in o is that of Options.
func RunAndResume[C any](t *testing.T, s *engine.Study[C], o engine.Options, experiment string) (page, results string) {
	t.Helper()
	usual, out := Options(t), new(bytes.Buffer)
	usual.Methods, usual.Only, usual.Rows, usual.Stdout = o.Methods, o.Only, o.Rows, out
	o = usual
	if err := s.Run(context.Background(), o, []string{experiment}); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(o.Out, "results", experiment+".jsonl")
	before, err := os.ReadFile(name)
	if err != nil || !strings.Contains(string(before), `"commit":"abcdef0"`) {
		t.Fatalf("results: %v\n%s", err, before)
	}
	text, err := os.ReadFile(filepath.Join(o.Out, experiment+".md"))
	kept, _, _ := bytes.Cut(text, []byte("*Left out here"))
	if err != nil || !bytes.HasPrefix(out.Bytes(), kept) || len(kept) == 0 {
		t.Errorf("page: %v\n%s", err, text)
	}
	for _, want := range []string{"- Runs per cell: 2\n", "- Commit: abcdef0\n", "-epsilon 5", " " + experiment + "`\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	o.Resume = true
	if err := s.Run(context.Background(), o, []string{experiment}); err != nil {
		t.Fatal(err)
	}
	if after, err := os.ReadFile(name); err != nil || !bytes.Equal(before, after) {
		t.Errorf("a resumed run that was complete changed the results: %v", err)
	}
	return out.String(), string(before)
}

// stated is how every page begins.
var stated = regexp.MustCompile("(?s)^# [^\n]+\n\n- Command: [^\n]+\n- Runs per cell: [^\n]+\n- Seed: [^\n]+\n- Commit: [^\n]+\n\n")

// Pages checks that a study's folder, below root, has pages of these names, or of some of them, and
// of nothing else, and that each begins with what made it.
func Pages(t *testing.T, root, study string, names []string, some bool) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(engine.Pages), study, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	var have []string
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !stated.Match(text) {
			t.Errorf("%s does not begin with its command, runs, seed and commit", name)
		}
		page := strings.TrimSuffix(filepath.Base(name), ".md")
		if have = append(have, page); !slices.Contains(names, page) {
			t.Errorf("%s is a page of no experiment", name)
		}
	}
	for _, name := range names {
		if !some && !slices.Contains(have, name) {
			t.Errorf("%s: no page of %s", study, name)
		}
	}
}
