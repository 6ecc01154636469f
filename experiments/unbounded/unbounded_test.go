package unbounded

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/experiments/engine/enginetest"
	"github.com/gauze-dp/gauze/model"
)

// Every cell of every experiment has a name of its own, a problem that can be drawn, and a request
// that can be planned or is refused.
func TestCells(t *testing.T) {
	o := enginetest.Options(t)
	enginetest.Lines(t, Study, func(l *line) error {
		truth, err := l.Cell.spec.Truth(engine.SeedOf(l.Name, 1))
		if err != nil {
			return err
		}
		r := l.Cell.request(o, l.By, truth.K())
		r.Columns = gauze.Named(model.DefaultColumns(truth.Dim())...)
		var refusal *estimate.Refusal
		if _, err := gauze.Plan(r, l.Rows[len(l.Rows)-1]); err != nil && !errors.As(err, &refusal) {
			return err
		}
		return nil
	})
}

// The mixtures of two cells at one seed differ, those of one cell at two numbers of rows do not.
func TestSeeds(t *testing.T) {
	if a, b := engine.SeedOf("a", 1), engine.SeedOf("b", 1); a == b || a != engine.SeedOf("a", 1) || a == engine.SeedOf("a", 2) {
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
	page, results := enginetest.RunAndResume(t, Study, engine.Options{Methods: []string{"general"}, Only: []string{"overlap/k=2", "axis/d=2/k=2"}, Rows: []int{1500}}, "named")
	for _, want := range []string{`"reference_tv"`, `"seed":2`, `"method":"general"`, `"arrangement":"overlapping"`, `"relation":"replace-one"`} {
		if !strings.Contains(results, want) {
			t.Errorf("no %s in\n%s", want, results)
		}
	}
	if !strings.Contains(page, "| uni/overlap/k=2 | general | 1.5k | 2/2 ") {
		t.Errorf("page:\n%s", page)
	}
}

// No method is better on average than none can be on the worst mixture of a kind. These are not the
// worst, but what they are spared is less than what the bound gives away.
func TestBoundHolds(t *testing.T) {
	for _, method := range []string{"general", "axis-aligned", "univariate"} {
		for _, n := range []int{600, 4000} {
			o := enginetest.Options(t)
			o.Budget.Epsilon, o.Methods, o.Runs, o.Seed, o.Rows = 1, []string{method}, 4, 5, []int{n}
			o.Only = []string{"uni/apart/k=3", "uni/overlap/k=2", "axis/d=2/k=3", "general/crossing"}
			if err := Study.Run(context.Background(), o, []string{"named"}); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(filepath.Join(o.Out, "results", "named.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			runs := map[string][]float64{}
			for _, l := range strings.Split(strings.TrimSpace(string(text)), "\n") {
				var r engine.Result
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
					if least := bound(&results{Options: o}, &line{Cell: c}, n); engine.Mean(tv) < least.TotalVariation {
						t.Errorf("%s %s n=%d: mean total variation %v, no method can promise less than %v", c.name, method, n, engine.Mean(tv), least.TotalVariation)
					}
				}
			}
		}
	}
}

// Summaries of an experiment with pictures, at a few rows.
func TestSummaries(t *testing.T) {
	for name, want := range map[string]string{"slope": "Exponents of n", "components": "Exponents of k", "smallest": "smallest n"} {
		o, out := enginetest.Options(t), new(bytes.Buffer)
		o.Methods, o.Seed, o.Only, o.Rows, o.Stdout = []string{"general"}, 3, []string{"k = 1", "k=1", "k=2", "eps=1"}, []int{1000, 2000}, out
		if err := Study.Run(context.Background(), o, []string{name}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s: no %q in\n%s", name, want, out)
		}
		pictures, err := filepath.Glob(filepath.Join(o.Out, "*.svg"))
		if err != nil || name != "smallest" && len(pictures) != 2 {
			t.Errorf("%s: pictures %v, %v", name, pictures, err)
		}
	}
}
