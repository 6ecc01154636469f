package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gauze-dp/gauze/experiments/harness"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// Every cell of every experiment has a name of its own and a problem that can be drawn.
func TestCells(t *testing.T) {
	names := map[string]bool{}
	for _, e := range experiments {
		if names[e.name] {
			t.Errorf("two experiments have the name %s", e.name)
		}
		names[e.name] = true
		seen := map[string]bool{}
		for _, c := range e.cells() {
			if seen[c.name] {
				t.Errorf("%s: two cells have the name %s", e.name, c.name)
			}
			seen[c.name] = true
			if len(c.rows) == 0 {
				t.Errorf("%s %s: no number of rows", e.name, c.name)
			}
			if _, err := c.spec.Truth(1); err != nil {
				t.Errorf("%s %s: %v", e.name, c.name, err)
			}
		}
	}
	if n := len(d1.cells()); n != 80 {
		t.Errorf("table D.1 has %d cells, want 80", n)
	}
}

func TestMatches(t *testing.T) {
	c := cell{name: "5/3/C6sph"}
	for pattern, want := range map[string]bool{"5/3/C6sph": true, "5/*/C6*": true, "5/*": false, "2/*/*": false, "*/*/*": true} {
		if c.matches([]string{pattern}) != want {
			t.Errorf("%s matches %s: want %v", pattern, c.name, want)
		}
	}
}

// A part of an experiment from the first row to the page, resumed from its results without a new
// fit.
func TestRunAndResume(t *testing.T) {
	o := options{budget: privacy.Budget{Epsilon: 5, Delta: 1e-6}, relation: privacy.ReplaceOne, methods: []string{"general"}, cells: []string{"2/2/C10sph"},
		rows: []int{2000}, repeats: 2, seed: 1, most: 4, workers: 2, out: t.TempDir(), nonPrivate: true}
	var out bytes.Buffer
	o.stdout = &out
	progress := &harness.Progress{Out: io.Discard, Now: time.Now}
	if err := d1.run(context.Background(), o, progress); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(o.out, "results", "d1.jsonl")
	before, err := os.ReadFile(name)
	if err != nil || bytes.Count(before, []byte("\n")) != 2 {
		t.Fatalf("results: %v\n%s", err, before)
	}
	for _, want := range []string{`"worst_mean"`, `"reference_mean"`, `"seed":2`, `"method":"general"`, `"k":2`, `"seconds"`} {
		if !strings.Contains(string(before), want) {
			t.Errorf("no %s in\n%s", want, before)
		}
	}
	page, err := os.ReadFile(filepath.Join(o.out, "d1.md"))
	if err != nil || !strings.Contains(string(page), "| 2/2/C10sph | general | 2k | 2/2") || !bytes.Equal(page, out.Bytes()) {
		t.Errorf("page: %v\n%s", err, page)
	}
	o.resume = true
	if err := d1.run(context.Background(), o, progress); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(name)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("a resumed run that was complete changed the results: %v", err)
	}
}

// A process of python takes seconds to start, so it is left to long runs (GAUZE_LONG=1).
func TestPeers(t *testing.T) {
	methods := []string{fromTruth}
	if os.Getenv("GAUZE_LONG") != "" {
		var note string
		if methods, note = withPeers(methods); note == "" {
			t.Error("no note about peers")
		}
	}
	in, err := settings[0].spec(2, 3).Draw(1, 900)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range methods {
		p, ok := peerNamed(m)
		if !ok {
			t.Fatalf("no peer %s", m)
		}
		f, err := p.fit(context.Background(), in, 1)
		if err != nil || f.Foreground.K() != 3 {
			t.Errorf("%s: %+v, %v", m, f, err)
		}
	}
}
