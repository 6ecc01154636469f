package separated

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/experiments/engine/enginetest"
)

// Every cell of every experiment has a name of its own and a problem that can be drawn.
func TestCells(t *testing.T) {
	enginetest.Lines(t, Study, func(l *line) error {
		_, err := l.Cell.spec.Truth(1)
		return err
	})
	if n := len(d1.cells()); n != 80 {
		t.Errorf("table D.1 has %d cells, want 80", n)
	}
}

// A part of an experiment from the first row to the page, resumed from its results without a new
// fit.
func TestRunAndResume(t *testing.T) {
	o := engine.Options{Methods: []string{"general"}, Only: []string{"5/2"}, Rows: []int{2000}}
	page, results := enginetest.RunAndResume(t, Study, o, "curves")
	for _, want := range []string{`"worst_mean"`, `"reference_mean"`, `"seed":2`, `"method":"general"`, `"k":2`, `"seconds"`} {
		if !strings.Contains(results, want) {
			t.Errorf("no %s in\n%s", want, results)
		}
	}
	if !strings.Contains(page, "| 5/2  | general | 2k | 2/2") {
		t.Errorf("page:\n%s", page)
	}
}

// All that a summary writes, of one cell.
func TestSummaries(t *testing.T) {
	for _, e := range Study.Experiments {
		if e.Name == "peers" || e.Name == "literal" {
			continue
		}
		var out bytes.Buffer
		cell := enginetest.First(e)
		o := enginetest.Options(t)
		o.Stdout, o.Out, o.Methods, o.Only, o.Rows, o.Runs = &out, "", []string{"general"}, []string{cell}, []int{1000}, 1
		if err := Study.Run(context.Background(), o, []string{e.Name}); err != nil {
			t.Errorf("%s: %v", e.Name, err)
		}
		if !strings.Contains(out.String(), "- Runs per cell: 1\n") || e.Summary != nil && !strings.Contains(out.String(), "## All runs") {
			t.Errorf("%s:\n%s", e.Name, out.String())
		}
	}
}

// A process of python takes seconds to start, so it is left to long runs (GAUZE_LONG=1).
func TestPeers(t *testing.T) {
	methods := []string{fromTruth}
	if os.Getenv("GAUZE_LONG") != "" {
		var note string
		if methods, note = withPeers(); note == "" {
			t.Error("no note about peers")
		}
		methods = methods[len(usual):]
	}
	in, err := settings[0].spec(2, 3).Draw(1, 900)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range methods {
		f, err := peers[m](context.Background(), in, 1)
		if err != nil || f.Foreground.K() != 3 {
			t.Errorf("%s: %+v, %v", m, f, err)
		}
	}
}
