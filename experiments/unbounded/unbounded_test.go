package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/experiments/harness"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
)

// Every cell of every experiment has a name of its own, a problem that can be drawn, and a request
// that can be planned or is refused.
func TestCells(t *testing.T) {
	o := options{budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}, relation: privacy.ReplaceOne}
	for _, e := range experiments {
		seen := map[string]bool{}
		for _, c := range e.cells() {
			if seen[c.name] {
				t.Errorf("%s: two cells have the name %s", e.name, c.name)
			}
			seen[c.name] = true
			if len(c.rows) == 0 || c.rows[0] < 1 {
				t.Errorf("%s %s: rows %v", e.name, c.name, c.rows)
			}
			truth, err := c.spec.Truth(c.seed(1))
			if err != nil {
				t.Errorf("%s %s: %v", e.name, c.name, err)
				continue
			}
			for _, m := range c.methods(nil) {
				r := c.request(o, m, truth.K())
				r.Columns = model.DefaultColumns(truth.Dim())
				var refusal *estimate.Refusal
				if _, err := gauze.Plan(r, c.rows[len(c.rows)-1]); err != nil && !errors.As(err, &refusal) {
					t.Errorf("%s %s %s: %v", e.name, c.name, m, err)
				}
			}
		}
	}
}

// The mixtures of two cells at one seed differ, those of one cell at two numbers of rows do not.
func TestSeeds(t *testing.T) {
	cells := named.cells()
	if a, b := cells[0].seed(1), cells[1].seed(1); a == b || a != cells[0].seed(1) || a == cells[0].seed(2) {
		t.Errorf("seeds %v, %v", a, b)
	}
}

func TestMethods(t *testing.T) {
	one, axis, general := cell{spec: apart(2)}, named.cells()[8], named.cells()[16]
	asked := []string{"univariate:aal21", "axis-aligned", "general"}
	for _, c := range []struct {
		cell
		last string
		most int
	}{{one, "general", 3}, {axis, "general", 2}, {general, "general", 1}} {
		if got := c.methods(asked); len(got) == 0 || len(got) > c.most || got[len(got)-1] != c.last {
			t.Errorf("%s: %v", c.name, got)
		}
		if got := c.methods(nil); len(got) != 1 {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	if !one.aligned() || !axis.aligned() || general.aligned() {
		t.Error("wrong shapes")
	}
}

func TestCrossing(t *testing.T) {
	x := []float64{100, 400, 1600}
	for _, c := range []struct {
		y       []float64
		level   float64
		falling bool
		want    float64
	}{
		{[]float64{0, .8, 1}, .9, false, 800}, {[]float64{.95, .8, 1}, .9, false, 800}, {[]float64{.9, 1, 1}, .9, false, 100}, {[]float64{0, 1, .5}, .9, false, math.Inf(1)},
		{[]float64{.5, .2, .05}, .2, true, 400}, {[]float64{.5, .3, .1}, .2, true, 800},
	} {
		if got := crossing(x, c.y, c.level, c.falling); math.Abs(got/c.want-1) > 1e-9 && got != c.want {
			t.Errorf("%v at %v: %v, want %v", c.y, c.level, got, c.want)
		}
	}
}

// A part of an experiment from the first row to the page, resumed from its results without a new
// fit.
func TestRunAndResume(t *testing.T) {
	o := options{budget: privacy.Budget{Epsilon: 2, Delta: 1e-6}, relation: privacy.AddRemoveOne, methods: []string{"general"}, cells: []string{"overlap/k=2", "axis/d=2/k=2"},
		rows: []int{1500}, runs: 3, seed: 1, workers: 2, tvRows: 2000, out: t.TempDir()}
	var out bytes.Buffer
	o.stdout = &out
	progress := &harness.Progress{Out: io.Discard, Now: time.Now}
	if err := named.run(context.Background(), o, progress); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(o.out, "results", "named.jsonl")
	before, err := os.ReadFile(name)
	if err != nil || bytes.Count(before, []byte("\n")) != 6 {
		t.Fatalf("results: %v\n%s", err, before)
	}
	for _, want := range []string{`"reference_tv"`, `"seed":2`, `"method":"general"`, `"arrangement":"overlapping"`, `"relation":"add-remove-one"`} {
		if !strings.Contains(string(before), want) {
			t.Errorf("no %s in\n%s", want, before)
		}
	}
	page, err := os.ReadFile(filepath.Join(o.out, "named.md"))
	if err != nil || !strings.Contains(string(page), "| uni/overlap/k=2 | general | 1.5k | 3/3 ") || !strings.Contains(string(page), "-seed 1 named") ||
		!bytes.Equal(page, out.Bytes()) {
		t.Errorf("page: %v\n%s", err, page)
	}
	o.resume = true
	if err := named.run(context.Background(), o, progress); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(name)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("a resumed run that was complete changed the results: %v", err)
	}
}

// No method is better on average than none can be on the worst mixture of a kind. These are not the
// worst, but what they are spared is less than what the bound gives away.
func TestBoundHolds(t *testing.T) {
	for _, method := range []string{"general", "axis-aligned", "univariate"} {
		for _, n := range []int{600, 4000} {
			o := options{budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}, methods: []string{method}, runs: 4, seed: 5, workers: 2, relation: privacy.ReplaceOne,
				tvRows: 4000, stdout: io.Discard, out: t.TempDir(), cells: []string{"uni/apart/k=3", "uni/overlap/k=2", "axis/d=2/k=3", "general/crossing"}, rows: []int{n}}
			if o.methods = known(o.methods); o.methods == nil {
				continue
			}
			if err := named.run(context.Background(), o, &harness.Progress{Out: io.Discard, Now: time.Now}); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(filepath.Join(o.out, "results", "named.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			runs := map[string][]float64{}
			for _, l := range strings.Split(strings.TrimSpace(string(text)), "\n") {
				var r harness.Result
				if err := json.Unmarshal([]byte(l), &r); err != nil {
					t.Fatal(err)
				}
				tv, ok := r.Values[totalVariation]
				if !ok {
					tv = 1
				}
				runs[r.Cell] = append(runs[r.Cell], tv)
			}
			for _, c := range named.cells() {
				if tv := runs[c.name]; tv != nil {
					if bound := (&results{options: o}).bound(line{cell: c}, n); harness.Mean(tv) < bound.TotalVariation {
						t.Errorf("%s %s n=%d: mean total variation %v, no method can promise less than %v", c.name, method, n, harness.Mean(tv), bound.TotalVariation)
					}
				}
			}
		}
	}
}

// known are those of the methods that are in the catalog.
func known(methods []string) (out []string) {
	for _, m := range methods {
		if slices.Contains(gauze.Methods().Names(), m) {
			out = append(out, m)
		}
	}
	return out
}

// Summaries of an experiment with pictures, at a few rows.
func TestSummaries(t *testing.T) {
	for _, e := range []experiment{slope, components, smallest} {
		o := options{budget: privacy.Budget{Epsilon: 2, Delta: 1e-6}, methods: []string{"general"}, runs: 2, seed: 3, workers: 2, relation: privacy.ReplaceOne, tvRows: 1000,
			out: t.TempDir(), cells: []string{"k = 1", "k=1", "k=2", "eps=1"}, rows: []int{1000, 2000}}
		var out bytes.Buffer
		o.stdout = &out
		if err := e.run(context.Background(), o, &harness.Progress{Out: io.Discard, Now: time.Now}); err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"slope": "Exponents of n", "components": "Exponents of k", "smallest": "smallest n"}[e.name]
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s: no %q in\n%s", e.name, want, out.String())
		}
		pictures, err := filepath.Glob(filepath.Join(o.out, "*.svg"))
		if err != nil || e.name != "smallest" && len(pictures) != 2 {
			t.Errorf("%s: pictures %v, %v", e.name, pictures, err)
		}
	}
}

func TestParse(t *testing.T) {
	o, chosen, err := parse([]string{"-method", "general", "-cells", "k=3,k=5", "-n", "2000,1000", "-relation", "add-remove-one", "wide"})
	if err != nil || len(chosen) != 1 || chosen[0].name != "wide" || o.rows[0] != 1000 || o.seed == 0 || o.relation != privacy.AddRemoveOne {
		t.Errorf("%+v, %v", o, err)
	}
	if _, chosen, err = parse(nil); err != nil || chosen[0].name != "named" {
		t.Errorf("the default: %v, %v", chosen, err)
	}
	for _, args := range [][]string{{"-method", "no"}, {"-n", "x"}, {"no"}, {"-relation", "no"}} {
		if _, _, err := parse(args); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}
