package main

import (
	"bytes"
	"context"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gauze-dp/gauze/experiments/harness"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// Every cell of every experiment has a name of its own and a distribution that can be drawn; what a
// page compares with belongs to a cell.
func TestCells(t *testing.T) {
	known, names := map[string]bool{}, map[string]bool{}
	for _, e := range experiments {
		if names[e.name] {
			t.Errorf("two experiments have the name %s", e.name)
		}
		names[e.name] = true
		contenders := map[string]bool{}
		for _, by := range e.contenders {
			if contenders[by.name] || by.name == "" {
				t.Errorf("%s: two contenders have the name %q", e.name, by.name)
			}
			contenders[by.name] = true
		}
		seen := map[string]bool{}
		for _, c := range e.cells() {
			if seen[c.name] {
				t.Errorf("%s: two cells have the name %s", e.name, c.name)
			}
			seen[c.name], known[c.name] = true, true
			if len(c.rows) == 0 {
				t.Errorf("%s %s: no number of rows", e.name, c.name)
			}
			if _, err := c.pop.Truth(1); err != nil {
				t.Errorf("%s %s: %v", e.name, c.name, err)
			}
			if err := c.bounds.Validate(); err != nil {
				t.Errorf("%s %s: %v", e.name, c.name, err)
			}
			for _, name := range c.only {
				if !contenders[name] {
					t.Errorf("%s %s: no contender %s", e.name, c.name, name)
				}
			}
		}
	}
	for _, name := range append(append(keys(published), keys(bars)...), append(keys(heavyBars), keys(atomsTable)...)...) {
		if !known[name] {
			t.Errorf("a figure for the cell %s, which no experiment has", name)
		}
	}
}

func keys[V any](m map[string]V) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	return out
}

func TestParse(t *testing.T) {
	o, runs, err := parse([]string{"-quick"})
	if err != nil || len(runs) != len(experiments) || o.out != "" {
		t.Errorf("-quick: %d experiments, written to %q, %v", len(runs), o.out, err)
	}
	o, runs, err = parse([]string{"-resume", "rank", "kappa"})
	if err != nil || len(runs) != 2 || runs[1].name != "kappa" || o.out != filepath.Join("docs", "experiments", "single") {
		t.Errorf("rank and kappa: %d experiments, written to %q, %v", len(runs), o.out, err)
	}
	for _, args := range [][]string{nil, {"kapa"}, {"-methods", "gausian", "kappa"}, {"-n", "many", "kappa"}, {"-relation", "some", "kappa"}} {
		if _, _, err := parse(args); err == nil {
			t.Errorf("%v is understood", args)
		}
	}
}

// A part of an experiment from the first row to the page, resumed from its results without a new
// fit.
func TestRunAndResume(t *testing.T) {
	o := options{budget: privacy.Budget{Epsilon: 5, Delta: 1e-6}, relation: privacy.ReplaceOne, cells: []string{"2/1e+04", "2/one-big 1e+04"},
		rows: []int{1200}, repeats: 2, seed: 1, workers: 2, out: t.TempDir()}
	var out bytes.Buffer
	o.stdout = &out
	progress := &harness.Progress{Out: io.Discard, Now: time.Now}
	if err := kappa.run(context.Background(), o, progress); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(o.out, "results", "kappa.jsonl")
	before, err := os.ReadFile(name)
	if err != nil || bytes.Count(before, []byte("\n")) != 4 {
		t.Fatalf("results: %v\n%s", err, before)
	}
	for _, want := range []string{`"covariance_x"`, `"sample_mean"`, `"seed":2`, `"method":"gaussian"`, `"released":1`, `"spectrum":"one-big"`, `"seconds"`} {
		if !strings.Contains(string(before), want) {
			t.Errorf("no %s in\n%s", want, before)
		}
	}
	page, err := os.ReadFile(filepath.Join(o.out, "kappa.md"))
	if err != nil || !strings.Contains(string(page), "| gaussian | 1.2k | 2/2") || !bytes.Equal(page, out.Bytes()) {
		t.Errorf("page: %v\n%s", err, page)
	}
	o.resume = true
	if err := kappa.run(context.Background(), o, progress); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(name)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("a resumed run that was complete changed the results: %v", err)
	}
}

// Quick runs of the experiments end, and with them every contender has been asked. All of them,
// with all cells, are left to long runs (GAUZE_LONG=1).
func TestQuick(t *testing.T) {
	cells := map[string][]string{"coinpress-covariance": {"covariance/2/*"}, "heavy": {"t5/2"}, "rank": {"5/r3/*"}, "false-ok": {"2/*"}}
	for _, e := range experiments {
		var out bytes.Buffer
		o := options{budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}, relation: privacy.ReplaceOne, seed: 1, workers: 2, quick: true, stdout: &out, cells: cells[e.name]}
		if os.Getenv("GAUZE_LONG") != "" {
			o.cells = nil
		} else if o.cells == nil {
			continue
		}
		if err := e.run(context.Background(), o, &harness.Progress{Out: io.Discard, Now: time.Now}); err != nil {
			t.Errorf("%s: %v", e.name, err)
		}
		here, _ := e.choose(o)
		for _, by := range here {
			if !strings.Contains(out.String(), " "+by.name+" ") {
				t.Errorf("%s: nothing of %s in\n%s", e.name, by.name, out.String())
			}
		}
	}
}

// The summaries write what they promise from results made up for the purpose.
func TestSummaries(t *testing.T) {
	for _, e := range experiments {
		r := &results{experiment: e, series: map[string]map[string]*harness.Series{}}
		r.contenders, _ = e.choose(options{})
		r.cells = e.cells()
		for _, c := range r.cells {
			r.series[c.name] = map[string]*harness.Series{}
			for _, by := range r.contenders {
				s := &harness.Series{Runs: map[int][]harness.Result{}, Least: c.rows[0]}
				for _, n := range c.rows {
					rate := c.pop.CovarianceRate(n)
					v := harness.Values{released: 1, covError: 1.5 * rate, covTimes: 1.5, sampleCov: rate, covAdded: 30 / float64(n), meanError: c.pop.MeanRate(n), meanTimes: 1,
						sampleMean: c.pop.MeanRate(n), meanAdded: 20 / float64(n), rankFound: float64(c.pop.RankOf())}
					s.Runs[n] = []harness.Result{{Outcome: harness.Outcome{Success: true, Values: v}}, {Outcome: harness.Outcome{Why: "made up"}}}
				}
				r.series[c.name][by.name] = s
			}
		}
		p := &page{}
		e.summary(p, r)
		p.reasons(r)
		if err := p.Save(t.TempDir(), e.name); err != nil {
			t.Errorf("%s: %v", e.name, err)
		}
		text := string(p.Bytes())
		for _, want := range map[string][]string{
			"curves": {"| covariance | d = 10  | -0.50 ± 0.00 | -0.50 ± 0.00    | -0.5   | -1.00 ± 0.00"}, "ample": {"1.50 (1.50)"}, "rank": {"1 of 2"},
			"false-ok": {"0/18"}, "kappa": {"1/2 (9-91 %), 1.5×"}, "coinpress-mean": {"(no release: 1 of 2)"},
		}[e.name] {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", e.name, want, text)
			}
		}
	}
}

// By hand: of ten values the least and the largest are left out; of nine none.
func TestTrimmed(t *testing.T) {
	v := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 1000}
	if got := trimmed(v); got != 5.5 {
		t.Errorf("trimmed mean %v, want 5.5", got)
	}
	if got := trimmed(v[:9]); got != 5 {
		t.Errorf("trimmed mean %v of nine, want 5", got)
	}
	if !math.IsNaN(trimmed(nil)) {
		t.Error("a trimmed mean of nothing")
	}
}

// A grid of steps of 2^¼ rises and is not coarser than that, but for rounding.
func TestGrid(t *testing.T) {
	for i := 1; i < len(grid); i++ {
		if r := float64(grid[i]) / float64(grid[i-1]); grid[i] <= grid[i-1] || grid[i] > 200 && math.Abs(r-1.19) > .06 {
			t.Errorf("from %d to %d", grid[i-1], grid[i])
		}
	}
}
