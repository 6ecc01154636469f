package single

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/experiments/engine/enginetest"
)

// Every cell has a distribution that can be drawn and facts that hold together; what a page
// compares with belongs to a cell.
func TestCells(t *testing.T) {
	known := map[string]bool{}
	enginetest.Lines(t, Study, func(l *line) error {
		known[l.Name] = true
		if _, err := l.Cell.pop.Truth(1); err != nil {
			return err
		}
		if l.Cell.only != nil && !slices.Contains(l.Cell.only, l.By) {
			return fmt.Errorf("%s is not of those wanted", l.By)
		}
		return l.Cell.bounds.Validate()
	})
	for _, name := range slices.Concat(keys(published), keys(bars), keys(heavyBars), keys(atomsTable)) {
		if !known[name] {
			t.Errorf("a figure for the cell %s, which no experiment has", name)
		}
	}
}

func keys[V any](m map[string]V) []string { return slices.Collect(maps.Keys(m)) }

// A part of an experiment from the first row to the page, resumed from its results without a new
// fit.
func TestRunAndResume(t *testing.T) {
	page, results := enginetest.RunAndResume(t, Study, engine.Options{Only: []string{"2/1e+04", "2/one-big 1e+04"}, Rows: []int{1200}}, "kappa")
	for _, want := range []string{`"covariance_x"`, `"sample_mean"`, `"seed":2`, `"method":"gaussian"`, `"released":1`, `"spectrum":"one-big"`, `"seconds"`} {
		if !strings.Contains(results, want) {
			t.Errorf("no %s in\n%s", want, results)
		}
	}
	if !strings.Contains(page, "| gaussian | 1.2k | 2/2") {
		t.Errorf("page:\n%s", page)
	}
}

// Quick runs of the experiments end, and with them every contender has been asked. All of them,
// with all cells, are left to long runs (GAUZE_LONG=1).
func TestQuick(t *testing.T) {
	cells := map[string][]string{"coinpress-covariance": {"covariance/2/*"}, "heavy": {"t5/2"}, "rank": {"5/r3/*"}, "false-ok": {"2/*"}}
	for _, e := range Study.Experiments {
		var out bytes.Buffer
		o := enginetest.Options(t)
		o.Runs, o.Quick, o.Out, o.Stdout, o.Only, o.Budget.Epsilon = 0, true, "", &out, cells[e.Name], 1
		if os.Getenv("GAUZE_LONG") != "" {
			o.Only = nil
		} else if o.Only == nil {
			continue
		}
		if err := Study.Run(context.Background(), o, []string{e.Name}); err != nil {
			t.Errorf("%s: %v", e.Name, err)
		}
		lines, _ := e.Lines(o)
		for _, l := range lines {
			if o.Only != nil && !strings.Contains(out.String(), " "+l.By+" ") {
				t.Errorf("%s: nothing of %s in\n%s", e.Name, l.By, out.String())
			}
		}
	}
}

// The summaries write what they promise from results made up for the purpose.
func TestSummaries(t *testing.T) {
	for _, e := range Study.Experiments {
		r := &results{Study: Study, Experiment: e}
		r.Lines, _ = e.Lines(engine.Options{})
		for _, l := range r.Lines {
			c := l.Cell
			l.Results, l.Least = map[int][]engine.Result{}, c.rows[0]
			for _, n := range c.rows {
				rate := c.pop.CovarianceRate(n)
				v := engine.Values{released: 1, covError: 1.5 * rate, covTimes: 1.5, sampleCov: rate, covAdded: 30 / float64(n), meanError: c.pop.MeanRate(n), meanTimes: 1,
					sampleMean: c.pop.MeanRate(n), meanAdded: 20 / float64(n), rankFound: float64(c.pop.RankOf())}
				l.Results[n] = []engine.Result{{Outcome: engine.Outcome{Success: true, Values: v}}, {Outcome: engine.Outcome{Why: "made up"}}}
			}
		}
		p := &engine.Page{}
		e.Summary(p, r)
		if err := p.Save(t.TempDir(), e.Name); err != nil {
			t.Errorf("%s: %v", e.Name, err)
		}
		text := string(p.Bytes())
		for _, want := range map[string][]string{
			"curves": {"| covariance | d = 10  | -0.50 ± 0.00 | -0.50 ± 0.00    | -0.5   | -1.00 ± 0.00"}, "ample": {"1.50 (1.50)"}, "rank": {"1 of 2"},
			"false-ok": {"0/18"}, "kappa": {"1/2 (9-91 %), 1.5×"}, "coinpress-mean": {"(no release: 1 of 2)"},
		}[e.Name] {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", e.Name, want, text)
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

// A grid of steps of 2^1/4 rises and is not coarser than that, but for rounding.
func TestGrid(t *testing.T) {
	for i := 1; i < len(grid); i++ {
		if r := float64(grid[i]) / float64(grid[i-1]); grid[i] <= grid[i-1] || grid[i] > 200 && math.Abs(r-1.19) > .06 {
			t.Errorf("from %d to %d", grid[i-1], grid[i])
		}
	}
}
